//! Copies the shaders to where the table includes them from, without comments and with one space a level of
//! indentation: the package carries their text.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=shaders");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    copy(Path::new("shaders"), &Path::new(&out).join("shaders"))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            let text: String = fs::read_to_string(&path)?.lines().filter_map(slim).collect();
            fs::write(target, text)?;
        }
    }
    Ok(())
}

/// A line as it is kept. `// unroll` is no comment but a mark (`src/unroll.rs`).
fn slim(line: &str) -> Option<String> {
    let code = match line.find("//") {
        Some(at) if !line[at..].starts_with("// unroll") => &line[..at],
        _ => line,
    };
    let indent = (code.len() - code.trim_start().len()) / 4;
    (!code.trim().is_empty()).then(|| format!("{}{}\n", " ".repeat(indent), code.trim()))
}
