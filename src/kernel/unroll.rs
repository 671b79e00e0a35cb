//! Writes out the loops of a shader that are marked `// unroll`, and gives each element of its arrays a name.
//!
//! An array stays in registers only if every index is a constant and the driver sees it. Drivers give up on large bodies,
//! and some that see constants still order the work worse than with plain variables. The shader files stay valid WGSL
//! as they are.

use std::collections::HashMap;

/// Each line `for (var i = 0u; i < N; i++) { // unroll` and its body, to the brace under the `for`, repeated for every value
/// of `i`; then each `var` array whose indices are all constant as variables of their own.
pub(crate) fn unroll(source: &str) -> String {
    let constants = Constants::of(source);
    let mut out = String::with_capacity(4 * source.len());
    write_out(&source.lines().collect::<Vec<_>>(), &constants, &mut out);
    name_elements(&out, &constants)
}

/// The module's integer constants.
struct Constants<'a>(HashMap<&'a str, u32>);

impl<'a> Constants<'a> {
    fn of(source: &'a str) -> Self {
        let mut constants = Self(HashMap::new());
        for line in source.lines() {
            let Some((name, value)) = line.strip_prefix("const ").and_then(|l| l.split_once(" = ")) else { continue };
            if let Some(value) = value.split_once(';').and_then(|(value, _)| constants.value(value)) {
                constants.0.insert(name, value);
            }
        }
        constants
    }

    /// The value of an expression of numbers and constants, if it is one.
    fn value(&self, expression: &str) -> Option<u32> {
        let mut rest = expression;
        let value = self.sum(&mut rest)?;
        rest.trim().is_empty().then_some(value)
    }

    fn sum(&self, rest: &mut &str) -> Option<u32> {
        let mut value = self.product(rest)?;
        while let Some(op) = operator(rest, "+-") {
            let right = self.product(rest)?;
            value = if op == '+' { value.checked_add(right)? } else { value.checked_sub(right)? };
        }
        Some(value)
    }

    fn product(&self, rest: &mut &str) -> Option<u32> {
        let mut value = self.operand(rest)?;
        while let Some(op) = operator(rest, "*/%") {
            let right = self.operand(rest)?;
            value = match op {
                '*' => value.checked_mul(right)?,
                '/' => value.checked_div(right)?,
                _ => value.checked_rem(right)?,
            };
        }
        Some(value)
    }

    fn operand(&self, rest: &mut &str) -> Option<u32> {
        if operator(rest, "(").is_some() {
            let value = self.sum(rest);
            return operator(rest, ")").and(value);
        }
        let text = rest.trim_start();
        let (word, after) = text.split_at(text.find(|c| !word(c)).unwrap_or(text.len()));
        *rest = after;
        self.0.get(word).copied().or_else(|| word.strip_suffix('u')?.parse().ok())
    }
}

fn operator(rest: &mut &str, any: &str) -> Option<char> {
    let text = rest.trim_start();
    let op = text.chars().next().filter(|c| any.contains(*c))?;
    *rest = &text[1..];
    Some(op)
}

fn word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn write_out(lines: &[&str], constants: &Constants<'_>, out: &mut String) {
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
            let value = format!("{value}u");
            let body: Vec<String> =
                after[..len].iter().map(|l| replace(l, name, |rest| (value.clone(), rest))).collect();
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
fn header<'a>(line: &'a str, constants: &Constants<'_>) -> Option<(&'a str, u32)> {
    let line = line.trim().strip_prefix("for (var ")?.strip_suffix("++) { // unroll")?;
    let (name, line) = line.split_once(" = 0u; ")?;
    let bound = line.strip_prefix(name)?.strip_prefix(" < ")?.strip_suffix(name)?.strip_suffix("; ")?;
    Some((name, constants.value(bound)?))
}

/// `text` with each whole word `name` as what `by` makes of the text behind it: the replacement, and what is left.
fn replace<'a>(text: &'a str, name: &str, by: impl Fn(&'a str) -> (String, &'a str)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let before = rest[..at].chars().next_back().or_else(|| out.chars().next_back());
        let after = &rest[at + name.len()..];
        out.push_str(&rest[..at]);
        if before.is_some_and(|c| word(c) || c == '.') || after.starts_with(word) {
            out.push_str(name);
            rest = after;
        } else {
            let (replacement, left) = by(after);
            out.push_str(&replacement);
            rest = left;
        }
    }
    out.push_str(rest);
    out
}

