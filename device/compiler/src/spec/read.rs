//! Reads TOML values with their spans and collects what is wrong with them.

use std::ops::Range;

use toml::de::{DeArray, DeTable, DeValue};

use crate::diagnostic::{Diagnostic, nearest};

use super::Spanned;

/// Codes of complaints about the text itself. Stable; a code is never given to another complaint.
pub(super) mod code {
    pub const SYNTAX: &str = "K0001";
    pub const UNKNOWN_KEY: &str = "K0101";
    pub const WRONG_TYPE: &str = "K0102";
    pub const MISSING: &str = "K0103";
    pub const BAD_NAME: &str = "K0104";
    pub const DUPLICATE_NAME: &str = "K0105";
    pub const UNKNOWN_CHOICE: &str = "K0106";
    pub const OUT_OF_RANGE: &str = "K0107";
    pub const TOO_LARGE: &str = "K0108";
    pub const WRONG_RANK: &str = "K0109";
    pub const UNKNOWN_VALUE: &str = "K0201";
    pub const SHAPE_MISMATCH: &str = "K0202";
    pub const ODD_HEAD: &str = "K0203";
    pub const UNUSED: &str = "K0204";
    pub const OP_COUNT: &str = "K0205";
    pub const OUTPUT: &str = "K0206";

    /// Complaints that a line the parser could not read may be the cause of.
    pub const CONSEQUENCES: [&str; 5] = [MISSING, UNKNOWN_VALUE, UNUSED, OP_COUNT, OUTPUT];
}

/// Keys that will mean something one day, and what.
const PLANNED: [(&str, &str); 12] = [
    ("causal", "causal attention"),
    ("mask", "masked attention"),
    ("left", "matrix products"),
    ("right", "matrix products"),
    ("bias", "matrix products"),
    ("weight", "weights in the bundle"),
    ("file", "weights in the bundle"),
    ("tensor", "weights in the bundle"),
    ("stream", "streamed weights"),
    ("repeat", "repeated layers"),
    ("times", "repeated layers"),
    ("cards", "several cards"),
];

/// The complaints found so far, and the text they are about.
pub(super) struct Faults<'t> {
    text: &'t str,
    /// In the order they were found.
    pub list: Vec<Diagnostic>,
}

impl<'t> Faults<'t> {
    pub fn new(text: &'t str) -> Self {
        Self {
            text,
            list: Vec::new(),
        }
    }

    /// Adds a complaint.
    pub fn add(
        &mut self,
        code: &'static str,
        span: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let (message, help) = (message.into(), help.into());
        self.list.push(Diagnostic {
            code,
            message,
            span: span.clone(),
            help,
        });
    }

    /// The line a place is on, counted from 1.
    pub fn line(&self, span: &Range<usize>) -> usize {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }

    fn wrong_type(&mut self, entry: &Entry, wanted: &str, example: &str) {
        let found = kind(entry.value);
        let message = format!("{} is {found}; it must be {wanted}", entry.key);
        self.add(
            code::WRONG_TYPE,
            &entry.span,
            message,
            format!("write it like `{example}`"),
        );
    }
}

/// What a person calls the type of a value.
fn kind(value: &DeValue) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

/// A key with its value.
#[derive(Clone)]
pub(super) struct Entry<'a> {
    pub key: String,
    pub key_span: Range<usize>,
    pub value: &'a DeValue<'a>,
    pub span: Range<usize>,
}

impl<'a> Entry<'a> {
    /// An element of an array, under a name of its own.
    pub fn element(key: String, array: &'a DeArray<'a>, index: usize) -> Option<Self> {
        let item = array.get(index)?;
        Some(Self {
            key,
            key_span: item.span(),
            value: item.get_ref(),
            span: item.span(),
        })
    }

    pub fn text(&self, faults: &mut Faults, example: &str) -> Option<Spanned<String>> {
        match self.value {
            DeValue::String(text) => Some(Spanned {
                value: text.clone().into_owned(),
                span: self.span.clone(),
            }),
            _ => {
                faults.wrong_type(self, "a string", example);
                None
            }
        }
    }

    /// A whole number between the bounds, both included.
    pub fn whole(&self, faults: &mut Faults, bounds: (u64, u64), example: &str) -> Option<u64> {
        let DeValue::Integer(digits) = self.value else {
            faults.wrong_type(self, "a whole number", example);
            return None;
        };
        let value = i128::from_str_radix(digits.as_str(), digits.radix()).unwrap_or(i128::MAX);
        let (least, most) = bounds;
        if value < i128::from(least) {
            let message = format!("{} is {value}; it must be at least {least}", self.key);
            let help = format!("write {least} or more");
            faults.add(code::OUT_OF_RANGE, &self.span, message, help);
            return None;
        }
        if value > i128::from(most) {
            let message = format!("{} is {digits}; it must be at most {most}", self.key);
            let help = format!("write {most} or less");
            faults.add(code::TOO_LARGE, &self.span, message, help);
            return None;
        }
        u64::try_from(value).ok()
    }

