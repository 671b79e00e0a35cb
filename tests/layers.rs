//! The rules of the source tree that a compiler does not know: who may name what.

use std::collections::{BTreeMap, BTreeSet};
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
fn only_the_platform_knows_the_target() {
    only(&["target_arch", "target_family"], |file| ["src/platform/mod.rs", "src/lib.rs"].contains(&file));
}

#[test]
fn only_the_facade_and_the_platform_speak_javascript() {
    only(&["wasm_bindgen", "wasm_bindgen_futures", "js_sys", "web_sys"], |file| {
        file.starts_with("src/js/") || file.starts_with("src/platform/web")
    });
}

/// `Context` has wgpu's device and queue as public fields, by contract.
#[test]
fn only_the_device_and_the_platform_speak_to_wgpu() {
    only(&["wgpu"], |file| {
        file.starts_with("src/device/") || file.starts_with("src/platform/") || file == "src/context.rs"
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
    upward(|file| file.starts_with("src/device/"), &["context", "op", "ops", "tensor", "kernel::table", "host", "js"]);
}

#[test]
fn ops_know_nothing_above_them() {
    upward(|file| file.starts_with("src/ops/"), &["host", "js"]);
}

/// The files that a file imports from: what its `use` lines and its paths from `crate`, `super` and `self` name.
fn imports(file: &str, text: &str, all: &BTreeSet<String>) -> BTreeSet<String> {
    let module = |file: &str| -> Vec<String> {
        let path = file.trim_start_matches("src/").trim_end_matches(".rs");
        let path = path.strip_suffix("/mod").unwrap_or(path);
        if path == "lib" { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
    };
    let here = module(file);
    // The tests of a file are a module within it, for which `super` is the file.
    let text = text.split("#[cfg(test)]").next().unwrap_or(text);
    let code: String = code(text).collect::<Vec<_>>().join(" ");
    let mut found = BTreeSet::new();
    for (i, _) in code.match_indices(|c: char| c.is_alphabetic()) {
        let before = code[..i].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || "_$:.".contains(c)) {
            continue;
        }
        let rest = &code[i..];
        let mut base = here.clone();
        let rest = if let Some(rest) = rest.strip_prefix("crate::") {
            base.clear();
            rest
        } else if let Some(mut rest) = rest.strip_prefix("super::") {
            base.pop();
            while let Some(further) = rest.strip_prefix("super::") {
                base.pop();
                rest = further;
            }
            rest
        } else if let Some(rest) = rest.strip_prefix("self::") {
            rest
        } else {
            continue;
        };
        for path in paths(rest) {
            // The longest part of the path that is a file; the rest names an item of it.
            let whole: Vec<String> = base.iter().cloned().chain(path).collect();
            let of = (0..=whole.len()).rev().find_map(|n| {
                if n == 0 {
                    return Some("src/lib.rs".to_owned());
                }
                let stem = format!("src/{}", whole[..n].join("/"));
                [format!("{stem}.rs"), format!("{stem}/mod.rs")].into_iter().find(|file| all.contains(file))
            });
            found.extend(of.filter(|of| of != file));
        }
    }
    found
}

/// The paths of a tree like `a::{b, c::d}`.
fn paths(text: &str) -> Vec<Vec<String>> {
    let word: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let rest = &text[word.len()..];
    if let Some(rest) = rest.strip_prefix("::") {
        return paths(rest).into_iter().map(|path| [vec![word.clone()], path].concat()).collect();
    }
    let Some(inside) = text.strip_prefix('{') else { return vec![vec![word]] };
    let (mut depth, mut from, mut parts) = (0, 0, Vec::new());
    for (i, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                parts.extend(paths(inside[from..i].trim()));
                from = i + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    parts
}

#[test]
fn no_files_import_in_a_circle() {
    let files = files("src", "rs");
    let all: BTreeSet<String> = files.iter().map(|(file, _)| file.clone()).collect();
    let mut left: BTreeMap<&str, BTreeSet<String>> =
        files.iter().map(|(file, text)| (file.as_str(), imports(file, text, &all))).collect();
    assert!(left["src/context.rs"].contains("src/op.rs"), "{:?}", left["src/context.rs"]);
    assert!(left["src/kernel/recipe.rs"].contains("src/kernel/table.rs"), "{:?}", left["src/kernel/recipe.rs"]);
    // `lib.rs` names every module, so what imports from it is above all of them.
    for (file, of) in &left {
        assert!(!of.contains("src/lib.rs") || file.starts_with("src/js/"), "{file} imports from lib.rs");
    }
    // Files whose imports are all gone go too; what is left imports in a circle.
    loop {
        let free: Vec<&str> = left
            .iter()
            .filter(|(_, of)| of.iter().all(|of| !left.contains_key(of.as_str())))
            .map(|(f, _)| *f)
            .collect();
        if free.is_empty() {
            break;
        }
        free.into_iter().for_each(|file| drop(left.remove(file)));
    }
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn no_file_is_too_long_to_read() {
    let sources = ["src", "examples", "benches"].into_iter().flat_map(|folder| files(folder, "rs"));
    for (file, text) in sources.chain(files("shaders", "wgsl")) {
        let lines = text.lines().count();
        assert!(lines <= 400, "{file} has {lines} lines");
    }
}

/// A family of kernels is one row, however many sizes it has.
#[test]
fn the_table_of_kernels_is_short() {
    let rows: BTreeSet<_> = tensorweft::kernels().into_iter().map(|kernel| kernel.row).collect();
    assert!(rows.len() <= 60, "{} rows", rows.len());
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
