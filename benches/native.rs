//! `cargo bench`: every row of bench/suite.json natively, ours alone, beside what the card can do.
//!
//! `cargo bench -- [FILTER] [--json FILE] [--small] [--rounds N] [--seconds N]`; a row runs if its name holds FILTER. Against burn and
//! ferric-core: `npm run bench:native`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a benchmark that cannot run ends")]

mod suite;

fn main() {
    suite::main(&[]);
}
