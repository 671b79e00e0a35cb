//! The rows of bench/suite.json, run natively: the same names, inputs, bounds and JSON as the page in bench/.

pub(crate) mod limits;
pub(crate) mod ours;
pub(crate) mod tasks;

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

pub(crate) use tasks::{Input, Task};

/// One row of the suite.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) op: String,
    pub(crate) dims: Vec<usize>,
    /// Each call takes the result of the one before.
    pub(crate) chain: bool,
    plot: Option<String>,
    rounds: usize,
}

/// A library with everything it needs on its device.
pub(crate) trait Library {
    fn name(&self) -> &'static str;
    fn label(&self) -> &'static str;
    fn version(&self) -> &'static str;
    /// The adapter it computes on, if it tells.
    fn adapter(&self) -> Option<String>;
    /// A row ready to run, or why there is none.
    fn prepare<'a>(&'a self, row: &Row, task: &Task) -> Result<Box<dyn Run + 'a>, String>;
}

/// A row on a library's device.
pub(crate) trait Run {
    /// Queues `n` calls. Rows that wait by their nature (`chain`, `readback`, `upload`) wait in every call.
    fn call(&mut self, n: usize);
    /// Waits for all that was queued.
    fn done(&mut self);
    /// Whole rows of one more result.
    fn rows(&mut self, ids: &[usize], width: usize) -> Vec<f32>;
}

/// Makes a library on the adapter of that name.
pub(crate) type Open = fn(&str) -> Result<Box<dyn Library>, String>;

struct Options {
    filter: Option<String>,
    json: Option<String>,
    small: bool,
    rounds: Option<usize>,
    seconds: f64,
}

fn options() -> Options {
    let mut options = Options { filter: None, json: None, small: false, rounds: None, seconds: f64::INFINITY };
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--bench" => {} // cargo's
            "--json" => options.json = Some(given_or_exit("--json", given.next())),
            "--small" => options.small = true,
            "--rounds" => options.rounds = Some(number("--rounds", given.next()) as usize),
            "--seconds" => options.seconds = number("--seconds", given.next()),
            flag if flag.starts_with('-') => usage(&format!("do not know {flag}")),
            _ => options.filter = Some(argument),
        }
    }
    options
}

fn usage(why: &str) -> ! {
    eprintln!("{why}\nusage: [FILTER] [--json FILE] [--small] [--rounds N] [--seconds N]");
    std::process::exit(2)
}

fn given_or_exit(flag: &str, value: Option<String>) -> String {
    value.unwrap_or_else(|| usage(&format!("{flag} needs a value")))
}

fn number(flag: &str, value: Option<String>) -> f64 {
    given_or_exit(flag, value).parse().unwrap_or_else(|_| usage(&format!("{flag} needs a number")))
}

fn rows(small: bool, filter: Option<&str>) -> Vec<Row> {
    let suite: Value = serde_json::from_str(include_str!("../../bench/suite.json")).expect("bench/suite.json is JSON");
    let numbers =
        |v: &Value| -> Vec<usize> { v.as_array().unwrap().iter().map(|d| d.as_u64().unwrap() as usize).collect() };
    let mut found: Vec<Row> = Vec::new();
    for group in suite["rows"].as_array().unwrap() {
        let op = group["op"].as_str().unwrap();
        for full in group["dims"].as_array().unwrap() {
            let full = numbers(full);
            let dims = match (small, numbers(&suite["small"][op])) {
                (false, _) => full,
                // Heads must still divide each other.
                (true, most) if op == "causal" || op == "decode" => [&[full[0].min(most[0])], &most[1..]].concat(),
                (true, most) => full.iter().zip(most).map(|(&d, most)| d.min(most)).collect(),
            };
            let name = format!("{op} {}", dims.iter().map(usize::to_string).collect::<Vec<_>>().join("x"));
            if filter.is_some_and(|part| !name.contains(part)) || found.iter().any(|row| row.name == name) {
                continue;
            }
            found.push(Row {
                name,
                op: op.into(),
                dims,
                chain: group["chain"].as_bool().unwrap_or(false),
                plot: group["plot"].as_str().map(Into::into),
                rounds: group["rounds"].as_u64().or(suite["rounds"].as_u64()).unwrap() as usize,
            });
        }
    }
    found
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { (sorted[half - 1] + sorted[half]) / 2.0 }
}

/// Median of the rounds' milliseconds for each call, and (largest - smallest) / median.
pub(crate) struct Summary {
    pub(crate) ms: f64,
    pub(crate) spread: f64,
    rounds: usize,
}

