//! `.if` and its relatives.

use super::driver::Assembler;
use super::error::{Fault, Kind};
use super::expr::Cursor;
use super::split::{Piece, Place, leading_name};
use super::symbols::Meaning;

/// A conditional that is open.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    /// Whether statements count here.
    pub(super) active: bool,
    /// Whether a branch has been taken, or none ever will be.
    done: bool,
    /// Whether `.else` has been seen.
    last: bool,
    pub(super) place: Place,
}

impl Assembler {
    /// Handles the directive `word` if it is a conditional; `after` is the byte behind it.
    pub(super) fn conditional(
        &mut self,
        word: &str,
        piece: &Piece,
        after: usize,
    ) -> Result<bool, Fault> {
        match word {
            ".if" | ".ifne" | ".ifeq" | ".ifgt" | ".ifge" | ".iflt" | ".ifle" | ".ifdef"
            | ".ifndef" | ".ifnotdef" | ".ifc" | ".ifnc" | ".ifb" | ".ifnb" => {
                let active = self
                    .conditions
                    .last()
                    .is_none_or(|condition| condition.active);
                let place = piece.place;
                self.conditions.push(Condition {
                    active: false,
                    done: true,
                    last: false,
                    place,
                });
                if active {
                    // A condition that makes no sense counts as false, and is complained about.
                    let holds = self.holds(word, piece, after);
                    if let Some(condition) = self.conditions.last_mut() {
                        condition.active = matches!(holds, Ok(true));
                        condition.done = !matches!(holds, Ok(false));
                    }
                    holds?;
                }
            }
            ".elseif" => {
                let condition = self.open_condition(".elseif")?;
                let done = condition.done;
                condition.done = true;
                condition.active = false;
                if !done {
                    let holds = self.holds(".if", piece, after)?;
                    let condition = self.open_condition(".elseif")?;
                    condition.active = holds;
                    condition.done = holds;
                }
            }
            ".else" => {
                let condition = self.open_condition(".else")?;
                condition.active = !condition.done;
                condition.done = true;
                condition.last = true;
            }
            ".endif" => {
                if self.open_conditions() == 0 {
                    return Err(Fault::here(Kind::WithoutIf(".endif")));
                }
                self.conditions.pop();
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The innermost conditional, which must not have had its `.else`.
    fn open_condition(&mut self, word: &'static str) -> Result<&mut Condition, Fault> {
        let open = self.open_conditions() > 0;
        let condition = self
            .conditions
            .last_mut()
            .filter(|condition| open && !condition.last);
        condition.ok_or_else(|| Fault::here(Kind::WithoutIf(word)))
    }

    /// Whether the condition behind `word` holds.
    fn holds(&mut self, word: &str, piece: &Piece, after: usize) -> Result<bool, Fault> {
        let text = piece.text[after..].trim();
        match word {
            ".ifdef" => return self.is_defined(text),
            ".ifndef" | ".ifnotdef" => return self.is_defined(text).map(|defined| !defined),
            ".ifc" => return same_text(text),
            ".ifnc" => return same_text(text).map(|same| !same),
            ".ifb" => return Ok(text.is_empty() || text == "\"\""),
            ".ifnb" => return Ok(!(text.is_empty() || text == "\"\"")),
            _ => {}
        }
        let tokens = self.tokens(piece, after)?;
        let mut cursor = Cursor::new(&tokens, piece, self.sections.here(), piece.text.len());
        let at = cursor.offset();
        let expression = cursor.expression(&mut self.symbols)?;
        cursor.end()?;
        let value = expression
            .constant(&self.symbols)
            .map_err(|kind| Fault::at(at, kind))?;
        Ok(match word {
            ".ifeq" => value == 0,
            ".ifgt" => value > 0,
            ".ifge" => value >= 0,
            ".iflt" => value < 0,
            ".ifle" => value <= 0,
            _ => value != 0,
        })
    }

    fn is_defined(&self, name: &str) -> Result<bool, Fault> {
        if name.is_empty() || leading_name(name) != name {
            let found = if name.is_empty() {
                "the end of the statement"
            } else {
                name
            };
            return Err(Fault::here(Kind::Expected {
                expected: "a symbol",
                found: found.to_owned(),
            }));
        }
        let symbol = self
            .symbols
            .find(name)
            .map(|id| &self.symbols.get(id).meaning);
        Ok(symbol.is_some_and(|meaning| !matches!(meaning, Meaning::Unknown)))
    }
}

/// Whether the two texts around the comma are the same, quotes and outer blanks apart.
fn same_text(text: &str) -> Result<bool, Fault> {
    let (left, right) = at_comma(text).ok_or_else(|| {
        Fault::here(Kind::Expected {
            expected: "two texts and a comma",
            found: text.to_owned(),
        })
    })?;
    Ok(bare(left) == bare(right))
}

/// Splits at the first comma outside quotes.
fn at_comma(text: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    let comma = text.bytes().position(|byte| {
        quoted ^= byte == b'"';
        byte == b',' && !quoted
    })?;
    Some((&text[..comma], &text[comma + 1..]))
}

fn bare(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('"')
        .and_then(|inner| inner.strip_suffix('"'))
        .unwrap_or(text)
        .trim()
}
