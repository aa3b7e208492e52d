//! What was baked: summary, sizes, memory map, manifest, report.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use clap::ValueEnum;
use tilekiln_bundle::format::Section;
use tilekiln_bundle::{Bundle, Direction, Meta, TensorKind, Verify};
use tilekiln_chip::{ByteAddr, PhysTile, TILE_COUNT};

use crate::json::Json;

/// What to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// Shapes, choices, digests.
    #[default]
    Summary,
    /// What the bake reported.
    Report,
    /// The digests of the bake's stages, as checked in.
    Manifest,
    /// What lies where on one tile.
    Map,
    /// What takes how many bytes.
    Sizes,
}

/// There is no such thing to show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InspectError {
    /// A tile beyond the last.
    #[error("there is no physical tile {tile}; the last is {last}")]
    Tile {
        /// What was asked for.
        tile: u16,
        /// The last there is.
        last: u16,
    },
}

/// A view of a bundle as text or JSON, with the line end behind it.
///
/// # Errors
///
/// [`InspectError::Tile`] when the map of a tile is wanted that does not exist.
pub fn show(
    bundle: &Bundle<'_>,
    view: View,
    tile: u16,
    json: bool,
) -> Result<String, InspectError> {
    let value = match view {
        View::Summary => summary(bundle),
        View::Sizes => sizes(bundle),
        View::Map => {
            let last = TILE_COUNT - 1;
            map(
                bundle,
                PhysTile::new(tile).ok_or(InspectError::Tile { tile, last })?,
            )
        }
        View::Report if json => Json::object([("report", bundle.report().into())]),
        View::Manifest if json => Json::object([("manifest", bundle.manifest().into())]),
        View::Report => return Ok(bundle.report().to_owned()),
        View::Manifest => return Ok(bundle.manifest().to_owned()),
    };
    Ok(if json {
        format!("{value}\n")
    } else {
        outline(&value)
    })
}

/// A value as indented lines.
fn outline(value: &Json) -> String {
    let mut text = String::new();
    if let Json::Object(fields) = value {
        write_fields(&mut text, 0, fields);
    }
    text
}

fn write_fields(text: &mut String, depth: usize, fields: &[(String, Json)]) {
    for (key, value) in fields {
        write_field(text, depth, key, value);
    }
}

fn write_field(text: &mut String, depth: usize, key: &str, value: &Json) {
    let indent = 2 * depth;
    let width = 28usize.saturating_sub(indent);
    // Writing to a String cannot fail.
    match value {
        Json::Object(fields) => {
            let _ = writeln!(text, "{:indent$}{key}", "");
            write_fields(text, depth + 1, fields);
        }
        Json::List(items) if items.iter().all(|item| !matches!(item, Json::Object(_))) => {
            let items: Vec<_> = items.iter().map(plain).collect();
            let _ = writeln!(text, "{:indent$}{key:<width$} {}", "", items.join(", "));
        }
        Json::List(items) => {
            let _ = writeln!(text, "{:indent$}{key}", "");
            for item in items {
                let Json::Object(fields) = item else { continue };
                let line: Vec<_> = fields
                    .iter()
                    .map(|(key, value)| format!("{key} {}", plain(value)))
                    .collect();
                let _ = writeln!(text, "{:indent$}  {}", "", line.join("  "));
            }
        }
        value => {
            let _ = writeln!(text, "{:indent$}{key:<width$} {}", "", plain(value));
        }
    }
}

fn plain(value: &Json) -> String {
    match value {
        Json::Text(text) => text.clone(),
        Json::List(items) => {
            let items: Vec<_> = items.iter().map(plain).collect();
            format!("[{}]", items.join(", "))
        }
        value => value.to_string(),
    }
}

