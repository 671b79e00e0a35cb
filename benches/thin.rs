//! `cargo bench --bench thin`: what thin shapes cost. Each op at its usual shape and at rows, columns, heads or keys of
//! 1, 2, 3, 7, all of them over the same bytes: the time of a byte, and how much more that is than at the best shape.
//!
//! `cargo bench --bench thin -- [FILTER] [--mib N] [--rounds N] [--json FILE] [--md FILE]`; a row runs if its name holds FILTER.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a benchmark that cannot run ends")]

#[path = "suite/mod.rs"]
#[allow(dead_code, reason = "its clock alone is needed here")]
mod suite;

use std::time::Duration;

use pollster::block_on;
use serde_json::json;
use tensorweft::{Context, Tensor};

use suite::{Pace, Run, measure};

/// How many times its share of the best shape's time a shape may cost.
const LIMIT: f64 = 4.0;

/// A shape of an op. Makes the inputs when it is its turn, so that the memory of one row is needed at a time.
struct Row {
    op: &'static str,
    shape: String,
    /// Whether it is a shape that the op's thin ones are measured by.
    usual: bool,
    /// Values that are read or written, each once.
    values: usize,
    /// Numbers that the call uploads.
    uploaded: usize,
    prepare: Prepare,
}

type Call = Box<dyn Fn(&Context) -> Tensor>;
type Prepare = Box<dyn FnOnce(&Context) -> Call>;

struct Running<'a> {
    ctx: &'a Context,
    call: Call,
}

impl Run for Running<'_> {
    fn call(&mut self, n: usize) {
        for _ in 0..n {
            if let Some(error) = (self.call)(self.ctx).error() {
                panic!("{error}");
            }
        }
    }

    fn done(&mut self) {
        self.ctx.flush();
        self.ctx.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    }

    fn rows(&mut self, _: &[usize], _: usize) -> Vec<f32> {
        Vec::new()
    }
}

struct Options {
    filter: String,
    mib: Option<f64>,
    rounds: usize,
    json: Option<String>,
    md: Option<String>,
}

fn options() -> Options {
    let mut options = Options { filter: String::new(), mib: None, rounds: 3, json: None, md: None };
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        let mut value = || given.next().unwrap_or_else(|| usage(&format!("{argument} needs a value")));
        match argument.as_str() {
            "--bench" => {} // cargo's
            "--mib" => options.mib = Some(value().parse().unwrap_or_else(|_| usage("--mib needs a number"))),
            "--rounds" => options.rounds = value().parse().unwrap_or_else(|_| usage("--rounds needs a number")),
            "--json" => options.json = Some(value()),
            "--md" => options.md = Some(value()),
            flag if flag.starts_with('-') => usage(&format!("do not know {flag}")),
            _ => options.filter = argument,
        }
    }
    options
}

fn usage(why: &str) -> ! {
    eprintln!("{why}\nusage: [FILTER] [--mib N] [--rounds N] [--json FILE] [--md FILE]");
    std::process::exit(2)
}

/// The rows, each of about `v` values.
struct Table {
    v: usize,
    rows: Vec<Row>,
}

const THIN: [usize; 4] = [1, 2, 3, 7];

impl Table {
    fn add(
        &mut self,
        op: &'static str,
        dims: &[usize],
        usual: bool,
        values: usize,
        prepare: impl FnOnce(&Context) -> Call + 'static,
    ) {
        let shape = dims.iter().map(usize::to_string).collect::<Vec<_>>().join("×");
        self.rows.push(Row { op, shape, usual, values, uploaded: 0, prepare: Box::new(prepare) });
    }

    /// Rows by `each`, which is given their two sizes: `width` usual columns, few columns, few rows.
    fn matrices(
        &mut self,
        values: usize,
        width: usize,
        columns: &[usize],
        mut each: impl FnMut(&mut Self, [usize; 2], bool),
    ) {
        each(self, [values.div_ceil(width), width], true);
        for d in columns {
            each(self, [values / d, *d], false);
        }
        for rows in THIN {
            each(self, [rows, values / rows], false);
        }
    }

