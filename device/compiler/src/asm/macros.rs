//! Macros: parameters, arguments, substitution.

use std::rc::Rc;

use super::error::{Fault, Kind};
use super::split::{Piece, PieceKind, Place, is_name_byte, leading_name, split_expansion};

/// A parameter of a macro.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Parameter {
    name: String,
    default: String,
    required: bool,
    /// Takes the rest of the call, commas included.
    rest: bool,
}

/// A macro's head and body.
#[derive(Clone, Debug)]
pub(super) struct Macro {
    pub(super) name: String,
    /// The line of its definition.
    pub(super) line: u32,
    parameters: Vec<Parameter>,
    body: Rc<[Piece]>,
}

/// Reads what follows `.macro`: a name, then parameters apart by commas or blanks.
pub(super) fn head(text: &str, body: Rc<[Piece]>, line: u32) -> Result<Macro, Fault> {
    let name = leading_name(text.trim_start());
    if name.is_empty() {
        let found = if text.trim().is_empty() {
            "the end of the statement"
        } else {
            text.trim()
        };
        return Err(Fault::here(Kind::Expected {
            expected: "the name of a macro",
            found: found.to_owned(),
        }));
    }
    let mut rest = text.trim_start()[name.len()..].trim_start();
    let mut parameters = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
        if rest.is_empty() {
            break;
        }
        let (parameter, after) = parameter(rest)?;
        parameters.push(parameter);
        rest = after;
    }
    Ok(Macro {
        name: name.to_owned(),
        line,
        parameters,
        body,
    })
}

/// One parameter: `name`, `name=default`, `name:req` or `name:vararg`.
fn parameter(text: &str) -> Result<(Parameter, &str), Fault> {
    let name = leading_name(text);
    if name.is_empty() {
        return Err(Fault::here(Kind::Expected {
            expected: "the name of a parameter",
            found: text.to_owned(),
        }));
    }
    let mut parameter = Parameter {
        name: name.to_owned(),
        default: String::new(),
        required: false,
        rest: false,
    };
    let mut rest = &text[name.len()..];
    if let Some(after) = rest.strip_prefix(':') {
        let qualifier = leading_name(after);
        match qualifier {
            "req" => parameter.required = true,
            "vararg" => parameter.rest = true,
            _ => {
                return Err(Fault::here(Kind::Expected {
                    expected: "req or vararg",
                    found: qualifier.to_owned(),
                }));
            }
        }
        rest = &after[qualifier.len()..];
    }
    if let Some(after) = rest.trim_start().strip_prefix('=') {
        let (default, end) = argument(after.trim_start());
        parameter.default = default;
        rest = &after.trim_start()[end..];
    }
    Ok((parameter, rest))
}

/// Reads one argument, up to a comma or a blank that does not sit next to an operator.
///
/// Returns its value, quotes removed, and where it ends. A quoted argument may hold anything.
fn argument(text: &str) -> (String, usize) {
    let bytes = text.as_bytes();
    if let Some(end) = quoted_end(bytes)
        && bytes
            .get(end)
            .is_none_or(|byte| *byte == b',' || byte.is_ascii_whitespace())
    {
        return (text[1..end - 1].to_owned(), end);
    }
    let (mut at, mut depth) = (0, 0usize);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'"' => at = at + quoted_end(&bytes[at..]).unwrap_or(1) - 1,
            b',' if depth == 0 => break,
            _ if byte.is_ascii_whitespace() && depth == 0 && separates(text, at) => break,
            _ => {}
        }
        at += 1;
    }
    (text[..at].trim_end().to_owned(), at)
}

