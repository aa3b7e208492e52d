//! What must hold of the records of a bundle whose digests are right.

use tilekiln_chip::exchange::HOST_PAGE;

use super::*;
use crate::format::{BUFFER_BYTES_MAX, COMMAND_PAGE_BYTES, TensorKind};

/// Names the record whose field means nothing.
pub(super) fn readable<T>(
    section: Section,
    index: usize,
    record: Result<T, BadField>,
) -> Result<T, ReadError> {
    record.map_err(|BadField { field, value }| ReadError::Meaningless {
        section,
        index,
        field,
        value,
    })
}

/// Checks every record and what the records say of each other.
pub(super) fn all(bundle: &Bundle<'_>) -> Result<(), ReadError> {
    every::<Tensor<'_>>(bundle, Section::Tensors)?;
    every::<HostPhase>(bundle, Section::Phases)?;
    every::<Binding>(bundle, Section::Bindings)?;
    every::<TileRecord>(bundle, Section::Tiles)?;
    every::<SegmentRecord>(bundle, Section::Segments)?;
    every::<ClassRecord<'_>>(bundle, Section::Classes)?;
    every::<Line<'_>>(bundle, Section::Lines)?;
    every::<Stage<'_>>(bundle, Section::Stages)?;
    tensors(bundle)?;
    meta(bundle)?;
    host(bundle)?;
    verify(bundle)?;
    phases(bundle)?;
    bindings(bundle)?;
    classes(bundle)?;
    tiles(bundle)
}

/// Reads every record once, so that reading one later cannot fail.
fn every<'a, T: Record<'a>>(bundle: &Bundle<'a>, section: Section) -> Result<(), ReadError> {
    for index in 0..bundle.len(section) {
        readable(section, index, T::take(&mut bundle.fields(section, index)))?;
    }
    Ok(())
}

/// Complaints about one record.
#[derive(Clone, Copy)]
struct About {
    section: Section,
    index: usize,
}

impl About {
    fn at_most(self, field: &'static str, value: u64, limit: u64) -> Result<(), ReadError> {
        let Self { section, index } = self;
        if value > limit {
            return Err(ReadError::Field {
                section,
                index,
                field,
                value,
                limit,
            });
        }
        Ok(())
    }

    fn at_least(self, field: &'static str, value: u64, limit: u64) -> Result<(), ReadError> {
        let Self { section, index } = self;
        if value < limit {
            return Err(ReadError::Field {
                section,
                index,
                field,
                value,
                limit,
            });
        }
        Ok(())
    }

    fn multiple(self, field: &'static str, value: u64, of: u64) -> Result<(), ReadError> {
        let Self { section, index } = self;
        if !value.is_multiple_of(of) {
            return Err(ReadError::Field {
                section,
                index,
                field,
                value,
                limit: of,
            });
        }
        Ok(())
    }

    fn finite(self, field: &'static str, value: f64) -> Result<(), ReadError> {
        let Self { section, index } = self;
        if !value.is_finite() {
            return Err(ReadError::Meaningless {
                section,
                index,
                field,
                value: value.to_bits(),
            });
        }
        Ok(())
    }
}

fn tensors(bundle: &Bundle<'_>) -> Result<(), ReadError> {
    for (index, tensor) in bundle.tensors().enumerate() {
        let about = About {
            section: Section::Tensors,
            index,
        };
        about.at_least("name length", tensor.name.len() as u64, 1)?;
        let elements = tensor.elements().unwrap_or(u64::MAX);
        about.at_least("elements", elements, 1)?;
        about.at_most("elements", elements, u64::from(BUFFER_BYTES_MAX) / 2)?;
        if let Some(first) = bundle
            .tensors()
            .take(index)
            .position(|t| t.name == tensor.name)
        {
            return Err(ReadError::NameTwice {
                first,
                second: index,
                name: tensor.name.to_owned(),
            });
        }
    }
    Ok(())
}

