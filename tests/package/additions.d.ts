// What was added to the types of contract.d.ts: members of its classes, and declarations of their own.

export type Activation = 'relu' | 'silu' | 'gelu' | 'geluTanh';

export type OpName =
  | 'empty'
  | 'kvCache'
  | { [K in keyof Tensor]: Tensor[K] extends (...args: never[]) => Tensor | readonly Tensor[] ? K : never }[keyof Tensor];

export class Context {
  warmup(ops?: readonly OpName[], options?: { onProgress?: (done: number, total: number) => void }): Promise<void>;
}

export class Tensor {
  addBias(bias: Tensor, activation?: Activation): Tensor;
  swiglu(up: Tensor): Tensor;
  geglu(up: Tensor): Tensor;
  gegluTanh(up: Tensor): Tensor;
  addRmsnorm(r: Tensor, w: Tensor, eps?: number): [sum: Tensor, normed: Tensor];
  addLayernorm(r: Tensor, w: Tensor, b: Tensor, eps?: number): [sum: Tensor, normed: Tensor];
}

export class KvCache {
  appendRope(k: Tensor, v: Tensor, heads: number, base?: number): void;
}