    /// A number, whole or not, that is finite.
    pub fn number(&self, faults: &mut Faults, example: &str) -> Option<f64> {
        let value: f64 = match self.value {
            DeValue::Float(digits) => digits.as_str().parse().unwrap_or(f64::INFINITY),
            DeValue::Integer(digits) => {
                let whole = i128::from_str_radix(digits.as_str(), digits.radix());
                // Beyond 2^53 a double rounds; no key of the file has a use for such digits.
                whole.map_or(f64::INFINITY, |whole| whole as f64)
            }
            _ => {
                faults.wrong_type(self, "a number", example);
                return None;
            }
        };
        if !value.is_finite() {
            let message = format!("{} is {value}; it must be finite", self.key);
            faults.add(
                code::OUT_OF_RANGE,
                &self.span,
                message,
                format!("write it like `{example}`"),
            );
            return None;
        }
        Some(value)
    }

    /// A number above zero.
    pub fn positive(&self, faults: &mut Faults, example: &str) -> Option<f64> {
        let value = self.number(faults, example)?;
        if value > 0.0 {
            return Some(value);
        }
        let message = format!("{} is {value}; it must be above 0", self.key);
        faults.add(
            code::OUT_OF_RANGE,
            &self.span,
            message,
            format!("write it like `{example}`"),
        );
        None
    }

    /// One of a few names.
    pub fn choice<T: Copy>(&self, faults: &mut Faults, choices: &[(&str, T)]) -> Option<T> {
        self.choice_or(faults, choices, "")
    }

    /// One of a few names; `or` says what else than a name would do.
    pub fn choice_or<T: Copy>(
        &self,
        faults: &mut Faults,
        choices: &[(&str, T)],
        or: &str,
    ) -> Option<T> {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let text = self.text(faults, &format!("{} = \"{}\"", self.key, names[0]))?;
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == text.value) {
            return Some(*choice);
        }
        let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        let listed = quoted.join(" or ") + or;
        let message = format!("{} is \"{}\"; it must be {listed}", self.key, text.value);
        let help = match nearest(&text.value, &names) {
            Some(name) => format!("did you mean \"{name}\"?"),
            None => format!("write {listed}; nothing else is supported yet"),
        };
        faults.add(code::UNKNOWN_CHOICE, &text.span, message, help);
        None
    }

    pub fn table(&self, faults: &mut Faults, example: &str) -> Option<Section<'a>> {
        let DeValue::Table(table) = self.value else {
            faults.wrong_type(self, "a table", example);
            return None;
        };
        Some(Section::new(self.key.clone(), self.key_span.clone(), table))
    }

    pub fn array(&self, faults: &mut Faults, example: &str) -> Option<&'a DeArray<'a>> {
        let DeValue::Array(array) = self.value else {
            faults.wrong_type(self, "an array", example);
            return None;
        };
        Some(array)
    }
}

/// A table from which keys are taken; what is left at the end is unknown.
pub(super) struct Section<'a> {
    /// What a person calls it.
    pub name: String,
    /// Where its name stands.
    pub span: Range<usize>,
    /// What has not been taken, in file order.
    pub entries: Vec<Entry<'a>>,
    known: Vec<&'static str>,
}

impl<'a> Section<'a> {
    pub fn new(name: String, span: Range<usize>, table: &'a DeTable<'a>) -> Self {
        let entry = |(key, value): (&'a toml::Spanned<_>, &'a toml::Spanned<DeValue<'a>>)| Entry {
            key: AsRef::<std::borrow::Cow<str>>::as_ref(key)
                .clone()
                .into_owned(),
            key_span: key.span(),
            value: value.get_ref(),
            span: value.span(),
        };
        let mut entries: Vec<Entry> = table.iter().map(entry).collect();
        // The map sorts by name; order in the file is the order of execution.
        entries.sort_by_key(|entry| entry.key_span.start);
        Self {
            name,
            span,
            entries,
            known: Vec::new(),
        }
    }

    /// Takes a key that may be left out.
    pub fn optional(&mut self, key: &'static str) -> Option<Entry<'a>> {
        self.known.push(key);
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(index))
    }

    /// Takes a key that must be there.
    pub fn required(
        &mut self,
        key: &'static str,
        faults: &mut Faults,
        example: &str,
    ) -> Option<Entry<'a>> {
        let entry = self.optional(key);
        if entry.is_none() {
            let message = format!("{} has no {key}", self.name);
            faults.add(
                code::MISSING,
                &self.span,
                message,
                format!("add `{example}`"),
            );
        }
        entry
    }

    /// Complains about every key that nobody took.
    pub fn finish(self, faults: &mut Faults) {
        for entry in &self.entries {
            let message = format!("{} is not a key of {}", entry.key, self.name);
            let planned = PLANNED.iter().find(|(key, _)| *key == entry.key);
            let help = match (planned, nearest(&entry.key, &self.known)) {
                (Some((_, what)), _) => {
                    format!("planned, for {what}; it is not accepted before it works")
                }
                (None, Some(known)) => format!("did you mean {known}?"),
                (None, None) => format!("the keys are {}", self.known.join(", ")),
            };
            faults.add(code::UNKNOWN_KEY, &entry.key_span, message, help);
        }
    }
}

/// The tables of a text, and what its grammar complains about.
pub(super) fn document<'t>(text: &'t str, faults: &mut Faults<'t>) -> DeTable<'t> {
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        let help = "graph.toml is TOML: `key = value` lines under `[section]` lines, each key once";
        faults.add(code::SYNTAX, &span, error.message(), help);
    }
    table.into_inner()
}