/// Where the string that starts `bytes` ends.
fn quoted_end(bytes: &[u8]) -> Option<usize> {
    if bytes.first() != Some(&b'"') {
        return None;
    }
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// Whether the blank at `at` ends an argument: not beside an operator, nor before a comma.
fn separates(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end().bytes().last();
    let after = text[at..].trim_start().bytes().next();
    let operator = |byte: Option<u8>, all: &[u8]| byte.is_some_and(|byte| all.contains(&byte));
    !operator(before, b"+-*/%&|^<>=~!") && !operator(after, b"+-*/%&|^<>=,")
}

impl Macro {
    /// The values of the parameters for a call with `text` behind the macro's name.
    fn bind(&self, text: &str) -> Result<Vec<String>, Kind> {
        let mut values: Vec<Option<String>> = vec![None; self.parameters.len()];
        let (mut rest, mut position) = (text.trim(), 0);
        while !rest.is_empty() {
            if let Some((index, after)) = self.keyword(rest) {
                let (value, end) = argument(after);
                values[index] = Some(value);
                rest = &after[end..];
            } else {
                match self.parameters.get(position) {
                    None => return Err(self.too_many(text)),
                    Some(parameter) if parameter.rest => {
                        values[position] = Some(rest.to_owned());
                        break;
                    }
                    Some(_) => {
                        let (value, end) = argument(rest);
                        let quoted = rest.starts_with('"');
                        values[position] = Some(value).filter(|v| quoted || !v.is_empty());
                        rest = &rest[end..];
                    }
                }
                position += 1;
            }
            rest = rest.trim_start();
            rest = rest.strip_prefix(',').map_or(rest, str::trim_start);
        }
        let fill = |(value, parameter): (Option<String>, &Parameter)| match value {
            Some(value) => Ok(value),
            None if parameter.required => Err(Kind::MissingArgument {
                name: self.name.clone(),
                parameter: parameter.name.clone(),
            }),
            None => Ok(parameter.default.clone()),
        };
        values.into_iter().zip(&self.parameters).map(fill).collect()
    }

    /// `name=value` for one of the parameters: its index and the text behind the `=`.
    fn keyword<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        let name = leading_name(text);
        let after = text[name.len()..].trim_start().strip_prefix('=')?;
        if after.starts_with('=') {
            return None;
        }
        let index = self
            .parameters
            .iter()
            .position(|parameter| parameter.name == name)?;
        Some((index, after.trim_start()))
    }

    fn too_many(&self, text: &str) -> Kind {
        let (mut rest, mut given) = (text.trim(), 0);
        while !rest.is_empty() {
            let (_, end) = argument(rest);
            given += 1;
            let after = rest[end..].trim_start();
            rest = after.strip_prefix(',').unwrap_or(after).trim_start();
            if end == 0 && after.len() == rest.len() {
                break;
            }
        }
        Kind::TooManyArguments {
            name: self.name.clone(),
            takes: self.parameters.len(),
            given,
        }
    }

    /// The body for a call with `text` behind the macro's name; `count` is what `\@` stands for.
    pub(super) fn expand(&self, text: &str, count: usize) -> Result<Rc<[Piece]>, Expansion> {
        let values = self.bind(text).map_err(Expansion::Call)?;
        let mut pieces = Vec::with_capacity(self.body.len());
        for piece in self.body.iter() {
            if piece.kind != PieceKind::Text || !piece.text.contains('\\') {
                pieces.push(piece.clone());
                continue;
            }
            let (text, columns) = self.substitute(piece, &values, count);
            let split = split_expansion(&text, piece.place, &columns);
            pieces.extend(split.map_err(|(place, fault)| Expansion::Body(place, fault))?);
        }
        Ok(pieces.into())
    }

    /// Replaces `\name`, `\@` and `\()`; also gives the column each byte came from.
    fn substitute(&self, piece: &Piece, values: &[String], count: usize) -> (String, Vec<u32>) {
        let (mut out, mut columns) = (String::new(), Vec::new());
        let text: &str = &piece.text;
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let column = piece.place_of(at).column;
            let (replacement, length) = match rest.strip_prefix('\\') {
                Some(after) => self
                    .replacement(after, values, count)
                    .map_or_else(|| ("\\".to_owned(), 1), |(text, length)| (text, length + 1)),
                None => {
                    let length = rest.find('\\').unwrap_or(rest.len());
                    let plain = &rest[..length];
                    columns.extend((at..at + length).map(|byte| piece.place_of(byte).column));
                    out.push_str(plain);
                    at += length;
                    continue;
                }
            };
            columns.extend(std::iter::repeat_n(column, replacement.len()));
            out.push_str(&replacement);
            at += length;
        }
        (out, columns)
    }

    /// What stands for the text behind a backslash, and how many bytes of it that takes.
    fn replacement(&self, after: &str, values: &[String], count: usize) -> Option<(String, usize)> {
        if after.starts_with("()") {
            return Some((String::new(), 2));
        }
        if after.starts_with('@') {
            return Some((count.to_string(), 1));
        }
        let longest = after.bytes().take_while(|byte| is_name_byte(*byte)).count();
        (1..=longest).rev().find_map(|length| {
            // Only a whole name, or one that a `.` or `$` ends.
            let ends = length == longest || matches!(after.as_bytes()[length], b'.' | b'$');
            let name = &after[..length];
            let index = self
                .parameters
                .iter()
                .position(|parameter| parameter.name == name)?;
            ends.then(|| (values[index].clone(), length))
        })
    }
}

