//! From the assembler's state to an object.

use std::collections::BTreeSet;

use super::driver::Assembler;
use super::error::Kind;
use super::expr::{Base, Value};
use super::finish::{Pending, section_of};
use super::key::base_name;
use super::symbols::{Entry, Meaning, SymbolId};
use crate::object::{Binding, LineMark, Object, Section, Symbol, SymbolPlace};

impl Assembler {
    /// Writes every item and makes the object; `None` when there were complaints.
    pub(super) fn object(&mut self, name: &str) -> Option<Object> {
        let pending = self.write_items();
        let wanted: BTreeSet<SymbolId> = pending
            .iter()
            .filter_map(|pending| match pending.base {
                Base::Symbol(id) => Some(id),
                Base::Section(_) => None,
            })
            .collect();
        let kept = self.kept_sections(&pending);
        let (symbols, numbers) = self.object_symbols(&wanted, &kept);
        let mut object = Object {
            name: base_name(name).to_owned(),
            symbols,
            ..Object::default()
        };
        for (index, section) in self.sections.all.iter().enumerate() {
            if kept[index].is_none() {
                continue;
            }
            let mut relocations = Vec::new();
            for one in pending.iter().filter(|one| one.section == index) {
                relocations.push(one.resolve(self, &kept, &numbers)?);
            }
            relocations.sort_by_key(|relocation| relocation.offset);
            let lines = section
                .lines
                .iter()
                .map(|mark| self.line(*mark, &mut object.files));
            object.sections.push(Section {
                name: section.name.clone(),
                kind: section.kind,
                alignment: section.alignment,
                bytes: section.bytes.clone(),
                size: section.size,
                relocations,
                lines: lines.collect(),
            });
        }
        self.errors.is_empty().then_some(object)
    }

    /// The number each section has in the object; `None` for those that nobody needs.
    fn kept_sections(&self, pending: &[Pending]) -> Vec<Option<usize>> {
        let named = |index: usize| {
            self.symbols.iter().any(|(_, entry)| {
                matches!(entry.meaning, Meaning::Label { section, .. } if section == index)
                    && !entry.is_private()
            })
        };
        let referred = |index: usize| {
            let mut sections = pending
                .iter()
                .filter_map(|pending| section_of(pending.base, self));
            sections.any(|(section, _)| section == index)
        };
        let mut next = 0;
        let sections = self.sections.all.iter().enumerate();
        sections
            .map(|(index, section)| {
                let keep = section.size > 0 || named(index) || referred(index);
                next += usize::from(keep);
                keep.then(|| next - 1)
            })
            .collect()
    }

    /// The symbols that other objects or people need, locals first, and the number each has.
    fn object_symbols(
        &mut self,
        wanted: &BTreeSet<SymbolId>,
        kept: &[Option<usize>],
    ) -> (Vec<Symbol>, Vec<Option<usize>>) {
        let mut found = Vec::new();
        let mut faults = Vec::new();
        for (id, entry) in self.symbols.iter() {
            match self.object_symbol(entry, wanted.contains(&id), kept) {
                Ok(Some(symbol)) => found.push((id, symbol)),
                Ok(None) => {}
                Err(kind) => faults.push((entry.place, kind)),
            }
        }
        for (place, kind) in faults {
            self.complain(place, kind, None);
        }
        found.sort_by_key(|(_, symbol)| symbol.binding != Binding::Local);
        let mut numbers = vec![None; self.symbols.iter().count()];
        for (number, (id, _)) in found.iter().enumerate() {
            numbers[id.index()] = Some(number);
        }
        (
            found.into_iter().map(|(_, symbol)| symbol).collect(),
            numbers,
        )
    }

    fn object_symbol(
        &self,
        entry: &Entry,
        wanted: bool,
        kept: &[Option<usize>],
    ) -> Result<Option<Symbol>, Kind> {
        let in_section = |section: usize, offset: u32| {
            let section = kept.get(section).copied().flatten()?;
            Some(SymbolPlace::Section { section, offset })
        };
        let place = match &entry.meaning {
            _ if entry.is_private() => None,
            Meaning::Unknown => wanted.then_some(SymbolPlace::Undefined),
            Meaning::Label { section, offset } => in_section(*section, *offset),
            Meaning::Value(_) if entry.binding.is_none() => None,
            Meaning::Value(value) => match value.value(&self.symbols)? {
                Value::Constant(value) => {
                    Some(SymbolPlace::Absolute(absolute(&entry.name, value)?))
                }
                Value::Address(base, addend) => {
                    let (section, offset) = section_of(base, self)
                        .ok_or_else(|| Kind::NotConstant(entry.name.clone()))?;
                    let offset = u32::try_from(i64::from(offset) + addend);
                    let offset = offset.map_err(|_| Kind::NotConstant(entry.name.clone()))?;
                    in_section(section, offset)
                }
            },
        };
        let Some(place) = place else { return Ok(None) };
        let size = match &entry.size {
            None => 0,
            Some(size) => absolute(&entry.name, size.constant(&self.symbols)?)?,
        };
        let default = match place {
            SymbolPlace::Undefined => Binding::Global,
            _ => Binding::Local,
        };
        let binding = entry.binding.unwrap_or(default);
        Ok(Some(Symbol {
            name: entry.name.clone(),
            place,
            size,
            kind: entry.kind,
            binding,
        }))
    }

    /// A mark with its file in the object's own list, folders left out.
    fn line(&self, mark: LineMark, files: &mut Vec<String>) -> LineMark {
        let name = base_name(self.files.name(mark.file));
        let file = files
            .iter()
            .position(|known| known == name)
            .unwrap_or_else(|| {
                files.push(name.to_owned());
                files.len() - 1
            });
        LineMark {
            file: u32::try_from(file).unwrap_or(u32::MAX),
            ..mark
        }
    }
}

/// A number as the 32 bits that a symbol table holds, read with or without sign.
fn absolute(name: &str, value: i64) -> Result<u32, Kind> {
    let (low, high) = (i64::from(i32::MIN), i64::from(u32::MAX));
    let signed = i32::try_from(value).map(i32::cast_unsigned);
    u32::try_from(value)
        .or(signed)
        .map_err(|_| Kind::OutOfRange {
            name: name.to_owned(),
            value,
            low,
            high,
        })
}
