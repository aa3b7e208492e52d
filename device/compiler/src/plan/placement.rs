//! Gives every array of a blocking its place in tile memory, the same on all task tiles.
//!
//! Sizes first: [`arrays`] lists what a blocking needs, in order of placement. [`place`] then
//! gives each array the lowest address at which it touches nothing and shares no exclusion unit
//! with an array it must be apart from. There is no search beyond that: equal blockings get equal
//! layouts.

use std::ops::Range;

use tilekiln_chip::ByteAddr;
use tilekiln_chip::exchange::{HOST_PAGE, HOST_WINDOW, HOST_WINDOW_BYTES, HOST_WRITE_MAX};
use tilekiln_chip::memory::{
    BASE, ELEMENT_BYTES, END, EXCLUSION_UNITS, INTERLEAVED, exclusion_unit, unit_start,
};

use super::blocking::Blocking;
use super::{Allocation, Class, Distinct, Kernel, Layout, name};

/// Where a page of the host lands: behind the packets of the reference layout. [exchange §14.3 V]
pub(crate) const PAGE: ByteAddr = ByteAddr(HOST_WINDOW.0 + 0x180);

/// Bytes a stream may read behind a left operand. [kernels §3.1 derived]
const LEFT_TAIL: u32 = 64;

/// Bytes a stream may read behind a result, beside two rows. [kernels §3.1 derived]
const OUT_TAIL: u32 = 64;

/// Alignment of everything a matrix product touches. [kernels §2]
const ALIGN: u32 = 32;

/// Bytes reserved beside the argument words for what the runtime keeps per tile.
const RUNTIME_BYTES: u32 = 2048;

/// Bytes the runtime keeps for each host phase: packets, counts, addresses.
const HOST_PHASE_BYTES: u32 = 96;

/// Fewest bytes of the block of slots.
const SLOTS_MIN: u32 = 4096;

/// Granule of host-bound transfers: with whole packets, all of them are long.
pub(crate) const WRITE_GRANULE: u32 = HOST_WRITE_MAX;

/// Bytes of the two cycle samples.
pub(crate) const SAMPLE_BYTES: u32 = 8;

/// Elements that hold code and exchange rows: 0, where the application starts, and 2. Element 1
/// is the window of the host.
const CODE_ELEMENTS: [u32; 2] = [0, 2];

/// What an array of this size and kind wanted, and the most it could have had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom {
    /// The array's name.
    pub array: String,
    /// The memory it needs.
    pub class: Class,
    /// Bytes wanted, tail included.
    pub wanted: u64,
    /// Bytes of the largest gap it may use.
    pub available: u64,
}

/// An array before it has a place.
struct Array {
    name: &'static str,
    class: Class,
    bytes: u64,
    tail: u64,
}

/// Bytes of the longest output string, the cycle samples and the rounding included.
pub(crate) fn output_bytes_max(blocking: &Blocking) -> u32 {
    let rows = blocking.owned_rows_max() * blocking.string_row_bytes();
    (rows + SAMPLE_BYTES).next_multiple_of(WRITE_GRANULE)
}

/// Bytes of argument words, each list on an 8-byte boundary.
fn argument_bytes(blocking: &Blocking) -> u32 {
    let (pages, partials) = (blocking.input_pages(), blocking.partials());
    let own_copies = if blocking.key_splits > 1 {
        partials + 1
    } else {
        0
    };
    let calls = [
        (Kernel::Copy, pages + own_copies),
        (Kernel::PackLeft, 1),
        (Kernel::PackRight, 1),
        (Kernel::PackRightTransposed, 1),
        (Kernel::Gemm, 1 + partials),
        (Kernel::Mask, 1),
        (Kernel::Softmax, 1),
        (Kernel::Merge, 1),
        (Kernel::Sample, 2),
    ];
    calls
        .iter()
        .map(|(kernel, n)| n * 4 * kernel.argument_words().next_multiple_of(2))
        .sum()
}

/// Whether queries and keys pass through send buffers: not when their only reader is their owner.
pub(crate) fn travels(blocking: &Blocking) -> (bool, bool) {
    (blocking.key_splits > 1, blocking.query_blocks() > 1)
}