    fn products(&mut self) {
        let v = self.v;
        let side = v.isqrt();
        let mut shapes = vec![[1, side, side]];
        for thin in THIN {
            shapes.extend(
                [[thin, side, side], [side, side, thin], [side, thin, side]].into_iter().skip(usize::from(thin == 1)),
            );
            let long = v / (2 * thin);
            shapes.extend([[thin, long, thin], [thin, thin, long], [long, thin, thin]]);
        }
        for (i, dims) in shapes.into_iter().enumerate() {
            let [m, k, n] = dims;
            let values = m * k + k * n + m * n;
            let sizes = dims.map(|d| d as u32);
            self.add("mm", &dims, i == 0, values, move |ctx| {
                let (a, b) = (ctx.empty(&[m, k]), ctx.empty(&[k, n]));
                Box::new(move |ctx| ctx.mm(&a, &b, sizes[0], sizes[1], sizes[2]))
            });
            self.add("mm_bt", &dims, i == 0, values, move |ctx| {
                let (a, b) = (ctx.empty(&[m, k]), ctx.empty(&[n, k]));
                Box::new(move |ctx| ctx.mm_bt(&a, &b, sizes[0], sizes[2], sizes[1], 1.0))
            });
        }
    }

    fn rows(&mut self) {
        const WIDTHS: [usize; 9] = [1, 2, 3, 4, 5, 7, 8, 12, 31];
        self.matrices(self.v / 2, 4096, &THIN, |table, [rows, d], usual| {
            table.add("add_bias", &[rows, d], usual, 2 * rows * d, move |ctx| {
                let (x, b) = (ctx.empty(&[rows, d]), ctx.empty(&[d]));
                Box::new(move |ctx| ctx.add_bias_t(&x, &b))
            });
        });
        let columns = [1, 2, 3, 7, 16, 32, 33];
        self.matrices(self.v / 2, (self.v / 2).isqrt() / 4 * 4, &columns, |table, [rows, d], usual| {
            table.add("transpose2d", &[rows, d], usual, 2 * rows * d, move |ctx| {
                let x = ctx.empty(&[rows, d]);
                Box::new(move |ctx| ctx.transpose2d_t(&x, rows as u32, d as u32))
            });
        });
        self.matrices(self.v / 2, 4096, &WIDTHS, |table, [rows, d], usual| {
            table.add("softmax", &[rows, d], usual, 2 * rows * d, move |ctx| {
                let x = ctx.empty(&[rows, d]);
                Box::new(move |ctx| ctx.softmax_t(&x, rows as u32, d as u32))
            });
        });
        self.matrices(self.v / 2, 4096, &WIDTHS, |table, [rows, d], usual| {
            table.add("rmsnorm", &[rows, d], usual, 2 * rows * d, move |ctx| {
                let (x, w) = (ctx.empty(&[rows, d]), ctx.empty(&[d]));
                Box::new(move |ctx| ctx.rmsnorm_t(&x, &w, rows as u32, d as u32, 1e-5))
            });
        });
        self.matrices(self.v / 2, 4096, &WIDTHS, |table, [rows, d], usual| {
            table.add("layernorm", &[rows, d], usual, 2 * rows * d, move |ctx| {
                let (x, w) = (ctx.empty(&[rows, d]), ctx.empty(&[d]));
                Box::new(move |ctx| ctx.layernorm_t(&x, &w, &w, rows as u32, d as u32, 1e-5))
            });
        });
        self.matrices(self.v / 4, 4096, &WIDTHS, |table, [rows, d], usual| {
            table.add("add_layernorm", &[rows, d], usual, 4 * rows * d, move |ctx| {
                let (x, w) = (ctx.empty(&[rows, d]), ctx.empty(&[d]));
                Box::new(move |ctx| ctx.add_layernorm_t(&x, &x, &w, &w, rows as u32, d as u32, 1e-5).1)
            });
        });
        for (d, usual) in THIN.map(|d| (d, false)).into_iter().chain([(1024, true)]) {
            let n = self.v / (2 * d + 1);
            self.add("gather0", &[n, d], usual, n * (2 * d + 1), move |ctx| {
                let table = ctx.empty(&[n, d]);
                // All over the table, each row once.
                let step = (n as f64 * 0.618) as usize | 1;
                let ids: Vec<u32> = (0..n).map(|i| (i * step % n) as u32).collect();
                Box::new(move |ctx| ctx.gather0(&table, &ids, d))
            });
            self.rows.last_mut().unwrap().uploaded = n;
        }
    }