fn summary(times: &[f64]) -> Summary {
    let ms = median(times);
    let [low, high] = [f64::min, f64::max].map(|f| times.iter().copied().reduce(f).unwrap_or(f64::NAN));
    Summary { ms, spread: (high - low) / ms, rounds: times.len() }
}

/// How long a round lasts, and how many there are.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) target: Duration,
    pub(crate) rounds: usize,
}

const CALLS_MAX: usize = 20_000;

fn once(run: &mut dyn Run, n: usize) -> Duration {
    let begun = Instant::now();
    run.call(n);
    run.done();
    begun.elapsed()
}

/// How many calls make a round of at least the target, and how long they took.
fn calibrate(run: &mut dyn Run, target: Duration) -> (usize, Duration) {
    once(run, 1);
    let mut n = 1;
    loop {
        let took = once(run, n);
        if took >= target || n >= CALLS_MAX {
            return (n, took);
        }
        let more = (1.1 * target.as_secs_f64() / took.as_secs_f64().max(1e-9)).clamp(1.25, 10.0);
        n = ((n as f64 * more).ceil() as usize).clamp(n + 1, CALLS_MAX);
    }
}

/// Rounds of one thing alone.
pub(crate) fn measure(run: &mut dyn Run, pace: Pace) -> Summary {
    let (n, _) = calibrate(run, pace.target);
    let times: Vec<f64> = (0..pace.rounds).map(|_| once(run, n).as_secs_f64() * 1000.0 / n as f64).collect();
    summary(&times)
}

thread_local! {
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `f`; a panic in it, which peers raise for what they cannot do, becomes an error.
fn guarded<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload: Box<dyn Any + Send>| {
        let text = PANIC.take();
        let text = if text.is_empty() { payload.downcast_ref::<String>().cloned().unwrap_or_default() } else { text };
        format!("failed: {}", text.lines().take(6).collect::<Vec<_>>().join(" ").chars().take(400).collect::<String>())
    })
}

/// What one library does in one row, while the rounds go on.
struct Running<'a> {
    library: &'a dyn Library,
    run: Box<dyn Run + 'a>,
    calls: usize,
    rounds: usize,
    times: Vec<f64>,
    check: Option<Value>,
    failed: Option<String>,
}

fn start<'a>(library: &'a dyn Library, row: &Row, task: &Task, pace: Pace) -> Result<Running<'a>, String> {
    guarded(|| {
        let mut run = library.prepare(row, task)?;
        let check = task.verify(&mut *run).map(|(error, samples)| {
            json!({ "error": if error.is_finite() { json!(error) } else { Value::Null }, "samples": samples, "ok": error <= 1.0 })
        });
        let (calls, rounds) = if row.op == "record" {
            (500, pace.rounds)
        } else {
            let (n, took) = calibrate(&mut *run, pace.target);
            // What takes very long is not repeated as often: the run must end.
            (
                n,
                if took.as_secs_f64() > 1.5 {
                    1
                } else if took.as_secs_f64() > 0.4 {
                    pace.rounds.min(3)
                } else {
                    pace.rounds
                },
            )
        };
        Ok(Running { library, run, calls, rounds, times: Vec::new(), check, failed: None })
    })?
}

fn measure_row(row: &Row, libraries: &[Box<dyn Library>], pace: Pace) -> (Value, Vec<String>) {
    let task = Task::of(row);
    let mut results = Map::new();
    let mut running = Vec::new();
    for library in libraries {
        match start(&**library, row, &task, pace) {
            Ok(ready) => running.push(ready),
            Err(why) => drop(results.insert(library.name().into(), json!({ "missing": why }))),
        }
    }
    for round in 0..pace.rounds {
        for each in running.iter_mut().filter(|each| round < each.rounds && each.failed.is_none()) {
            let Running { run, calls, .. } = each;
            let took = guarded(|| {
                if row.op != "record" {
                    return once(&mut **run, *calls);
                }
                // The time until the calls return; what they queued is over before the next round begins.
                run.done();
                let begun = Instant::now();
                run.call(*calls);
                begun.elapsed()
            });
            match took {
                Ok(took) => each.times.push(took.as_secs_f64() * 1000.0 / each.calls as f64),
                Err(why) => each.failed = Some(why),
            }
        }
    }
    let mut said = Vec::new();
    for each in running {
        let Running { library, mut run, calls, times, check, failed, .. } = each;
        let _ = guarded(|| run.done());
        let entry = match failed {
            Some(why) => json!({ "missing": why }),
            None => {
                let Summary { ms, spread, rounds } = summary(&times);
                let wrong = check.as_ref().is_some_and(|check| check["ok"] == false);
                said.push(format!("{} {}{}", library.name(), task.speed(ms), if wrong { " WRONG" } else { "" }));
                let mut entry = json!({ "ms": ms, "spread": spread, "rounds": rounds, "calls": calls });
                if let Some(check) = check {
                    entry["check"] = check;
                }
                entry
            }
        };
        results.insert(library.name().into(), entry);
    }
    let mut told = json!({ "name": row.name, "op": row.op, "dims": row.dims, "chain": row.chain, "rounds": row.rounds, "results": results });
    let work = [("flops", task.flops), ("bytes", task.bytes), ("weights", task.weights)];
    for (key, value) in work.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        told[key] = json!(value);
    }
    if let Some(plot) = &row.plot {
        told["plot"] = json!(plot);
    }
    (told, said)
}