/// Everything that needs a place, in order of placement: the choosy first.
fn arrays(blocking: &Blocking) -> Vec<Array> {
    let wide = |count: u32, bytes: u32| u64::from(count) * u64::from(bytes);
    let row = blocking.row_bytes();
    let (rows, owned) = (blocking.rows_max(), blocking.owned_rows_max());
    let (groups, splits) = (blocking.groups_max(), blocking.key_splits);
    let left = u64::from(LEFT_TAIL);
    let out = |row_bytes: u32| u64::from(2 * row_bytes + OUT_TAIL);
    let (queries_travel, keys_travel) = travels(blocking);
    let phases = blocking.input_pages() + output_bytes_max(blocking).div_ceil(HOST_PAGE);
    let runtime = RUNTIME_BYTES + phases * HOST_PHASE_BYTES;
    let slots = (argument_bytes(blocking) + runtime)
        .next_multiple_of(1024)
        .max(SLOTS_MIN);

    let standard = |name, bytes, tail| Array {
        name,
        class: Class::Standard,
        bytes,
        tail,
    };
    let interleaved = |name, bytes, tail| Array {
        name,
        class: Class::Interleaved,
        bytes,
        tail,
    };
    let mut list = vec![standard(name::SLOTS, u64::from(slots), 0)];
    list.push(interleaved(
        name::KEYS_VALUES,
        wide(groups, blocking.group_bytes()),
        0,
    ));
    let score_row = 2 * super::blocking::PANEL * groups;
    list.push(interleaved(
        name::SCORES,
        wide(rows, score_row),
        out(score_row).max(left),
    ));
    let partials = wide(blocking.partials() * rows, row);
    list.push(interleaved(name::PARTIALS, partials, out(row)));
    if splits > 1 {
        let gathered = wide(splits * blocking.partials() * owned, row);
        list.push(interleaved(name::GATHERED, gathered, 0));
    }
    list.push(standard(name::STATISTICS, wide(rows, 8), 0));
    list.push(standard(name::QUERIES, wide(rows, row), left));
    if splits > 1 {
        list.push(standard(
            name::GATHERED_STATISTICS,
            wide(splits * owned, 8),
            0,
        ));
    }
    list.push(standard(
        name::INPUT,
        u64::from(blocking.input_bytes_max()),
        left,
    ));
    list.push(standard(
        name::OUTPUT,
        u64::from(output_bytes_max(blocking)),
        0,
    ));
    if queries_travel {
        list.push(standard(name::QUERIES_OUT, wide(owned, row), 0));
    }
    if keys_travel {
        let bytes = wide(blocking.owned_groups_max(), blocking.group_bytes());
        list.push(standard(name::KEYS_VALUES_OUT, bytes, 0));
    }
    list
}

/// Pairs of names that must share no exclusion unit, and why.
fn distinct_names(blocking: &Blocking) -> Vec<(&'static str, &'static str, &'static str)> {
    let product = "a matrix product loads one and stores the other in one instruction";
    let phase = "one is sent while the other is received";
    let mut pairs = vec![
        (name::QUERIES, name::SCORES, product),
        (name::SCORES, name::PARTIALS, product),
    ];
    let (queries_travel, keys_travel) = travels(blocking);
    let arrays = [
        (name::QUERIES_OUT, name::QUERIES, queries_travel),
        (name::KEYS_VALUES_OUT, name::KEYS_VALUES, keys_travel),
    ];
    for (sent, _, _) in arrays.iter().filter(|array| array.2) {
        for (_, received, _) in arrays.iter().filter(|array| array.2) {
            pairs.push((sent, received, phase));
        }
    }
    if blocking.key_splits > 1 {
        for sent in [name::PARTIALS, name::STATISTICS] {
            for received in [name::GATHERED, name::GATHERED_STATISTICS] {
                pairs.push((sent, received, phase));
            }
        }
    }
    pairs
}

/// The exclusion units that `bytes` bytes from `at` touch.
fn units(at: u32, bytes: u32) -> Range<u32> {
    let last = ByteAddr(at + bytes.max(1) - 1);
    exclusion_unit(ByteAddr(at))..exclusion_unit(last) + 1
}

/// The runs of memory a class may use, in ascending order.
fn runs(class: Class) -> impl Iterator<Item = Range<u32>> {
    let low = BASE.0 + (1 + CODE_ELEMENTS[1]) * ELEMENT_BYTES..INTERLEAVED.0;
    let high = INTERLEAVED.0..END.0;
    let (first, second) = match class {
        Class::Window => (HOST_WINDOW.0..HOST_WINDOW.0 + HOST_WINDOW_BYTES, None),
        Class::Interleaved => (high, None),
        Class::Standard => (low, Some(high)),
    };
    std::iter::once(first).chain(second)
}

