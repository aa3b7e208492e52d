//! Writes every word once: bytes to their places, addresses into their fields.

use tilekiln_isa::NOP;

use super::layout::Places;
use super::resolve::{Meaning, Names, SectionId};
use super::{LineRange, LinkError, Linked, PlacedSection, PlacedSymbol, Segment, Sizes};
use crate::object::{Binding, Relocation, Section, SectionKind, SymbolPlace, Target};

/// Makes the linked program from the sections' places.
pub(super) fn write(names: &Names<'_>, places: &Places) -> Result<Linked, LinkError> {
    let mut order: Vec<(u32, SectionId)> = places.iter().map(|(id, at)| (*at, *id)).collect();
    order.sort_unstable();
    let mut writer = Writer {
        names,
        places,
        linked: empty(),
    };
    writer.linked.entry = writer.address(names.global(names.input.entry)?);
    for (index, (address, id)) in order.iter().enumerate() {
        writer.section(*address, *id)?;
        writer.symbols(index, *address, *id);
    }
    // A label at the end of one section comes before the start of the next.
    writer
        .linked
        .symbols
        .sort_by(|a, b| (a.address, a.section, &a.name).cmp(&(b.address, b.section, &b.name)));
    for (index, (address, id)) in order.iter().enumerate() {
        writer.lines(index, *address, *id);
    }
    let all = names
        .input
        .objects
        .iter()
        .flat_map(|object| &object.sections);
    let all = all.fold(0u32, |all, section| all.saturating_add(section.size));
    let Sizes { code, data, .. } = writer.linked.sizes;
    writer.linked.sizes.dropped = all.saturating_sub(code + data);
    Ok(writer.linked)
}

fn empty() -> Linked {
    Linked {
        entry: 0,
        segments: Vec::new(),
        sections: Vec::new(),
        symbols: Vec::new(),
        files: Vec::new(),
        lines: Vec::new(),
        sizes: Sizes::default(),
    }
}

struct Writer<'a> {
    names: &'a Names<'a>,
    places: &'a Places,
    linked: Linked,
}

impl Writer<'_> {
    fn address(&self, meaning: Meaning) -> u32 {
        match meaning {
            Meaning::Absolute(value) => value,
            // Whatever a kept section refers to is kept.
            Meaning::Within(id, offset) => self
                .places
                .get(&id)
                .copied()
                .unwrap_or(0)
                .wrapping_add(offset),
        }
    }

    fn section(&mut self, address: u32, id: SectionId) -> Result<(), LinkError> {
        let section = self.names.section(id);
        let object = self.names.object(id);
        let mut bytes = section.bytes.clone();
        for relocation in &section.relocations {
            let Relocation {
                offset,
                kind,
                target,
                addend,
            } = *relocation;
            let start = self.address(self.names.target(id, relocation)?);
            let value = i64::from(start) + i64::from(addend);
            kind.patch(&mut bytes, offset, value)
                .map_err(|error| LinkError::Relocation {
                    object: object.name.clone(),
                    section: section.name.clone(),
                    offset,
                    name: self.target_name(id, target),
                    error: Box::new(error),
                })?;
        }
        match section.kind {
            SectionKind::Code => self.linked.sizes.code += section.size,
            _ => self.linked.sizes.data += section.size,
        }
        self.linked.sections.push(PlacedSection {
            object: object.name.clone(),
            name: section.name.clone(),
            kind: section.kind,
            address,
            size: section.size,
        });
        self.append(address, &bytes);
        Ok(())
    }

    /// Adds bytes to the last segment where only alignment lies between, or starts another.
    fn append(&mut self, address: u32, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if let Some(last) = self.linked.segments.last_mut() {
            let end = last.address + u32::try_from(last.bytes.len()).unwrap_or(u32::MAX);
            let gap = address.wrapping_sub(end);
            if gap < super::CODE_ALIGNMENT {
                let zeros = (gap % 4) as usize;
                last.bytes.resize(last.bytes.len() + zeros, 0);
                for _ in 0..gap / 4 {
                    last.bytes.extend_from_slice(&NOP.to_le_bytes());
                }
                last.bytes.extend_from_slice(bytes);
                return;
            }
        }
        self.linked.segments.push(Segment {
            address,
            bytes: bytes.to_vec(),
        });
    }

    fn symbols(&mut self, index: usize, address: u32, id: SectionId) {
        for symbol in &self.names.object(id).symbols {
            if let SymbolPlace::Section { section, offset } = symbol.place
                && section == id.section
            {
                self.linked.symbols.push(PlacedSymbol {
                    name: symbol.name.clone(),
                    address: address.wrapping_add(offset),
                    size: symbol.size,
                    kind: symbol.kind,
                    global: symbol.binding != Binding::Local,
                    section: index,
                });
            }
        }
    }

    fn lines(&mut self, index: usize, address: u32, id: SectionId) {
        let section: &Section = self.names.section(id);
        let files = &self.names.object(id).files;
        let ends = section
            .lines
            .iter()
            .skip(1)
            .map(|mark| mark.offset)
            .chain([section.size]);
        for (mark, end) in section.lines.iter().zip(ends) {
            let name = files.get(mark.file as usize).map_or("", String::as_str);
            let known = self.linked.files.iter().position(|file| file == name);
            let file = known.unwrap_or_else(|| {
                self.linked.files.push(name.to_owned());
                self.linked.files.len() - 1
            });
            let range = address + mark.offset..address + end;
            let symbol = self.symbol_before(index, range.start);
            self.linked.lines.push(LineRange {
                range,
                section: index,
                symbol,
                file,
                line: mark.line,
            });
        }
    }

    /// The last symbol of section `index` that is not behind `address`; functions win over labels
    /// inside them.
    fn symbol_before(&self, index: usize, address: u32) -> Option<usize> {
        let symbols = &self.linked.symbols;
        let behind = symbols.partition_point(|symbol| symbol.address <= address);
        let mut before = (0..behind)
            .rev()
            .take_while(|i| symbols[*i].section == index);
        let covering = before.clone().find(|i| {
            let symbol = &symbols[*i];
            address - symbol.address < symbol.size
        });
        covering.or_else(|| before.next())
    }

    fn target_name(&self, id: SectionId, target: Target) -> String {
        let object = self.names.object(id);
        let name = match target {
            Target::Section(section) => object.sections.get(section).map(|s| &s.name),
            Target::Symbol(symbol) => object.symbols.get(symbol).map(|s| &s.name),
        };
        name.cloned().unwrap_or_default()
    }
}
