//! Copies the shaders to where the kernel table includes them from, without comments and with one space a level of
//! indentation (the package carries their text), and writes for each what it imports.
//!
//! A shader names the files that it needs in lines of its own, `// import lib/grid.wgsl`. Braces hold a choice that a
//! row's variant makes: `{1,4}` and `{,4}` by width (single values or vectors of four), `{f32,f16}` by what an input
//! holds.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs, io};

/// The text of each shader, comments included, by its path below `shaders`.
type Shaders = BTreeMap<String, String>;

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=shaders");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    let mut shaders = Shaders::new();
    read(Path::new("shaders"), "", &mut shaders)?;
    let out = Path::new(&out).join("shaders");
    for (path, text) in &shaders {
        let target = out.join(path);
        fs::create_dir_all(target.parent().unwrap_or(&out))?;
        fs::write(target, text.lines().filter_map(slim).collect::<String>())?;
    }
    let sources: Vec<String> = shaders
        .keys()
        .filter(|path| !path.contains('/'))
        .map(|path| source(path, &shaders))
        .collect::<io::Result<_>>()?;
    fs::write(out.join("sources.rs"), sources.concat())
}

fn read(folder: &Path, prefix: &str, shaders: &mut Shaders) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = format!("{prefix}{}", path.file_name().unwrap_or_default().to_string_lossy());
        if path.is_dir() {
            read(&path, &format!("{name}/"), shaders)?;
        } else {
            shaders.insert(name, fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

/// A line as it is kept. `// unroll` is no comment but a mark (`src/kernel/unroll.rs`).
fn slim(line: &str) -> Option<String> {
    let code = match line.find("//") {
        Some(at) if !line[at..].starts_with("// unroll") => &line[..at],
        _ => line,
    };
    let indent = (code.len() - code.trim_start().len()) / 4;
    (!code.trim().is_empty()).then(|| format!("{}{}\n", " ".repeat(indent), code.trim()))
}

/// The `Source` of a shader: its imports, each once and before what needs it, then the shader.
fn source(path: &str, shaders: &Shaders) -> io::Result<String> {
    let mut files = Vec::new();
    collect(path, shaders, &mut files)?;
    let mut parts = String::new();
    let mut bindings: Vec<usize> = Vec::new();
    for file in &files {
        let cells = [[false, false], [false, true], [true, false], [true, true]]
            .map(|[wide, half]| format!("include_str!(\"{}\")", choose(file, wide, half)));
        let [a, b, c, d] = cells;
        let _ = writeln!(parts, "        [[{a}, {b}], [{c}, {d}]],");
        if file.contains("{f32,f16}") {
            bindings.extend(numbers(&shaders[&choose(file, false, true)], "@binding("));
        }
    }
    let first = bindings.iter().min().copied().unwrap_or(0);
    let last = bindings.iter().max().map_or(0, |last| last + 1);
    let name = path.trim_end_matches(".wgsl");
    Ok(format!(
        "pub(crate) const {name}: Source = Source {{\n    parts: &[\n{parts}    ],\n    half: ({first}, {last}),\n}};\n"
    ))
}

fn collect(path: &str, shaders: &Shaders, files: &mut Vec<String>) -> io::Result<()> {
    for (wide, half) in [(false, false), (false, true), (true, false), (true, true)] {
        let file = choose(path, wide, half);
        let text = shaders.get(&file).ok_or_else(|| io::Error::other(format!("no shader {file}")))?;
        for import in text.lines().filter_map(|line| line.strip_prefix("// import ")) {
            if !files.iter().any(|file| file == import) {
                collect(import, shaders, files)?;
            }
        }
    }
    if !files.iter().any(|file| file == path) {
        files.push(path.to_owned());
    }
    Ok(())
}

/// The path with each choice made.
fn choose(path: &str, wide: bool, half: bool) -> String {
    let mut out = path.to_owned();
    while let Some((before, rest)) = out.split_once('{') {
        let Some((choice, after)) = rest.split_once('}') else { break };
        let second = if choice == "f32,f16" { half } else { wide };
        let (a, b) = choice.split_once(',').unwrap_or((choice, choice));
        out = format!("{before}{}{after}", if second { b } else { a });
    }
    out
}

/// The numbers behind each `mark`.
fn numbers<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.split(mark).skip(1).filter_map(|rest| rest.split(')').next()?.parse().ok())
}