fn summary(bundle: &Bundle<'_>) -> Json {
    let (meta, host) = (bundle.meta(), bundle.host());
    let mut fields: Vec<(&str, Json)> = vec![
        ("graph", meta.name.into()),
        ("digest", bundle.digest().to_string().into()),
        ("bytes", bundle.bytes().len().into()),
    ];
    fields.extend(figures(meta));
    fields.extend([
        ("host_rendezvous", bundle.acknowledgements().into()),
        ("buffer_bytes", host.buffer_bytes.into()),
        (
            "completion",
            format!("{} at {}", host.completion_tile, host.completion_address).into(),
        ),
        ("tensors", tensors(bundle)),
        ("host_phases", host_phases(bundle)),
        ("verify", demands(bundle.verify())),
        ("stages", stages(bundle)),
    ]);
    Json::object(fields)
}

/// Shapes and choices, under the names of the reference log where it has one.
pub(crate) fn figures(meta: &Meta<'_>) -> Vec<(&'static str, Json)> {
    vec![
        ("target", meta.target.into()),
        ("tiles", meta.tiles.into()),
        ("op", meta.op.into()),
        ("batch_size", meta.batch.into()),
        ("query_sequence_length", meta.query_length.into()),
        ("sequence_length", meta.key_length.into()),
        (
            "hidden_size",
            (u64::from(meta.heads) * u64::from(meta.head_dimension)).into(),
        ),
        ("heads", meta.heads.into()),
        ("head_dimension", meta.head_dimension.into()),
        ("padded_head_dimension", meta.padded_head_dimension.into()),
        ("scale", meta.scale.into()),
        ("rounding", meta.rounding.to_string().into()),
        ("tasks", meta.tasks.into()),
        ("query_blocks", meta.query_blocks.into()),
        ("query_block_rows", meta.query_block_rows.into()),
        ("key_splits", meta.key_splits.into()),
        ("key_block_rows", meta.key_block_rows.into()),
        ("exchange_phases", meta.exchange_phases.into()),
    ]
}

fn tensors(bundle: &Bundle<'_>) -> Json {
    Json::list(bundle.tensors().map(|tensor| {
        let kind = if tensor.kind == TensorKind::Input {
            "input"
        } else {
            "output"
        };
        Json::object([
            ("name", tensor.name.into()),
            ("kind", kind.into()),
            ("dtype", "f16".into()),
            ("shape", Json::list(tensor.shape)),
        ])
    }))
}

fn host_phases(bundle: &Bundle<'_>) -> Json {
    Json::list(bundle.phases().map(|phase| {
        let direction = if phase.direction == Direction::ToTiles {
            "in"
        } else {
            "out"
        };
        Json::object([
            ("direction", direction.into()),
            ("pages", phase.pages.into()),
            ("bytes", phase.bytes.into()),
        ])
    }))
}

fn demands(verify: &Verify) -> Json {
    Json::object([
        ("seed", format!("{:#x}", verify.seed).into()),
        ("mean", verify.mean.into()),
        ("std", verify.std.into()),
        ("max_abs_error", verify.max_abs_error.into()),
        ("rmse", verify.rmse.into()),
    ])
}

fn stages(bundle: &Bundle<'_>) -> Json {
    Json::list(bundle.stages().map(|stage| {
        Json::object([
            ("name", stage.name.into()),
            ("sha256", stage.digest.to_string().into()),
            ("bytes", stage.bytes.into()),
        ])
    }))
}

fn sizes(bundle: &Bundle<'_>) -> Json {
    let sections = Section::ALL.map(|section| {
        (
            section.to_string(),
            Json::from(bundle.section(section).len()),
        )
    });
    let classes = bundle.classes().enumerate().map(|(class, name)| {
        let images: Vec<_> = bundle
            .tiles()
            .filter(|image| image.class() as usize == class)
            .map(|image| image.bytes())
            .collect();
        Json::object([
            ("name", name.into()),
            ("tiles", images.len().into()),
            ("smallest", images.iter().copied().min().unwrap_or(0).into()),
            ("largest", images.iter().copied().max().unwrap_or(0).into()),
        ])
    });
    let segments: usize = bundle.tiles().map(|image| image.segments().len()).sum();
    let all: usize = bundle.tiles().map(|image| image.bytes()).sum();
    let places: BTreeSet<_> = bundle
        .tiles()
        .flat_map(|image| image.segments().map(|segment| segment.bundle_offset))
        .collect();
    Json::object([
        ("bundle_bytes", bundle.bytes().len().into()),
        ("image_bytes", all.into()),
        ("segments", segments.into()),
        ("distinct_segments", places.len().into()),
        ("images", Json::list(classes)),
        ("sections", Json::object(sections)),
    ])
}

