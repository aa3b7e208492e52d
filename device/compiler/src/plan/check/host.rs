//! Pages are what the host's packets can carry, and every row of every tensor is in one.

use std::collections::BTreeMap;

use tilekiln_chip::TileId;
use tilekiln_chip::exchange::{HOST_PAGE as PAGE, HOST_WRITE_MAX};

use super::super::{Binding, HostDirection, HostPage, Plan};
use super::CheckError;
use super::exchange::inside;
use super::memory::WINDOW;

/// Writes come in packets of this many bytes, so that all of them are long.
const WRITE: u32 = HOST_WRITE_MAX;

pub(super) fn check(plan: &Plan) -> Result<(), CheckError> {
    for index in 0..plan.host.phases.len() {
        phase(plan, index)?;
    }
    buffer(plan)?;
    bindings(plan)
}

/// The pages of one phase.
fn phase(plan: &Plan, index: usize) -> Result<(), CheckError> {
    let phase = &plan.host.phases[index];
    let mut seen = vec![false; usize::from(tilekiln_chip::TILE_COUNT)];
    for page in &phase.pages {
        let (at, bytes) = (page.tile_address, page.bytes);
        let fits = u64::from(page.buffer_offset % PAGE) + u64::from(bytes) <= u64::from(PAGE);
        let reads = phase.direction == HostDirection::ToTiles;
        let (granule, align) = if reads { (4, 32) } else { (WRITE, 4) };
        let end = u64::from(at.0) + u64::from(bytes);
        let window = !reads || (at.0 >= WINDOW.start && end <= u64::from(WINDOW.end));
        let again = std::mem::replace(&mut seen[usize::from(page.tile.index())], true);
        let rules = [
            ("transfer", 2, !again, "one a phase is right"),
            (
                "size",
                bytes,
                bytes > 0 && bytes <= PAGE,
                "1 byte to a page is right",
            ),
            (
                "size",
                bytes,
                bytes.is_multiple_of(granule),
                "whole granules are right",
            ),
            ("offset", page.buffer_offset, fits, "packets stay in a page"),
            (
                "address",
                at.0,
                at.0.is_multiple_of(align),
                "it must be aligned",
            ),
            ("address", at.0, window, "reads land in the window"),
            (
                "address",
                at.0,
                inside(&plan.layout, at, bytes),
                "pages are parts of arrays",
            ),
        ];
        for (what, got, good, rule) in rules {
            if !good {
                let (tile, got) = (page.tile, u64::from(got));
                return Err(CheckError::Page {
                    phase: index,
                    tile,
                    what,
                    got,
                    rule,
                });
            }
        }
    }
    Ok(())
}

/// No two pages share bytes of the buffer, and it ends where they end.
fn buffer(plan: &Plan) -> Result<(), CheckError> {
    let pages = plan.host.phases.iter().flat_map(|phase| &phase.pages);
    let mut pages: Vec<&HostPage> = pages.collect();
    pages.sort_by_key(|page| page.buffer_offset);
    for pair in pages.windows(2) {
        let end = u64::from(pair[0].buffer_offset) + u64::from(pair[0].bytes);
        if end > u64::from(pair[1].buffer_offset) {
            let name =
                |page: &HostPage| format!("the page at {} of {}", page.buffer_offset, page.tile);
            return Err(CheckError::Overlap {
                first: name(pair[0]),
                second: name(pair[1]),
            });
        }
    }
    let last = pages.last().map_or(0, |page| {
        u64::from(page.buffer_offset) + u64::from(page.bytes)
    });
    let bytes = plan.host.buffer_bytes;
    if bytes.is_multiple_of(PAGE) && last.next_multiple_of(u64::from(PAGE)) == u64::from(bytes) {
        return Ok(());
    }
    Err(CheckError::Buffer { bytes, end: last })
}

/// Every row of every tensor is bound as often as it is an operand, and lies in pages that move.
fn bindings(plan: &Plan) -> Result<(), CheckError> {
    let attention = &plan.attention;
    let width = u64::from(attention.head_dimension);
    let heads = u64::from(attention.batch) * u64::from(attention.heads);
    let rows = |length: u32| (heads * u64::from(length)) as usize;
    let mut times: BTreeMap<&str, (Vec<u32>, u32)> = BTreeMap::new();
    let lengths = [
        attention.query_length,
        attention.key_length,
        attention.key_length,
    ];
    for (operand, length) in attention.operands.iter().zip(lengths) {
        times.entry(operand).or_insert((vec![0; rows(length)], 0)).1 += 1;
    }
    for binding in &plan.host.bindings {
        let tensor = binding.tensor.as_str();
        let result = || (vec![0; rows(attention.query_length)], 1);
        let (times, _) = times.entry(tensor).or_insert_with(result);
        for row in 0..u64::from(binding.rows) {
            let element = binding.first_element + row * binding.element_stride;
            let whole = u64::from(binding.row_elements) == width && element.is_multiple_of(width);
            match times.get_mut((element / width) as usize).filter(|_| whole) {
                Some(times) => *times += 1,
                None => {
                    let (tensor, row) = (tensor.to_owned(), element / width);
                    return Err(CheckError::Bound {
                        tensor,
                        row,
                        times: 1,
                        wanted: 0,
                    });
                }
            }
        }
    }
    for (tensor, (times, wanted)) in times {
        if let Some(row) = times.iter().position(|times| *times != wanted) {
            let (tensor, times, row) = (tensor.to_owned(), times[row], row as u64);
            return Err(CheckError::Bound {
                tensor,
                row,
                times,
                wanted,
            });
        }
    }
    moved(plan)
}

/// The rows of every binding lie in pages of one tile that follow each other.
fn moved(plan: &Plan) -> Result<(), CheckError> {
    let pages = Pages::of(plan);
    for binding in &plan.host.bindings {
        let (from, to) = extent(binding);
        let tile = pages.tile_of(from).map(|(tile, _)| tile);
        let mut at = from;
        while at < to {
            match pages.tile_of(at) {
                Some((owner, end)) if Some(owner) == tile => at = end,
                _ => {
                    let tensor = binding.tensor.clone();
                    return Err(CheckError::Unmoved { tensor, offset: at });
                }
            }
        }
    }
    Ok(())
}

/// First byte of a binding in the buffer, and first byte behind its last row.
fn extent(binding: &Binding) -> (u64, u64) {
    let from = u64::from(binding.buffer_offset);
    let rows = u64::from(binding.rows.saturating_sub(1)) * u64::from(binding.buffer_stride);
    (from, from + rows + 2 * u64::from(binding.row_elements))
}

/// The pages of all phases by their place in the buffer.
pub(super) struct Pages<'a>(BTreeMap<u64, &'a HostPage>);

impl<'a> Pages<'a> {
    pub(super) fn of(plan: &'a Plan) -> Self {
        let pages = plan.host.phases.iter().flat_map(|phase| &phase.pages);
        Self(
            pages
                .map(|page| (u64::from(page.buffer_offset), page))
                .collect(),
        )
    }

    /// The page that holds a byte of the buffer.
    pub(super) fn at(&self, offset: u64) -> Option<&'a HostPage> {
        let (start, page) = self.0.range(..=offset).next_back()?;
        (offset < start + u64::from(page.bytes)).then_some(*page)
    }

    /// The tile that a byte of the buffer goes to or comes from, and where its page ends.
    fn tile_of(&self, offset: u64) -> Option<(TileId, u64)> {
        let page = self.at(offset)?;
        Some((
            page.tile,
            u64::from(page.buffer_offset) + u64::from(page.bytes),
        ))
    }
}