/// Replaces arrays by variables: `x[2u]` becomes `x_2`.
fn name_elements(source: &str, constants: &Constants<'_>) -> String {
    let mut text = source.to_owned();
    let mut names: Vec<&str> = Vec::new();
    for (name, ..) in source.lines().filter_map(|line| array(line, constants)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        let element = |after: &str| {
            let inside = after.strip_prefix('[')?;
            let len = closing(inside)?;
            Some((constants.value(&inside[..len])?, len + 2))
        };
        let mut constant = true;
        let lines: Vec<String> = text
            .lines()
            .map(|line| match array(line, constants).filter(|(array, ..)| *array == name) {
                Some((_, count, element)) => (0..count).map(|i| format!("var {name}_{i}{element};")).collect(),
                None => {
                    let uses = std::cell::Cell::new(true);
                    let line = replace(line, name, |after| match element(after) {
                        Some((index, len)) => (format!("{name}_{index}"), &after[len..]),
                        None => {
                            uses.set(false);
                            (name.to_owned(), after)
                        }
                    });
                    constant &= uses.get();
                    line
                }
            })
            .collect();
        if constant {
            text = lines.join("\n");
        }
    }
    text
}

/// Name, length and the element's declaration of a line that declares an array.
fn array<'a>(line: &'a str, constants: &Constants<'_>) -> Option<(&'a str, u32, String)> {
    let (name, rest) = line.trim().strip_prefix("var ")?.split_once(|c| !word(c))?;
    let (types, zeros) = match rest.strip_prefix("= array<") {
        Some(rest) => (rest.strip_suffix(">();")?, true),
        None => (rest.trim_start().strip_prefix("array<")?.strip_suffix(">;")?, false),
    };
    let (of, count) = types.rsplit_once(", ")?;
    let element = if zeros { format!(" = {of}()") } else { format!(": {of}") };
    Some((name, constants.value(count)?, element))
}

/// Where the bracket closes that was opened before `text`.
fn closing(text: &str) -> Option<usize> {
    let mut open = 1;
    text.char_indices().find_map(|(at, c)| {
        open += i32::from(c == '[') - i32::from(c == ']');
        (open == 0).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::{Constants, unroll};

    #[test]
    fn writes_out_marked_loops_and_no_other() {
        let source = "const N = 2u;\nfor (var i = 0u; i < N; i++) { // unroll\n    for (var j = 0u; j < N / 1u; j++) { // unroll\n        x[i * N + j] = y.i + bi;\n    }\n}\nfor (var i = 0u; i < N; i++) {\n}\n";
        let out = unroll(source);
        let statements: Vec<_> = out.lines().map(str::trim).filter(|l| l.contains('[')).collect();
        let wanted = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| format!("x[{i}u * N + {j}u] = y.i + bi;"));
        assert_eq!(statements, wanted);
        assert!(out.ends_with("for (var i = 0u; i < N; i++) {\n}\n"));
    }

    #[test]
    fn names_the_elements_of_arrays_with_constant_indices_and_of_no_other() {
        let source = "const N = 2u;\nvar x: array<vec4<f32>, N>;\nvar y = array<f32, 1u + 1u>();\nvar z: array<f32, 2u>;\nx[(0u + 1u) * N - 1u][q] = y[0u] + max[1u] + z[t] + x[0u].y;\nz[0u] = 1.0;";
        let wanted = "const N = 2u;\nvar x_0: vec4<f32>;var x_1: vec4<f32>;\nvar y_0 = f32();var y_1 = f32();\nvar z: array<f32, 2u>;\nx_1[q] = y_0 + max[1u] + z[t] + x_0.y;\nz[0u] = 1.0;";
        assert_eq!(unroll(source), wanted);
    }

    #[test]
    fn computes_constants() {
        let constants = Constants::of("const A = 128u;\nconst B = A / (4u * 2u) % 5u;\nconst C = -3e38;\n");
        assert_eq!(constants.value("B + A - 1u"), Some(128));
        assert_eq!(constants.value("C"), None);
        assert_eq!(constants.value("B - A"), None);
        assert_eq!(constants.value("(A"), None);
        assert_eq!(constants.value("A B"), None);
    }
}
