//! What a check of one file found.

use std::fmt::{self, Display};

/// The cases of one file.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// How many came out as the file says.
    pub passed: usize,
    /// How many our code has no part for.
    pub skipped: usize,
    /// One line for each of the others.
    pub failures: Vec<String>,
}

impl Tally {
    /// Counts one case that has an expected result.
    pub fn compare<T: PartialEq + Display>(&mut self, case: &str, got: &T, want: &T) {
        if got == want {
            self.passed += 1;
        } else {
            self.failures
                .push(format!("{case}: got {got}, want {want}"));
        }
    }
}

/// A file that is not what its name says.
#[derive(Debug)]
pub struct BadFile(pub String);

impl BadFile {
    /// The same complaint from another library.
    pub fn new(error: impl Display) -> Self {
        Self(error.to_string())
    }
}

impl Display for BadFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The lines of a tab-separated file that hold a case, each with its columns.
///
/// A line with fewer than `columns` columns makes the file a bad one.
pub fn rows(text: &str, columns: usize) -> Result<Vec<Vec<&str>>, BadFile> {
    let mut rows = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        let row: Vec<&str> = line.split('\t').collect();
        if row.len() < columns {
            let (number, given) = (number + 1, row.len());
            return Err(BadFile(format!(
                "line {number} has {given} columns of {columns}"
            )));
        }
        rows.push(row);
    }
    Ok(rows)
}