/// 2026-12-03T13:04:00Z, from seconds since 1970.
fn date(now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (mut days, mut year) = (seconds / 86_400, 1970);
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", month + 1, days + 1)
}

/// Runs the suite: ours and the `peers` in turn on one adapter.
pub(crate) fn main(peers: &[Open]) {
    let options = options();
    let begun = Instant::now();
    std::panic::set_hook(Box::new(|info| PANIC.set(info.to_string())));
    let failed = |why: String| -> ! {
        eprintln!("bench: {why}");
        std::process::exit(1)
    };
    let ours = ours::open().unwrap_or_else(|why| failed(why));
    let (adapter, software) = (ours.adapter_name(), ours.is_software());
    let small = options.small || software;
    println!("adapter: {adapter}{}", if software { "; software: times mean nothing" } else { "" });

    let target = Duration::from_millis(if small { 2 } else { 25 });
    let pace = |rounds: usize| Pace { target, rounds: options.rounds.unwrap_or(if small { 2 } else { rounds }) };
    let measured = guarded(|| limits::measure_all(&adapter, small, pace(7))).and_then(|limits| limits);
    let mut limits = measured.unwrap_or_else(|why| failed(why));
    let best = |kind: &str, unit: &str| limits[kind][unit].as_f64().unwrap_or(f64::NAN);
    println!("limits: {:.1} TFLOP/s, {:.0} GB/s", best("fma", "tflops"), best("copy", "gbs"));

    let mut told = Map::new();
    let mut libraries: Vec<Box<dyn Library>> = vec![Box::new(ours)];
    for open in peers {
        match guarded(|| open(&adapter)).and_then(|opened| opened) {
            Ok(library) => {
                match library.adapter() {
                    Some(other) if other != adapter => {
                        told.insert(library.name().into(), json!({ "label": library.label(), "error": format!("computes on another adapter, {other}") }));
                    }
                    _ => libraries.push(library),
                }
            }
            Err(why) => println!("a peer did not start: {why}"),
        }
    }
    for library in &libraries {
        told.insert(library.name().into(), json!({ "label": library.label(), "version": library.version() }));
    }

    let mut results = Vec::new();
    for row in rows(small, options.filter.as_deref()) {
        if begun.elapsed().as_secs_f64() > options.seconds {
            results.push(json!({ "name": row.name, "op": row.op, "dims": row.dims, "results": {}, "left": format!("not run: {} s had passed", options.seconds) }));
            continue;
        }
        let (result, said) = measure_row(&row, &libraries, pace(row.rounds));
        println!("{}: {}", row.name, said.join(", "));
        for (name, entry) in result["results"].as_object().unwrap() {
            if let Some(why) = entry["missing"].as_str().filter(|why| why.starts_with("failed")) {
                println!("  {name} {why}");
            }
        }
        results.push(result);
    }
    drop(libraries);
    if let Ok(Ok(after)) = guarded(|| limits::pace_again(&adapter, small, pace(7))) {
        let moved = |kind: &str, unit: &str| {
            (after[kind][unit].as_f64().unwrap() / limits[kind][unit].as_f64().unwrap() - 1.0).abs()
        };
        limits["moved"] = json!(moved("fma", "tflops").max(moved("copy", "gbs")));
        limits["after"] = after;
    }

    let result = json!({
        "format": 1,
        "date": date(SystemTime::now()),
        "stack": "native",
        "adapter": { "vendor": "", "architecture": "", "device": "", "description": adapter, "software": software },
        "small": small,
        "software": software,
        "target": target.as_millis() as u64,
        "libraries": told,
        "limits": limits,
        "rows": results,
        "seconds": begun.elapsed().as_secs_f64(),
    });
    println!("done in {:.1} s", begun.elapsed().as_secs_f64());
    if let Some(path) = options.json {
        let text = serde_json::to_string_pretty(&result).unwrap();
        std::fs::write(&path, text + "\n").unwrap_or_else(|why| failed(format!("{path}: {why}")));
    }
}