fn meta(bundle: &Bundle<'_>) -> Result<(), ReadError> {
    let about = About {
        section: Section::Meta,
        index: 0,
    };
    let meta = bundle.meta();
    about.at_most("tiles", meta.tiles.into(), TILE_COUNT.into())?;
    about.at_most("tasks", meta.tasks.into(), meta.tiles.into())?;
    about.finite("scale", meta.scale)?;
    for (field, value) in [
        ("tiles", meta.tiles),
        ("tasks", meta.tasks),
        ("batch", meta.batch),
        ("query length", meta.query_length),
        ("key length", meta.key_length),
        ("heads", meta.heads),
        ("head dimension", meta.head_dimension),
        ("query blocks", meta.query_blocks),
        ("query block rows", meta.query_block_rows),
        ("key splits", meta.key_splits),
        ("key block rows", meta.key_block_rows),
    ] {
        about.at_least(field, value.into(), 1)?;
    }
    let padded = meta.padded_head_dimension.into();
    about.at_least("padded head dimension", padded, meta.head_dimension.into())?;
    let (queries, keys) = (meta.query_length, meta.key_length);
    for (field, role, kind, length) in [
        ("query tensor", meta.roles.query, TensorKind::Input, queries),
        ("key tensor", meta.roles.key, TensorKind::Input, keys),
        ("value tensor", meta.roles.value, TensorKind::Input, keys),
        (
            "output tensor",
            meta.roles.output,
            TensorKind::Output,
            queries,
        ),
    ] {
        let tensor = bundle.tensor(role);
        let shape = [meta.batch, length, meta.heads, meta.head_dimension];
        let fits = tensor.is_some_and(|tensor| tensor.kind == kind && tensor.shape == shape);
        if !fits {
            let (section, value) = (Section::Meta, role.into());
            return Err(ReadError::Meaningless {
                section,
                index: 0,
                field,
                value,
            });
        }
    }
    Ok(())
}

fn host(bundle: &Bundle<'_>) -> Result<(), ReadError> {
    let about = About {
        section: Section::Host,
        index: 0,
    };
    let host = bundle.host();
    let bytes = u64::from(host.buffer_bytes);
    about.at_least("buffer bytes", bytes, COMMAND_PAGE_BYTES.into())?;
    about.at_most("buffer bytes", bytes, BUFFER_BYTES_MAX.into())?;
    about.multiple("buffer bytes", bytes, COMMAND_PAGE_BYTES.into())?;
    for offset in host.cycles {
        about.multiple("cycle sample offset", offset.into(), 4)?;
        about.at_most("cycle sample offset", offset.into(), bytes - 4)?;
    }
    about.multiple("command offset", host.command_offset.into(), 4)?;
    about.at_most(
        "command offset",
        host.command_offset.into(),
        COMMAND_PAGE_BYTES as u64 - 4,
    )?;
    let completion = u64::from(host.completion_address.0);
    about.multiple("completion address", completion, 4)?;
    about.at_least("completion address", completion, BASE.0.into())?;
    about.at_most(
        "completion address",
        completion,
        u64::from(tilekiln_chip::memory::END.0) - 4,
    )
}

fn verify(bundle: &Bundle<'_>) -> Result<(), ReadError> {
    let about = About {
        section: Section::Verify,
        index: 0,
    };
    let verify = bundle.verify();
    about.finite("mean", verify.mean)?;
    about.finite("standard deviation", verify.std)?;
    about.finite("max_abs_error", verify.max_abs_error)?;
    about.finite("rmse", verify.rmse)
}

fn phases(bundle: &Bundle<'_>) -> Result<(), ReadError> {
    let about = About {
        section: Section::Phases,
        index: bundle.phases().len(),
    };
    // Two rendezvous a phase are counted in 32 bits.
    about.at_most("a count of", bundle.phases().len() as u64, 0xffff)?;
    about.at_least("a count of", bundle.phases().len() as u64, 1)?;
    let mut last = Direction::ToTiles;
    for (index, phase) in bundle.phases().enumerate() {
        let about = About {
            section: Section::Phases,
            index,
        };
        about.at_most("pages", phase.pages.into(), TILE_COUNT.into())?;
        about.at_most(
            "bytes",
            phase.bytes,
            u64::from(phase.pages) * u64::from(HOST_PAGE),
        )?;
        // Inputs first: the command word is read in phase 0, the outputs end the call.
        about.at_least("direction", phase.direction as u64, last as u64)?;
        last = phase.direction;
    }
    Ok(())
}

fn bindings(bundle: &Bundle<'_>) -> Result<(), ReadError> {
    for (index, binding) in bundle.bindings().enumerate() {
        binding_fits(
            bundle,
            About {
                section: Section::Bindings,
                index,
            },
            &binding,
        )?;
    }
    for (index, tensor) in bundle.tensors().enumerate() {
        let bound = bundle
            .bindings()
            .filter(|binding| binding.tensor as usize == index)
            .fold(0u64, |sum, binding| {
                sum.saturating_add(u64::from(binding.rows) * u64::from(binding.row_elements))
            });
        let elements = tensor.elements().unwrap_or(u64::MAX);
        let complete = match tensor.kind {
            TensorKind::Input => bound >= elements,
            TensorKind::Output => bound == elements,
        };
        if !complete {
            return Err(ReadError::Unbound {
                tensor: index,
                bound,
                elements,
            });
        }
    }
    Ok(())
}

