//! What names mean, and which sections the roots need.

use std::collections::{BTreeMap, BTreeSet};

use super::{LinkError, LinkInput};
use crate::object::{Binding, Object, Relocation, Section, SectionKind, SymbolPlace, Target};

/// A section, by the index of its object and its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct SectionId {
    pub(super) object: usize,
    pub(super) section: usize,
}

/// What a reference comes to before sections have addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    /// A number.
    Absolute(u32),
    /// Bytes from the start of a section.
    Within(SectionId, u32),
}

/// The names that objects share.
pub(super) struct Names<'a> {
    pub(super) input: &'a LinkInput<'a>,
    globals: BTreeMap<&'a str, Definition>,
}

#[derive(Clone, Copy)]
struct Definition {
    /// The defining object; none for names given to the linker.
    object: Option<usize>,
    weak: bool,
    meaning: Meaning,
}

impl<'a> Names<'a> {
    /// Collects what every object defines.
    pub(super) fn of(input: &'a LinkInput<'a>) -> Result<Self, LinkError> {
        let mut names = Self {
            input,
            globals: BTreeMap::new(),
        };
        for (name, value) in input.symbols {
            let meaning = Meaning::Absolute(*value);
            names.define(
                name,
                Definition {
                    object: None,
                    weak: false,
                    meaning,
                },
            )?;
        }
        for (object, contents) in input.objects.iter().enumerate() {
            for symbol in &contents.symbols {
                if symbol.binding == Binding::Local {
                    continue;
                }
                let weak = symbol.binding == Binding::Weak;
                if let Some(meaning) = meaning(object, symbol.place) {
                    let definition = Definition {
                        object: Some(object),
                        weak,
                        meaning,
                    };
                    names.define(&symbol.name, definition)?;
                }
            }
        }
        Ok(names)
    }

    /// A global wins over a weak name; the first weak one wins over later ones.
    fn define(&mut self, name: &'a str, new: Definition) -> Result<(), LinkError> {
        match self.globals.get(name) {
            Some(old) if !old.weak && !new.weak => Err(LinkError::Duplicate {
                name: name.to_owned(),
                first: self.object_name(old.object),
                second: self.object_name(new.object),
            }),
            Some(old) if !old.weak || new.weak => Ok(()),
            _ => {
                self.globals.insert(name, new);
                Ok(())
            }
        }
    }

    fn object_name(&self, object: Option<usize>) -> String {
        object.map_or("the link's own symbols".to_owned(), |index| {
            self.input.objects[index].name.clone()
        })
    }

    pub(super) fn object(&self, id: SectionId) -> &'a Object {
        self.input.objects[id.object]
    }

    pub(super) fn section(&self, id: SectionId) -> &'a Section {
        &self.input.objects[id.object].sections[id.section]
    }

    /// What a global name means.
    pub(super) fn global(&self, name: &str) -> Result<Meaning, LinkError> {
        let found = self.globals.get(name).map(|definition| definition.meaning);
        found.ok_or_else(|| LinkError::Missing {
            name: name.to_owned(),
        })
    }

    /// The source line of byte `offset` of a section, or its object where lines are unknown.
    fn place(&self, id: SectionId, offset: u32) -> String {
        let object = self.object(id);
        let marks = self.section(id).lines.iter();
        let mark = marks.take_while(|mark| mark.offset <= offset).last();
        let line = mark.and_then(|mark| {
            let file = object.files.get(usize::try_from(mark.file).ok()?)?;
            Some(format!("{file}:{}", mark.line))
        });
        line.unwrap_or_else(|| object.name.clone())
    }

    /// What a relocation in section `from` refers to.
    pub(super) fn target(
        &self,
        from: SectionId,
        relocation: &Relocation,
    ) -> Result<Meaning, LinkError> {
        let object = self.object(from);
        let damaged = || LinkError::Damaged {
            object: object.name.clone(),
            section: self.section(from).name.clone(),
        };
        let index = match relocation.target {
            Target::Section(section) => {
                object.sections.get(section).ok_or_else(damaged)?;
                return Ok(Meaning::Within(
                    SectionId {
                        object: from.object,
                        section,
                    },
                    0,
                ));
            }
            Target::Symbol(index) => index,
        };
        let symbol = object.symbols.get(index).ok_or_else(damaged)?;
        if symbol.binding == Binding::Local
            && let Some(meaning) = meaning(from.object, symbol.place)
        {
            if let Meaning::Within(id, _) = meaning {
                object.sections.get(id.section).ok_or_else(damaged)?;
            }
            return Ok(meaning);
        }
        match self.globals.get(symbol.name.as_str()) {
            Some(definition) => Ok(definition.meaning),
            // A weak name that nobody defines is zero.
            None if symbol.binding == Binding::Weak => Ok(Meaning::Absolute(0)),
            None => Err(LinkError::Undefined {
                name: symbol.name.clone(),
                place: self.place(from, relocation.offset),
                section: self.section(from).name.clone(),
            }),
        }
    }

    /// The sections that the entry and the required names need, directly or through others.
    pub(super) fn reachable(&self) -> Result<BTreeSet<SectionId>, LinkError> {
        let entry = self.input.entry;
        match self.global(entry)? {
            Meaning::Within(id, _) if self.section(id).kind == SectionKind::Code => {}
            _ => {
                return Err(LinkError::EntryNotCode {
                    name: entry.to_owned(),
                });
            }
        }
        let mut kept = BTreeSet::new();
        let mut waiting = Vec::new();
        for name in [entry].iter().chain(self.input.required) {
            if let Meaning::Within(id, _) = self.global(name)? {
                waiting.push(id);
            }
        }
        while let Some(id) = waiting.pop() {
            if !kept.insert(id) {
                continue;
            }
            let section = self.section(id);
            if section.kind == SectionKind::Zero && section.size > 0 {
                return Err(LinkError::Zeros {
                    section: section.name.clone(),
                    object: self.object(id).name.clone(),
                    size: section.size,
                });
            }
            for relocation in &section.relocations {
                if let Meaning::Within(next, _) = self.target(id, relocation)? {
                    waiting.push(next);
                }
            }
        }
        Ok(kept)
    }
}

/// What a symbol means by itself; `None` when another object has to say.
fn meaning(object: usize, place: SymbolPlace) -> Option<Meaning> {
    match place {
        SymbolPlace::Undefined => None,
        SymbolPlace::Absolute(value) => Some(Meaning::Absolute(value)),
        SymbolPlace::Section { section, offset } => {
            Some(Meaning::Within(SectionId { object, section }, offset))
        }
    }
}
