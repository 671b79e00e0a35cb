//! tensorweft as the suite runs it.

use std::rc::Rc;

use pollster::block_on;
use tensorweft::{Context, Tensor};

use super::tasks::{BASE, EPS};
use super::{Input, Library, Row, Run, Task};

pub(crate) struct Ours {
    ctx: Context,
}

pub(crate) fn open() -> Result<Ours, String> {
    Ok(Ours { ctx: block_on(Context::new()).map_err(|e| e.to_string())? })
}

impl Ours {
    pub(crate) fn adapter_name(&self) -> String {
        self.ctx.adapter_name.clone()
    }

    pub(crate) fn is_software(&self) -> bool {
        self.ctx.is_software()
    }
}

type Call = Box<dyn Fn(&Context, &Tensor) -> Tensor>;

struct Uploaded<'a> {
    ctx: &'a Context,
    call: Call,
    first: Tensor,
    row: Row,
    out: [usize; 2],
    values: Rc<[f32]>,
    /// What the last call of a row that waits gave.
    last: Vec<f32>,
}

impl Library for Ours {
    fn name(&self) -> &'static str {
        "ours"
    }

    fn label(&self) -> &'static str {
        "tensorweft"
    }

    fn version(&self) -> &'static str {
        "this repository"
    }

    fn adapter(&self) -> Option<String> {
        Some(self.adapter_name())
    }

    fn prepare<'a>(&'a self, row: &Row, task: &Task) -> Result<Box<dyn Run + 'a>, String> {
        let ctx = &self.ctx;
        let mut values: Rc<[f32]> = Rc::new([]);
        let mut tensors = Vec::new();
        let mut ids: Rc<[u32]> = Rc::new([]);
        for input in &task.inputs {
            match input {
                Input::Values(data, shape) => {
                    tensors.push(ctx.tensor(data, shape));
                    if tensors.len() == 1 {
                        values = data.clone();
                    }
                }
                Input::Ids(given) => ids = given.clone(),
            }
        }
        let dims: Vec<u32> = row.dims.iter().map(|d| *d as u32).collect();
        let mut rest = tensors.split_off(1).into_iter();
        let mut next = || rest.next().unwrap();
        let call: Call = match (row.op.as_str(), &dims[..]) {
            ("mm", &[m, k, n]) => with(next(), move |c, a, b| c.mm(a, b, m, k, n)),
            ("mmBt", &[m, k, n]) => with(next(), move |c, a, b| c.mm_bt(a, b, m, n, k, 1.0)),
            ("softmax", &[rows, d]) => Box::new(move |c, x| c.softmax_t(x, rows, d)),
            ("layernorm", &[rows, d]) => {
                let (w, b) = (next(), next());
                Box::new(move |c, x| c.layernorm_t(x, &w, &b, rows, d, EPS))
            }
            ("rmsnorm", &[rows, d]) => with(next(), move |c, x, w| c.rmsnorm_t(x, w, rows, d, EPS)),
            ("rope", &[t, heads, dh]) => Box::new(move |c, x| c.rope_t(x, t, heads, dh, BASE)),
            ("add" | "chain", _) => with(next(), Context::add_t),
            ("addBias", _) => with(next(), Context::add_bias_t),
            ("silu", _) => Box::new(Context::silu_t),
            ("gelu", _) => Box::new(Context::gelu_t),
            ("gather0", &[_, d]) => Box::new(move |c, x| c.gather0(x, &ids, d as usize)),
            ("transpose2d", &[rows, d]) => Box::new(move |c, x| c.transpose2d_t(x, rows, d)),
            ("causal", &[t, hq, hkv, dh]) => {
                let (k, v) = (next(), next());
                Box::new(move |c, q| c.mha_causal_t(q, &k, &v, t, hq, hkv, dh))
            }
            ("decode", &[t, hq, hkv, dh]) => {
                let (k, v) = (next(), next());
                Box::new(move |c, q| c.mha_decode_t(q, &k, &v, hq, hkv, dh, t))
            }
            ("record", _) => Box::new(|c, x| c.add_t(x, x)),
            ("readback" | "upload", _) => Box::new(|_, x| x.clone()),
            (op, _) => return Err(format!("has no {op}")),
        };
        let first = tensors.remove(0);
        Ok(Box::new(Uploaded { ctx, call, first, row: row.clone(), out: task.out, values, last: Vec::new() }))
    }
}

fn with(other: Tensor, f: impl Fn(&Context, &Tensor, &Tensor) -> Tensor + 'static) -> Call {
    Box::new(move |ctx, x| f(ctx, x, &other))
}

impl Uploaded<'_> {
    fn read(&self, t: &Tensor) -> Vec<f32> {
        block_on(self.ctx.to_vec(t)).unwrap()
    }

    /// One call of a row that waits by its nature.
    fn wait(&mut self) {
        match self.row.op.as_str() {
            "chain" => {
                let steps = 1..self.row.dims[0];
                let last = steps.fold((self.call)(self.ctx, &self.first), |y, _| (self.call)(self.ctx, &y));
                self.last = self.read(&last);
            }
            "readback" => self.last = self.read(&self.first),
            _ => {
                self.first = self.ctx.tensor(&self.values, self.first.shape());
                self.done();
            }
        }
    }
}

impl Run for Uploaded<'_> {
    fn call(&mut self, n: usize) {
        if matches!(self.row.op.as_str(), "chain" | "readback" | "upload") {
            (0..n).for_each(|_| self.wait());
            return;
        }
        let mut y = self.first.clone();
        for _ in 0..n {
            y = (self.call)(self.ctx, if self.row.chain { &y } else { &self.first });
        }
        if let Some(error) = y.error() {
            panic!("{error}");
        }
    }

    fn done(&mut self) {
        self.ctx.flush();
        self.ctx.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    }

    fn rows(&mut self, ids: &[usize], width: usize) -> Vec<f32> {
        match self.row.op.as_str() {
            "chain" | "readback" => {
                self.wait();
                self.last.clone()
            }
            "upload" => {
                self.wait();
                self.read(&self.first)
            }
            _ => {
                let ids: Vec<u32> = ids.iter().map(|i| *i as u32).collect();
                let whole = self.ctx.dup(&(self.call)(self.ctx, &self.first), self.out.to_vec());
                self.read(&self.ctx.gather0(&whole, &ids, width))
            }
        }
    }
}
