// What classes of the facade cannot declare of themselves: that their static side and `init` are the published ones. Compiled with
// js/tsconfig.json, never run. The instance sides are declared by `@implements` at each class.

import { Context } from '../../js/context.js';
import { TensorError } from '../../js/errors.js';
import type * as published from '../../js/index.js';
import { init } from '../../js/load.js';

type Statics<T> = Pick<T, Exclude<keyof T, 'prototype'>>;

export const context: Statics<typeof published.Context> = Context;
export const load: typeof published.init = init;
export const error: Statics<typeof published.TensorError> = TensorError;