/// The state of a placement.
struct Map<'a> {
    allocations: Vec<Allocation>,
    apart: &'a [(&'static str, &'static str, &'static str)],
}

impl Map<'_> {
    /// What of `run` the array called `name` may use: `run` less everything placed and every unit
    /// that an array it must be apart from touches.
    fn gaps(&self, name: &str, run: &Range<u32>) -> Vec<Range<u32>> {
        let mut taken: Vec<Range<u32>> = Vec::new();
        for other in &self.allocations {
            let end = other.at.0 + other.bytes + other.tail;
            taken.push(other.at.0..end);
            let apart = self.apart.iter().any(|(a, b, _)| {
                (*a == name && *b == other.name) || (*b == name && *a == other.name)
            });
            if apart {
                let units = units(other.at.0, other.bytes + other.tail);
                let end = if units.end < EXCLUSION_UNITS {
                    unit_start(units.end)
                } else {
                    END
                };
                taken.push(unit_start(units.start).0..end.0);
            }
        }
        taken.sort_by_key(|range| (range.start, range.end));
        let mut gaps = Vec::new();
        let mut from = run.start;
        for range in taken {
            if range.start > from && from < run.end {
                gaps.push(from..range.start.min(run.end));
            }
            from = from.max(range.end);
        }
        if from < run.end {
            gaps.push(from..run.end);
        }
        gaps
    }

    /// Places one array at the lowest address that will do.
    fn add(&mut self, array: &Array) -> Result<(), NoRoom> {
        let wanted = array.bytes + array.tail;
        let mut available = 0;
        for run in runs(array.class) {
            for gap in self.gaps(array.name, &run) {
                let at = gap.start.next_multiple_of(ALIGN);
                let room = u64::from(gap.end.saturating_sub(at));
                if let (true, Ok(bytes), Ok(tail)) = (
                    room >= wanted,
                    u32::try_from(array.bytes),
                    u32::try_from(array.tail),
                ) {
                    let (name, class) = (array.name.to_owned(), array.class);
                    let at = ByteAddr(at);
                    self.allocations.push(Allocation {
                        name,
                        class,
                        at,
                        bytes,
                        tail,
                        align: ALIGN,
                    });
                    return Ok(());
                }
                available = available.max(room);
            }
        }
        Err(NoRoom {
            array: array.name.to_owned(),
            class: array.class,
            wanted,
            available,
        })
    }
}

/// Refuses an array that would not even fit alone.
fn possible(array: &Array) -> Result<(), NoRoom> {
    let most = runs(array.class)
        .map(|run| run.end - run.start)
        .max()
        .unwrap_or(0);
    let wanted = array.bytes + array.tail;
    let most = u64::from(most);
    if wanted <= most {
        return Ok(());
    }
    Err(NoRoom {
        array: array.name.to_owned(),
        class: array.class,
        wanted,
        available: most,
    })
}

/// Places everything `blocking` needs.
pub(crate) fn place(blocking: &Blocking) -> Result<Layout, NoRoom> {
    let apart = distinct_names(blocking);
    let page = Allocation {
        name: name::PAGE.to_owned(),
        class: Class::Window,
        at: PAGE,
        bytes: HOST_PAGE,
        tail: 0,
        align: ALIGN,
    };
    let mut map = Map {
        allocations: vec![page],
        apart: &apart,
    };
    let arrays = arrays(blocking);
    // Slots grow with the input string; that the string is too long says more.
    for array in arrays.iter().filter(|array| array.name != name::SLOTS) {
        possible(array)?;
    }
    for array in &arrays {
        map.add(array)?;
    }
    let allocations = map.allocations;
    let index = |name: &str| allocations.iter().position(|a| a.name == name);
    let distinct = apart.iter().filter_map(|(first, second, reason)| {
        Some(Distinct {
            first: index(first)?,
            second: index(second)?,
            reason,
        })
    });
    let distinct = distinct.collect();
    let executable = CODE_ELEMENTS.map(|element| {
        let start = BASE.0 + element * ELEMENT_BYTES;
        start..start + ELEMENT_BYTES
    });
    Ok(Layout {
        allocations,
        distinct,
        executable: executable.to_vec(),
    })
}