    fn positions(&mut self) {
        let v = self.v / 2;
        let mut shapes = vec![[v / (32 * 128), 32, 128]];
        shapes.extend([2, 4, 6, 8, 14].map(|dh| [v / (32 * dh), 32, dh]));
        shapes.extend(THIN.map(|h| [v / (h * 128), h, 128]));
        shapes.extend(THIN.map(|t| [t, v / (t * 128), 128]));
        shapes.extend([[v / 2, 1, 2], [v / 8, 1, 8], [1, v / 2, 2]]);
        for (i, dims) in shapes.into_iter().enumerate() {
            let [t, h, dh] = dims;
            self.add("rope", &dims, i == 0, 2 * t * h * dh, move |ctx| {
                let x = ctx.empty(&[t, h * dh]);
                Box::new(move |ctx| ctx.rope_t(&x, t as u32, h as u32, dh as u32, 1e4))
            });
        }
    }

    fn attention(&mut self) {
        let v = self.v;
        // Keys, heads of queries, heads of keys, head size.
        let mut shapes = vec![[v / (2 * 8 * 128), 8, 8, 128]];
        shapes.extend([1, 2, 3, 4, 7, 8, 16].map(|dh| [v / (2 * 8 * dh), 8, 8, dh]));
        shapes.extend(THIN.map(|h| [v / (2 * h * 128), h, h, 128]));
        shapes.extend([2, 3, 7, 16].map(|group| [v / (2 * 8 * 128), 8 * group, 8, 128]));
        shapes.extend(THIN.map(|s| [s, v / (64 * (2 + 2 * s)), v / (64 * (2 + 2 * s)), 64]));
        shapes.extend([[v / 2, 1, 1, 1], [v / 6, 1, 1, 3], [v / 8, 1, 1, 4], [2, v / 6, v / 6, 1]]);
        for (i, dims) in shapes.into_iter().enumerate() {
            let [s, hq, hkv, dh] = dims;
            let sizes = [hq, hkv, dh, s].map(|d| d as u32);
            self.add("mha_decode", &dims, i == 0, 2 * hq * dh + 2 * s * hkv * dh, move |ctx| {
                let (q, k, v) = (ctx.empty(&[1, hq * dh]), ctx.empty(&[s, hkv * dh]), ctx.empty(&[s, hkv * dh]));
                Box::new(move |ctx| ctx.mha_decode_t(&q, &k, &v, sizes[0], sizes[1], sizes[2], sizes[3]))
            });
        }
        // Queries, heads, head size; decoding's usual shape is the one to be compared with.
        let mut shapes = THIN.map(|t| [t, v / (4 * t * 64), 64]).to_vec();
        shapes.extend([[1, v / 4, 1], [3, v / 36, 3], [7, v / (4 * 7 * 4), 4]]);
        for dims in shapes {
            let [t, h, dh] = dims;
            self.add("mha_causal", &dims, false, 4 * t * h * dh, move |ctx| {
                let x = ctx.empty(&[t, h * dh]);
                Box::new(move |ctx| ctx.mha_causal_t(&x, &x, &x, t as u32, h as u32, h as u32, dh as u32))
            });
        }
        // Queries, keys, size of keys, size of values.
        let mut shapes = THIN.map(|rq| [rq, v / 128, 64, 64]).to_vec();
        shapes.extend(THIN.map(|rk| [v / 128, rk, 64, 64]));
        shapes.extend(THIN.map(|d| [1, v / (d + 64), d, 64]));
        shapes.extend(THIN.map(|dv| [1, v / (64 + dv), 64, dv]));
        shapes.extend([[v / 2, 1, 1, 1], [v / 6, 3, 3, 3], [v / 8, 4, 4, 4], [1, v / 2, 1, 1]]);
        for dims in shapes {
            let [rq, rk, d, dv] = dims;
            let sizes = dims.map(|d| d as u32);
            self.add("attention", &dims, false, rq * (d + dv) + rk * (d + dv), move |ctx| {
                let (q, k, v) = (ctx.empty(&[rq, d]), ctx.empty(&[rk, d]), ctx.empty(&[rk, dv]));
                Box::new(move |ctx| ctx.attention_t(&q, &k, &v, sizes[0], sizes[1], sizes[2], sizes[3], 0.5))
            });
        }
    }
}