/// Why a macro cannot be expanded: its call is wrong, or what its body becomes.
#[derive(Debug)]
pub(super) enum Expansion {
    /// The call.
    Call(Kind),
    /// A place in the body.
    Body(Place, Fault),
}

#[cfg(test)]
mod tests {
    use super::super::split::{Files, split_file};
    use super::*;

    fn expand(parameters: &str, body: &str, call: &str) -> String {
        let mut files = Files::default();
        let body = split_file("t.s", body, &mut files).expect("splits");
        let definition = head(parameters, body.into(), 1).expect("a macro");
        match definition.expand(call, 7) {
            Ok(pieces) => pieces
                .iter()
                .map(|p| p.text.to_string())
                .collect::<Vec<_>>()
                .join(" | "),
            Err(Expansion::Call(kind)) => kind.to_string(),
            Err(Expansion::Body(_, fault)) => fault.kind.to_string(),
        }
    }

    #[test]
    fn arguments_are_apart_by_commas_or_blanks() {
        assert_eq!(expand("m a b", r"\a,\b", "$m4 $m5"), "$m4,$m5");
        assert_eq!(expand("m a, b", r"\a,\b", "$m4, $m5"), "$m4,$m5");
        assert_eq!(expand("m a b", r"\a;\b", "x + 1 (2, 3)"), "x + 1 | (2, 3)");
        assert_eq!(expand("m a b c", r"\a-\b-\c", r#"8 "" NONE"#), "8--NONE");
    }

    #[test]
    fn defaults_fill_what_a_call_leaves_out() {
        assert_eq!(
            expand(r#"m a ALIGNMENT=4 OP="""#, r"\a \ALIGNMENT [\OP]", "x"),
            "x 4 []"
        );
        assert_eq!(expand("m a=1, b=2", r"\a \b", ", 5"), "1 5");
        assert_eq!(expand("m a=1, b=2", r"\a \b", "b=7"), "1 7");
    }

    #[test]
    fn separator_counter_and_rest() {
        assert_eq!(
            expand("m T N", r"\T\()_\N\@ \T.x", "half, 2"),
            "half_27 half.x"
        );
        assert_eq!(
            expand("m a r:vararg", r"\a [\r]", "1, 2, 3 4"),
            "1 [2, 3 4]"
        );
        assert_eq!(expand("m a", r"\a", r#""nop; nop""#), "nop | nop");
        assert_eq!(expand("m a", r"\b \ab", "1"), r"\b \ab");
    }

    #[test]
    fn a_call_with_too_many_or_too_few_arguments_is_refused() {
        assert_eq!(expand("m a", "", "1, 2, 3"), "m takes 1 arguments, not 3");
        assert_eq!(expand("m a:req", "", ""), r"m needs a value for \a");
    }
}