fn map(bundle: &Bundle<'_>, tile: PhysTile) -> Json {
    let image = bundle.tile(tile);
    let class = image.class();
    let segments = image.segments().map(|segment| {
        let end = ByteAddr(segment.address.0 + segment.bytes.len() as u32);
        Json::object([
            ("start", segment.address.to_string().into()),
            ("end", end.to_string().into()),
            ("bytes", segment.bytes.len().into()),
            (
                "digest",
                tilekiln_bundle::Digest::of(segment.bytes).to_string()[..16].into(),
            ),
        ])
    });
    Json::object([
        ("tile", tile.to_string().into()),
        (
            "image",
            bundle
                .classes()
                .nth(class as usize)
                .unwrap_or_default()
                .into(),
        ),
        ("segments", Json::list(segments)),
        ("symbols", Json::List(symbols(bundle, class))),
    ])
}

/// Runs of lines of one symbol.
fn symbols(bundle: &Bundle<'_>, class: u32) -> Vec<Json> {
    let mut runs: Vec<(ByteAddr, ByteAddr, &str, &str)> = Vec::new();
    for line in bundle.lines(class) {
        match runs.last_mut() {
            Some((_, end, symbol, file)) if *symbol == line.symbol && *file == line.file => {
                *end = line.end;
            }
            _ => runs.push((line.start, line.end, line.symbol, line.file)),
        }
    }
    runs.into_iter()
        .map(|(start, end, symbol, file)| {
            Json::object([
                ("start", start.to_string().into()),
                ("end", end.to_string().into()),
                ("symbol", symbol.into()),
                ("file", file.into()),
            ])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::sample;

    #[test]
    fn a_map_shows_segments_and_symbols() {
        let bytes = sample::bundle();
        let bundle = Bundle::parse(&bytes).unwrap();
        expect![[r#"
            tile                         physical tile 3
            image                        task
            segments
              start 0x4c010  end 0x4c018  bytes 8  digest af5570f5a1810b7a
            symbols
              start 0x4c010  end 0x4c018  symbol start  file support.S
        "#]]
        .assert_eq(&show(&bundle, View::Map, 3, false).unwrap());
    }

    #[test]
    fn sizes_count_shared_segments_once() {
        let bytes = sample::bundle();
        let bundle = Bundle::parse(&bytes).unwrap();
        let text = show(&bundle, View::Sizes, 0, false).unwrap();
        assert!(
            text.contains("segments                     1472\n"),
            "{text}"
        );
        assert!(text.contains("distinct_segments            1\n"), "{text}");
    }

    #[test]
    fn texts_come_out_as_they_went_in() {
        let bytes = sample::bundle();
        let bundle = Bundle::parse(&bytes).unwrap();
        assert_eq!(show(&bundle, View::Report, 0, false).unwrap(), "a report\n");
        assert_eq!(
            show(&bundle, View::Manifest, 0, true).unwrap(),
            "{\n  \"manifest\": \"name = \\\"sample\\\"\\n\"\n}\n"
        );
    }

    #[test]
    fn a_tile_beyond_the_last_is_refused() {
        let bytes = sample::bundle();
        let bundle = Bundle::parse(&bytes).unwrap();
        let error = show(&bundle, View::Map, 1472, false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no physical tile 1472; the last is 1471"
        );
    }
}
