//! Writes out the loops of a shader that are marked `// unroll`.
//!
//! An array that a loop indexes stays in registers only if the driver unrolls the loop, and drivers give up on large
//! bodies. Written out, every index is a constant. The shader files stay valid WGSL as they are.

/// `source` with each line `for (var i = 0u; i < N; i++) { // unroll` and its body repeated for every value of `i`.
/// `N` is a number or one of `constants`; the body ends at the brace under the `for`.
pub(crate) fn unroll(source: &str, constants: &[(&str, u32)]) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let mut out = String::with_capacity(2 * source.len());
    write_out(&lines, constants, &mut out);
    out
}

fn write_out(lines: &[&str], constants: &[(&str, u32)], out: &mut String) {
    let mut rest = lines;
    while let Some((line, after)) = rest.split_first() {
        rest = after;
        let Some((name, count)) = header(line, constants) else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        let indent = &line[..line.len() - line.trim_start().len()];
        let closing = format!("{indent}}}");
        let len = after.iter().position(|l| l.trim_end() == closing).unwrap_or(after.len());
        for value in 0..count {
            let body: Vec<String> = after[..len].iter().map(|l| replace(l, name, value)).collect();
            let body: Vec<&str> = body.iter().map(String::as_str).collect();
            out.push_str(indent);
            out.push_str("{\n");
            write_out(&body, constants, out);
            out.push_str(&closing);
            out.push('\n');
        }
        rest = after.get(len + 1..).unwrap_or_default();
    }
}

/// The variable and the number of rounds of a marked loop.
fn header<'a>(line: &'a str, constants: &[(&str, u32)]) -> Option<(&'a str, u32)> {
    let line = line.trim().strip_prefix("for (var ")?.strip_suffix("++) { // unroll")?;
    let (name, line) = line.split_once(" = 0u; ")?;
    let bound = line.strip_prefix(name)?.strip_prefix(" < ")?.strip_suffix(name)?.strip_suffix("; ")?;
    let number = || bound.strip_suffix('u')?.parse().ok();
    let count = constants.iter().find(|(c, _)| *c == bound).map(|(_, value)| *value).or_else(number)?;
    Some((name, count))
}

/// The line with each whole word `name` as a number.
fn replace(line: &str, name: &str, value: u32) -> String {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(name) {
        let before = rest[..at].chars().next_back().or_else(|| out.chars().next_back());
        let after = rest[at + name.len()..].chars().next();
        out.push_str(&rest[..at]);
        if before.is_some_and(|c| word(c) || c == '.') || after.is_some_and(word) {
            out.push_str(name);
        } else {
            out.push_str(&format!("{value}u"));
        }
        rest = &rest[at + name.len()..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::unroll;

    #[test]
    fn writes_out_marked_loops_and_no_other() {
        let source = "for (var i = 0u; i < N; i++) { // unroll\n    for (var j = 0u; j < 2u; j++) { // unroll\n        x[i * N + j] = y.i + bi;\n    }\n}\nfor (var i = 0u; i < N; i++) {\n}\n";
        let out = unroll(source, &[("N", 2)]);
        let statements: Vec<_> = out.lines().map(str::trim).filter(|l| l.contains('[')).collect();
        let wanted = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| format!("x[{i}u * N + {j}u] = y.i + bi;"));
        assert_eq!(statements, wanted);
        assert!(out.ends_with("for (var i = 0u; i < N; i++) {\n}\n"));
    }
}
