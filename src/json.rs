//! JSON, written only: what `--json` prints.

use std::fmt::{self, Write as _};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(u64),
    /// A number; `null` when it is not finite, which JSON cannot say.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Self>),
    /// Keys and values in order.
    Object(Vec<(String, Self)>),
}

impl Json {
    /// An object of `fields`.
    pub fn object<K: Into<String>>(fields: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Object(
            fields
                .into_iter()
                .map(|(key, value)| (key.into(), value))
                .collect(),
        )
    }

    /// A list of `items`.
    pub fn list<T: Into<Self>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Number(value) if value.is_finite() => write!(f, "{value:?}"),
            Self::Number(_) => f.write_str("null"),
            Self::Text(text) => write_text(f, text),
            Self::List(items) => write_all(f, depth, ['[', ']'], items, |item, f| {
                item.write(f, depth + 1)
            }),
            Self::Object(fields) => write_all(f, depth, ['{', '}'], fields, |(key, value), f| {
                write_text(f, key)?;
                f.write_str(": ")?;
                value.write(f, depth + 1)
            }),
        }
    }
}

fn write_all<T>(
    f: &mut fmt::Formatter<'_>,
    depth: usize,
    brackets: [char; 2],
    items: &[T],
    mut write: impl FnMut(&T, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    f.write_char(brackets[0])?;
    for (index, item) in items.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(f, "{comma}\n{:1$}", "", 2 * depth + 2)?;
        write(item, f)?;
    }
    if !items.is_empty() {
        write!(f, "\n{:1$}", "", 2 * depth)?;
    }
    f.write_char(brackets[1])
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' | '\\' => write!(f, "\\{character}")?,
            '\n' => f.write_str("\\n")?,
            control if control < ' ' => write!(f, "\\u{:04x}", u32::from(control))?,
            other => f.write_char(other)?,
        }
    }
    f.write_char('"')
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u32> for Json {
    fn from(value: u32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        Self::Integer(value)
    }
}

impl From<usize> for Json {
    fn from(value: usize) -> Self {
        Self::Integer(value as u64)
    }
}

impl From<f64> for Json {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<&str> for Json {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Json {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn every_kind_of_value_is_written_as_json_has_it() {
        let json = Json::object([
            ("text", "a \"b\"\\\n\u{1}é".into()),
            ("small", 8.05e-5.into()),
            ("none", f64::NAN.into()),
            ("whole", 3u32.into()),
            ("list", Json::list([true, false])),
            ("empty", Json::object::<String>([])),
        ]);
        expect![[r#"
            {
              "text": "a \"b\"\\\n\u0001é",
              "small": 8.05e-5,
              "none": null,
              "whole": 3,
              "list": [
                true,
                false
              ],
              "empty": {}
            }"#]]
        .assert_eq(&json.to_string());
    }
}
