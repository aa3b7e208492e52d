//! The names of a source and what they stand for.

use std::collections::BTreeMap;

use super::error::Kind;
use super::expr::Expr;
use super::split::Place;
use crate::object::{Binding, SymbolKind};

/// Index of a symbol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct SymbolId(usize);

impl SymbolId {
    /// Its place in order of appearance.
    pub(super) const fn index(self) -> usize {
        self.0
    }
}

/// What a symbol stands for.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    /// Nothing yet; another object's, if it stays so.
    Unknown,
    /// A place in a section.
    Label {
        /// Index of the section.
        section: usize,
        /// Bytes from its start.
        offset: u32,
    },
    /// A value given by `.set`.
    Value(Expr),
}

/// One symbol.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) meaning: Meaning,
    pub(super) binding: Option<Binding>,
    pub(super) kind: SymbolKind,
    pub(super) size: Option<Expr>,
    /// Whether the name was referred to in an expression or declared external.
    pub(super) used: bool,
    /// Where it was first seen, then where it was defined.
    pub(super) place: Place,
    /// A numeric label, and which way the reference looked.
    pub(super) local: Option<u64>,
}

impl Entry {
    /// Whether the name stays out of the object's symbol table.
    pub(super) fn is_private(&self) -> bool {
        self.local.is_some() || (self.name.starts_with(".L") && self.binding.is_none())
    }
}

/// All symbols of a source, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    entries: Vec<Entry>,
    names: BTreeMap<String, SymbolId>,
    /// For each numeric label, the last definition and a reference that waits for the next one.
    numeric: BTreeMap<u64, (Option<SymbolId>, Option<SymbolId>)>,
}

impl Symbols {
    /// The symbol of that name, made when it is new.
    pub(super) fn named(&mut self, name: &str, place: Place) -> SymbolId {
        if let Some(id) = self.names.get(name) {
            return *id;
        }
        let id = self.add(name.to_owned(), place, None);
        self.names.insert(name.to_owned(), id);
        id
    }

    /// The symbol of that name, if there is one.
    pub(super) fn find(&self, name: &str) -> Option<SymbolId> {
        self.names.get(name).copied()
    }

    fn add(&mut self, name: String, place: Place, local: Option<u64>) -> SymbolId {
        self.entries.push(Entry {
            name,
            meaning: Meaning::Unknown,
            binding: None,
            kind: SymbolKind::None,
            size: None,
            used: false,
            place,
            local,
        });
        SymbolId(self.entries.len() - 1)
    }

    /// The numeric label last defined.
    pub(super) fn backward(&self, number: u64) -> Result<SymbolId, Kind> {
        let last = self.numeric.get(&number).and_then(|(last, _)| *last);
        last.ok_or(Kind::NoLocalLabel {
            number,
            direction: "before",
        })
    }

    /// The numeric label that will be defined next.
    pub(super) fn forward(&mut self, number: u64, place: Place) -> SymbolId {
        if let Some((_, Some(next))) = self.numeric.get(&number) {
            return *next;
        }
        let id = self.add(format!("{number}"), place, Some(number));
        self.numeric.entry(number).or_default().1 = Some(id);
        id
    }

    /// Defines a numeric label at a place in a section.
    pub(super) fn define_numeric(&mut self, number: u64, at: (usize, u32), place: Place) {
        let id = self.forward(number, place);
        let (section, offset) = at;
        self.get_mut(id).meaning = Meaning::Label { section, offset };
        self.numeric.insert(number, (Some(id), None));
    }

    /// Defines a label at a place in a section.
    pub(super) fn define_label(
        &mut self,
        name: &str,
        (section, offset): (usize, u32),
        place: Place,
    ) -> Result<(), Kind> {
        let id = self.named(name, place);
        let entry = self.get_mut(id);
        if !matches!(entry.meaning, Meaning::Unknown) {
            return Err(Kind::Redefined {
                name: name.to_owned(),
                line: entry.place.line,
            });
        }
        entry.meaning = Meaning::Label { section, offset };
        entry.place = place;
        Ok(())
    }

    /// Gives a name a value; a later one replaces it.
    pub(super) fn assign(&mut self, name: &str, value: Expr, place: Place) -> Result<(), Kind> {
        let id = self.named(name, place);
        let entry = self.get_mut(id);
        if matches!(entry.meaning, Meaning::Label { .. }) {
            return Err(Kind::Redefined {
                name: name.to_owned(),
                line: entry.place.line,
            });
        }
        entry.meaning = Meaning::Value(value);
        entry.place = place;
        Ok(())
    }

    pub(super) fn get(&self, id: SymbolId) -> &Entry {
        &self.entries[id.0]
    }

    pub(super) fn get_mut(&mut self, id: SymbolId) -> &mut Entry {
        &mut self.entries[id.0]
    }

    /// All symbols in order of appearance.
    pub(super) fn iter(&self) -> impl Iterator<Item = (SymbolId, &Entry)> {
        self.entries
            .iter()
            .enumerate()
            .map(|(index, entry)| (SymbolId(index), entry))
    }
}
