//! Gives every section its place, before any word is written.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tilekiln_chip::memory;

use super::resolve::SectionId;
use super::{CODE_ALIGNMENT, ENTRY_SECTION, EXECUTABLE, LinkError, LinkInput};
use crate::object::{Section, SectionKind};

/// The address of each section that is kept.
pub(super) type Places = BTreeMap<SectionId, u32>;

/// Places the sections in `kept`: fixed ones, then code, then data, each in object order.
pub(super) fn reserve(
    input: &LinkInput<'_>,
    kept: &BTreeSet<SectionId>,
) -> Result<Places, LinkError> {
    let mut layout = Layout {
        input,
        places: Places::new(),
        taken: Vec::new(),
    };
    check_regions(input.regions)?;
    let (fixed, floating): (Vec<SectionId>, Vec<SectionId>) = kept
        .iter()
        .copied()
        .partition(|id| layout.fixed(*id).is_some());
    for id in fixed {
        layout.fix(id)?;
    }
    let mut free = free_pieces(input.regions, &layout.taken);
    for code in [true, false] {
        for id in &floating {
            let section = layout.section(*id);
            if (section.kind == SectionKind::Code) == code {
                layout.fit(*id, &mut free)?;
            }
        }
    }
    Ok(layout.places)
}

struct Layout<'a> {
    input: &'a LinkInput<'a>,
    places: Places,
    /// What fixed sections occupy, and the name of each.
    taken: Vec<(Range<u32>, String)>,
}

impl<'a> Layout<'a> {
    fn section(&self, id: SectionId) -> &'a Section {
        &self.input.objects[id.object].sections[id.section]
    }

    /// The address a section must have.
    fn fixed(&self, id: SectionId) -> Option<u32> {
        let name = self.section(id).name.as_str();
        let wanted = self.input.fixed.iter().find(|(fixed, _)| *fixed == name);
        let entry = (name == ENTRY_SECTION).then_some(memory::ENTRY.0);
        wanted.map(|(_, address)| *address).or(entry)
    }

    fn fix(&mut self, id: SectionId) -> Result<(), LinkError> {
        let section = self.section(id);
        let Some(address) = self.fixed(id) else {
            return Ok(());
        };
        let object = self.input.objects[id.object].name.clone();
        let bad = |reason| LinkError::BadPlace {
            section: section.name.clone(),
            object: object.clone(),
            address,
            reason,
        };
        let end = address
            .checked_add(section.size)
            .ok_or_else(|| bad("leaves tile memory"))?;
        if !address.is_multiple_of(alignment(section)) {
            return Err(bad("is not a multiple of its alignment"));
        }
        if section.kind == SectionKind::Code {
            if address < EXECUTABLE.start || end > EXECUTABLE.end {
                return Err(bad("is not executable memory"));
            }
        } else if address < memory::BASE.0 || end > memory::LOADER_END.0 {
            return Err(bad("no loader reaches"));
        }
        let range = address..end;
        let other = self.taken.iter().find(|(taken, _)| overlap(taken, &range));
        if let Some((_, other)) = other {
            let (section, other) = (section.name.clone(), other.clone());
            return Err(LinkError::Overlap {
                section,
                object,
                address,
                other,
            });
        }
        self.taken
            .push((range, format!("{} of {object}", section.name)));
        self.places.insert(id, address);
        Ok(())
    }

    /// Puts a section at the start of the first free piece that holds it; pieces before that are
    /// given up. [pipeline §3.7]
    fn fit(&mut self, id: SectionId, free: &mut Vec<Range<u32>>) -> Result<(), LinkError> {
        let section = self.section(id);
        let alignment = alignment(section);
        let fits = |piece: &Range<u32>| {
            let start = piece.start.checked_next_multiple_of(alignment)?;
            let end = start.checked_add(section.size)?;
            (end <= piece.end).then_some((start, end))
        };
        let found = free
            .iter()
            .enumerate()
            .find_map(|(index, piece)| Some((index, fits(piece)?)));
        let Some((index, (start, end))) = found else {
            let sizes = || {
                free.iter()
                    .map(Range::len)
                    .map(|n| u32::try_from(n).unwrap_or(0))
            };
            return Err(LinkError::Unplaceable {
                section: section.name.clone(),
                object: self.input.objects[id.object].name.clone(),
                size: section.size,
                free: sizes().sum(),
                largest: sizes().max().unwrap_or(0),
            });
        };
        free[index].start = end;
        free.drain(..index);
        self.places.insert(id, start);
        Ok(())
    }
}

/// Code keeps [`CODE_ALIGNMENT`] even where an object asks for less.
fn alignment(section: &Section) -> u32 {
    match section.kind {
        // The trampoline's place is a multiple of 16, so 8 costs nothing there either.
        SectionKind::Code => section.alignment.max(CODE_ALIGNMENT),
        _ => section.alignment.max(1),
    }
}

fn overlap(a: &Range<u32>, b: &Range<u32>) -> bool {
    a.start < b.end && b.start < a.end
}

fn check_regions(regions: &[Range<u32>]) -> Result<(), LinkError> {
    for (index, region) in regions.iter().enumerate() {
        let &Range { start, end } = region;
        let (low, high) = (EXECUTABLE.start, EXECUTABLE.end);
        if start > end || start < low || end > high {
            return Err(LinkError::BadRegion {
                start,
                end,
                low,
                high,
            });
        }
        if let Some(other) = regions[..index].iter().find(|other| overlap(other, region)) {
            let (first, second) = (other.start, start);
            return Err(LinkError::RegionsOverlap { first, second });
        }
    }
    Ok(())
}

/// The regions without what fixed sections occupy, in the regions' order.
fn free_pieces(regions: &[Range<u32>], taken: &[(Range<u32>, String)]) -> Vec<Range<u32>> {
    let mut free = regions.to_vec();
    for (taken, _) in taken {
        free = free
            .into_iter()
            .flat_map(|piece| {
                if !overlap(&piece, taken) {
                    return vec![piece];
                }
                vec![
                    piece.start..taken.start.max(piece.start),
                    taken.end.min(piece.end)..piece.end,
                ]
            })
            .filter(|piece| !piece.is_empty())
            .collect();
    }
    free
}
