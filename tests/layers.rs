//! The rules of the source tree that a compiler does not know: who may name what.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every file under a folder of the crate, beside its text.
fn files(folder: &str, extension: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join(folder)];
    let mut found: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no .{extension} under {folder}");
    let name = |path: &Path| path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
    found.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// The lines of code, without comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split("//").next().unwrap_or(""))
}

/// Whether a line uses a word as a whole word.
fn names(line: &str, word: &str) -> bool {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|w| w == word)
}

/// Asserts that only files for which `may` holds name one of `words`.
fn only(words: &[&str], may: impl Fn(&str) -> bool) {
    let mut wrong = Vec::new();
    for (file, text) in files("src", "rs") {
        if may(&file) {
            continue;
        }
        for line in code(&text) {
            if let Some(word) = words.iter().find(|word| names(line, word)) {
                wrong.push(format!("{file} names {word}: {}", line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_platform_file_knows_the_target() {
    only(&["target_arch", "target_family"], |file| ["src/platform.rs", "src/lib.rs"].contains(&file));
}

#[test]
fn only_the_facade_and_the_platform_file_speak_javascript() {
    only(&["wasm_bindgen", "wasm_bindgen_futures", "js_sys", "web_sys"], |file| {
        file.starts_with("src/js/") || file.starts_with("src/platform")
    });
}

#[test]
fn ops_know_no_wgpu() {
    only(&["wgpu"], |file| {
        !file.starts_with("src/ops/")
            && !["src/shape.rs", "src/kernel.rs", "src/kernels.rs", "src/host.rs"].contains(&file)
    });
}

/// Asserts that no file for which `below` holds uses one of the crate's `modules`.
fn upward(below: impl Fn(&str) -> bool, modules: &[&str]) {
    let mut wrong = Vec::new();
    for (file, text) in files("src", "rs").into_iter().filter(|(file, _)| below(file)) {
        for line in code(&text) {
            if modules.iter().any(|module| line.contains(&format!("crate::{module}::"))) {
                wrong.push(format!("{file}: {}", line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_device_layer_knows_nothing_above_it() {
    upward(|file| file.starts_with("src/device/"), &["context", "ops", "tensor", "kernels", "host", "js"]);
}

#[test]
fn ops_know_nothing_above_them() {
    upward(|file| file.starts_with("src/ops/"), &["host", "js"]);
}

#[test]
fn leaves_use_nothing_but_each_other() {
    let leaf = |file: &str| ["src/shape.rs", "src/error.rs"].contains(&file);
    upward(leaf, &["context", "device", "ops", "tensor", "kernel", "kernels", "host", "js"]);
}

#[test]
fn every_file_opens_with_its_role() {
    for (file, text) in files("src", "rs").into_iter().chain(files("tests", "rs")) {
        assert!(text.starts_with("//! "), "{file} does not say what it is for");
    }
    for (file, text) in files("shaders", "wgsl") {
        assert!(text.starts_with("// "), "{file} does not say what it computes");
    }
}

/// The names of the functions of `impl Context` in an ops file that give tensors.
fn ops(text: &str) -> impl Iterator<Item = &str> {
    let bodies = text.split("\nimpl Context {").skip(1).filter_map(|rest| rest.split("\n}").next());
    bodies.flat_map(|body| body.split("    pub fn ").skip(1)).filter_map(|function| {
        let (head, _) = function.split_once('{')?;
        let gives = head.contains("-> Tensor ") || head.contains("-> (Tensor, Tensor) ");
        gives.then(|| head.split('(').next()).flatten()
    })
}

/// What gives a tensor and is no op is not in `src/ops`.
#[test]
fn every_op_is_in_the_table() {
    let sources = files("src/ops", "rs");
    let found: BTreeSet<&str> = sources.iter().flat_map(|(_, text)| ops(text)).collect();
    let table: BTreeSet<&str> = crate::table::table().iter().map(|op| op.name).collect();
    let missing: Vec<_> = found.difference(&table).collect();
    assert!(missing.is_empty(), "{missing:?} have no line in tests/table/mod.rs");
    let others: Vec<_> = table.difference(&found).collect();
    assert_eq!(others, [&"to_dtype"], "in the table, but not in src/ops");
}