fn binding_fits(bundle: &Bundle<'_>, about: About, binding: &Binding) -> Result<(), ReadError> {
    let Some(tensor) = bundle.tensor(binding.tensor) else {
        let limit = (bundle.tensors().len() as u64).saturating_sub(1);
        let (section, index, value) = (about.section, about.index, binding.tensor.into());
        return Err(ReadError::Field {
            section,
            index,
            field: "tensor",
            value,
            limit,
        });
    };
    about.at_least("rows", binding.rows.into(), 1)?;
    about.at_least("row elements", binding.row_elements.into(), 1)?;
    about.multiple("buffer offset", binding.buffer_offset.into(), 2)?;
    about.multiple("buffer stride", binding.buffer_stride.into(), 2)?;
    let (more_rows, row) = (u64::from(binding.rows) - 1, u64::from(binding.row_elements));
    if more_rows > 0 {
        about.at_least("buffer stride", binding.buffer_stride.into(), 2 * row)?;
        about.at_least("element stride", binding.element_stride, row)?;
    }
    let end =
        u64::from(binding.buffer_offset) + more_rows * u64::from(binding.buffer_stride) + 2 * row;
    about.at_most(
        "the end of its buffer range",
        end,
        bundle.host().buffer_bytes.into(),
    )?;
    let end = more_rows
        .checked_mul(binding.element_stride)
        .and_then(|bytes| bytes.checked_add(binding.first_element))
        .and_then(|bytes| bytes.checked_add(row))
        .unwrap_or(u64::MAX);
    about.at_most(
        "the end of its elements",
        end,
        tensor.elements().unwrap_or(0),
    )
}

fn classes(bundle: &Bundle<'_>) -> Result<(), ReadError> {
    let lines = bundle.len(Section::Lines);
    for index in 0..bundle.len(Section::Classes) {
        let class: ClassRecord<'_> = bundle.record(Section::Classes, index);
        let about = About {
            section: Section::Classes,
            index,
        };
        let end = u64::from(class.first_line) + u64::from(class.lines);
        about.at_most("the end of its lines", end, lines as u64)?;
        let mut previous = 0;
        for index in class.first_line as usize..end as usize {
            let line: Line<'_> = bundle.record(Section::Lines, index);
            let about = About {
                section: Section::Lines,
                index,
            };
            about.at_least("start", line.start.0.into(), previous)?;
            about.at_least("end", line.end.0.into(), u64::from(line.start.0) + 1)?;
            previous = line.end.0.into();
        }
    }
    Ok(())
}

fn tiles(bundle: &Bundle<'_>) -> Result<(), ReadError> {
    let (got, want) = (bundle.len(Section::Tiles), usize::from(TILE_COUNT));
    if got != want {
        return Err(ReadError::TileCount { got, want });
    }
    let classes = bundle.len(Section::Classes) as u64;
    let segments = bundle.len(Section::Segments) as u64;
    for tile in PhysTile::all() {
        let index = usize::from(tile.index());
        let record: TileRecord = bundle.record(Section::Tiles, index);
        let about = About {
            section: Section::Tiles,
            index,
        };
        about.at_most("class", record.class.into(), classes.saturating_sub(1))?;
        about.at_least("a count of classes", classes, 1)?;
        let end = u64::from(record.first_segment) + u64::from(record.segments);
        about.at_most("the end of its segments", end, segments)?;
        image(bundle, tile, record)?;
    }
    Ok(())
}

fn image(bundle: &Bundle<'_>, tile: PhysTile, record: TileRecord) -> Result<(), ReadError> {
    let blob = bundle.section(Section::Blob).len() as u64;
    let mut previous_end = None;
    let first = record.first_segment as usize;
    for index in first..first + record.segments as usize {
        let segment: SegmentRecord = bundle.record(Section::Segments, index);
        let about = About {
            section: Section::Segments,
            index,
        };
        about.at_least("bytes", segment.bytes.into(), 1)?;
        about.multiple("address", segment.address.into(), 4)?;
        about.multiple("bytes", segment.bytes.into(), 4)?;
        let end = u64::from(segment.blob_offset) + u64::from(segment.bytes);
        about.at_most("the end of its bytes", end, blob)?;
        let (address, bytes) = (ByteAddr(segment.address), segment.bytes);
        let reachable = LOADER_END
            .0
            .checked_sub(address.0)
            .is_some_and(|room| bytes <= room);
        if address < ENTRY || !reachable {
            let (from, to) = (ENTRY, LOADER_END);
            return Err(ReadError::Unreachable {
                tile,
                address,
                bytes,
                from,
                to,
            });
        }
        match previous_end {
            None if address != ENTRY => {
                return Err(ReadError::Entry {
                    tile,
                    got: address,
                    want: ENTRY,
                });
            }
            Some(previous_end) if address < previous_end => {
                return Err(ReadError::Overlap {
                    tile,
                    address,
                    previous_end,
                });
            }
            _ => previous_end = Some(address.offset(bytes)),
        }
    }
    if previous_end.is_none() {
        return Err(ReadError::Entry {
            tile,
            got: tilekiln_chip::memory::END,
            want: ENTRY,
        });
    }
    Ok(())
}