/// The op whose best shape an op is measured by.
fn measured_by(op: &str) -> &str {
    match op {
        "mha_causal" | "attention" => "mha_decode",
        op => op,
    }
}

/// A row and what it took, in nanoseconds.
struct Measured {
    row: Row,
    took: f64,
    upload: f64,
}

impl Measured {
    fn ns_per_byte(&self) -> f64 {
        self.took / (4 * self.row.values) as f64
    }

    /// The time, in shares of what its bytes take at the best shape and its numbers to upload.
    fn ratio(&self, best: f64) -> f64 {
        self.took / (self.upload + best * (4 * self.row.values) as f64)
    }
}

fn main() {
    let options = options();
    let ctx = block_on(Context::new()).unwrap_or_else(|e| panic!("{e}"));
    let software = ctx.is_software();
    let mib = options.mib.unwrap_or(if software { 2.0 } else { 64.0 });
    let pace = Pace { target: Duration::from_millis(if software { 5 } else { 25 }), rounds: options.rounds };
    println!("adapter: {}; {mib} MiB each", ctx.adapter_name);

    let mut table = Table { v: (mib * f64::from(1 << 18)) as usize, rows: Vec::new() };
    table.products();
    table.rows();
    table.positions();
    table.attention();

    let time = |call: Call| 1e6 * measure(&mut Running { ctx: &ctx, call }, pace).ms;
    let name = |row: &Row| format!("{} {}", row.op, row.shape);
    // What others are measured by always runs.
    let wanted: Vec<Row> =
        table.rows.into_iter().filter(|row| row.usual || name(row).contains(&options.filter)).collect();
    let mut all: Vec<Measured> = Vec::new();
    for mut row in wanted {
        let prepare = std::mem::replace(&mut row.prepare, Box::new(|_| Box::new(|ctx| ctx.empty(&[0]))));
        let took = time(prepare(&ctx));
        let numbers = vec![0.0; row.uploaded];
        let upload = match row.uploaded {
            0 => 0.0,
            n => time(Box::new(move |ctx| ctx.tensor(&numbers, &[n]))),
        };
        println!("{}: {:.3} ms, {:.4} ns a byte", name(&row), took / 1e6, took / (4 * row.values) as f64);
        all.push(Measured { row, took, upload });
    }

    let best = |op: &str| {
        let rows = all.iter().filter(|m| m.row.usual && m.row.op == measured_by(op));
        rows.map(|m| (m.took - m.upload).max(0.0) / (4 * m.row.values) as f64).fold(f64::INFINITY, f64::min)
    };
    let mut md = format!("{}, {mib} MiB a row; over {LIMIT} in bold.\n\n", ctx.adapter_name);
    md += "| op | shape | ms | ns a byte | of the best |\n| --- | --- | ---: | ---: | ---: |\n";
    let mut told = Vec::new();
    for m in &all {
        let ratio = m.ratio(best(m.row.op));
        let over = ratio > LIMIT;
        let mark = if over { "**" } else { "" };
        let Row { op, shape, usual, values, .. } = &m.row;
        let (ms, ns) = (m.took / 1e6, m.ns_per_byte());
        md += &format!("| {op} | {shape} | {ms:.3} | {ns:.5} | {mark}{ratio:.2}{mark} |\n");
        told.push(
            json!({ "op": op, "shape": shape, "usual": usual, "bytes": 4 * values, "ms": ms, "upload": m.upload / 1e6,
            "nsPerByte": ns, "ratio": ratio, "over": over }),
        );
    }
    println!("\n{md}");
    let over = told.iter().filter(|row| row["over"] == true).count();
    println!("{over} of {} over {LIMIT}", told.len());
    let result = json!({ "adapter": ctx.adapter_name, "software": software, "mib": mib, "rows": told });
    let files = [(options.json, serde_json::to_string_pretty(&result).unwrap() + "\n"), (options.md, md)];
    for (path, text) in files.into_iter().filter_map(|(path, text)| Some((path?, text))) {
        std::fs::write(&path, text).unwrap_or_else(|why| panic!("{path}: {why}"));
    }
}
