//! What a bundle promises: it reads back, and nothing else reads at all.

use tilekiln_bundle::format::Section;
use tilekiln_bundle::{
    Binding, Builder, Bundle, Class, Digest, Direction, Host, HostPhase, Line, Meta, ReadError,
    Roles, Rounding, Tensor, TensorKind, Verify, WriteError, digest,
};
use tilekiln_chip::memory::{ENTRY, LOADER_END};
use tilekiln_chip::{ByteAddr, PhysTile};

const META: Meta<'static> = Meta {
    name: "small",
    target: "ipu21",
    op: "attention",
    tiles: 1472,
    batch: 1,
    query_length: 4,
    key_length: 4,
    heads: 2,
    head_dimension: 8,
    padded_head_dimension: 16,
    scale: 0.353,
    rounding: Rounding::Nearest,
    tasks: 2,
    query_blocks: 1,
    query_block_rows: 4,
    key_splits: 1,
    key_block_rows: 16,
    exchange_phases: 1,
    roles: Roles {
        query: 0,
        key: 1,
        value: 2,
        output: 3,
    },
};

const VERIFY: Verify = Verify {
    seed: 0xfa57_a77e_1616,
    mean: 0.0,
    std: 0.5,
    max_abs_error: 2e-4,
    rmse: 2e-5,
};

fn host() -> Host {
    Host {
        buffer_bytes: 0x4000,
        cycles: [0x3000, 0x3004],
        command_offset: 0,
        completion_tile: PhysTile::new(0).unwrap(),
        completion_address: ByteAddr(0x5_0000),
    }
}

fn builder() -> (Builder, Class) {
    let mut builder = Builder::new(&META, &host(), &VERIFY);
    for (index, name) in ["query", "key", "value", "attention"]
        .into_iter()
        .enumerate()
    {
        let kind = if index == 3 {
            TensorKind::Output
        } else {
            TensorKind::Input
        };
        builder.tensor(&Tensor {
            name,
            kind,
            shape: [1, 4, 2, 8],
        });
        builder.binding(&Binding {
            tensor: index as u32,
            buffer_offset: 0x1000 * index as u32,
            buffer_stride: 16,
            row_elements: 8,
            rows: 8,
            first_element: 0,
            element_stride: 8,
        });
    }
    builder.phase(&HostPhase {
        direction: Direction::ToTiles,
        pages: 2,
        bytes: 384,
    });
    builder.phase(&HostPhase {
        direction: Direction::ToHost,
        pages: 2,
        bytes: 128,
    });
    builder
        .stage("plan", b"a plan")
        .manifest("a = 1\n")
        .report("all is well\n");
    let class = builder.class("task");
    builder.line(class, &line(0x4_c020, 0x4_c030, "gemm", 12));
    builder.line(class, &line(0x4_c010, 0x4_c018, "entry", 0));
    (builder, class)
}

fn line(start: u32, end: u32, symbol: &str, line: u32) -> Line<'_> {
    Line {
        start: ByteAddr(start),
        end: ByteAddr(end),
        symbol,
        file: "gemm.S",
        line,
    }
}

/// Every tile has a shared piece and one of its own.
fn small() -> Vec<u8> {
    build(|tile| {
        let own = vec![tile.index() as u8; 8];
        vec![(ByteAddr(0x6_0000), own), (ENTRY, vec![7; 64])]
    })
    .unwrap()
}

fn build(image: impl Fn(PhysTile) -> Vec<(ByteAddr, Vec<u8>)>) -> Result<Vec<u8>, WriteError> {
    let (mut builder, class) = builder();
    for tile in PhysTile::all() {
        builder.tile(tile, class, &image(tile))?;
    }
    builder.finish()
}

#[test]
fn what_was_written_is_read() {
    let bytes = small();
    let bundle = Bundle::parse(&bytes).unwrap();
    assert_eq!(*bundle.meta(), META);
    assert_eq!(*bundle.verify(), VERIFY);
    assert_eq!(*bundle.host(), host());
    assert_eq!(bundle.tensors().len(), 4);
    assert_eq!(bundle.tensor(3).unwrap().name, "attention");
    assert_eq!(bundle.bindings().nth(2).unwrap().buffer_offset, 0x2000);
    assert_eq!(bundle.acknowledgements(), 4);
    assert_eq!(
        bundle.stages().next().unwrap().digest,
        Digest::of(b"a plan")
    );
    assert_eq!(
        (bundle.manifest(), bundle.report()),
        ("a = 1\n", "all is well\n")
    );
    assert_eq!(bundle.classes().collect::<Vec<_>>(), ["task"]);
    for image in bundle.tiles() {
        let segments: Vec<_> = image.segments().collect();
        assert_eq!(
            (segments[0].address, segments[0].bytes),
            (ENTRY, &[7; 64][..])
        );
        assert_eq!(segments[1].bytes, [image.tile.index() as u8; 8]);
        assert_eq!(image.bytes(), 72);
    }
}

#[test]
fn equal_segments_are_stored_once() {
    let bytes = small();
    let bundle = Bundle::parse(&bytes).unwrap();
    let places: std::collections::BTreeSet<_> = bundle
        .tiles()
        .flat_map(|image| image.segments())
        .map(|s| s.bundle_offset)
        .collect();
    // One shared piece and 256 different own ones.
    assert_eq!(places.len(), 257);
}

#[test]
fn equal_calls_give_equal_bytes() {
    assert_eq!(small(), small());
}

#[test]
fn an_address_leads_back_to_its_line() {
    let bytes = small();
    let bundle = Bundle::parse(&bytes).unwrap();
    let at = |address| {
        let tile = PhysTile::new(9).unwrap();
        bundle
            .line(tile, ByteAddr(address))
            .map(|line| line.to_string())
    };
    assert_eq!(at(0x4_c010).as_deref(), Some("entry (gemm.S)"));
    assert_eq!(at(0x4_c02c).as_deref(), Some("gemm (gemm.S:12)"));
    assert_eq!(at(0x4_c018), None);
    assert_eq!(at(0x4_c030), None);
}

#[test]
fn one_flipped_byte_anywhere_is_refused() {
    let mut bytes = small();
    // All of the header and the tables before the tiles, then a sample of the rest.
    let dense = 2048;
    for at in (0..dense).chain((dense..bytes.len()).step_by(257)) {
        bytes[at] ^= 0x10;
        assert!(Bundle::parse(&bytes).is_err(), "byte {at} is free");
        bytes[at] ^= 0x10;
    }
    assert!(Bundle::parse(&bytes).is_ok());
}

#[test]
fn a_cut_or_extended_bundle_is_refused() {
    let mut bytes = small();
    for keep in [0, 63, 64, 1000, bytes.len() / 2, bytes.len() - 1] {
        assert!(
            Bundle::parse(&bytes[..keep]).is_err(),
            "{keep} bytes are enough"
        );
    }
    bytes.push(0);
    assert!(matches!(
        Bundle::parse(&bytes),
        Err(ReadError::Length { .. })
    ));
}

#[test]
fn another_version_or_chip_is_named() {
    let mut bytes = small();
    bytes[8] = 9;
    let error = Bundle::parse(&bytes).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a bundle of version 9; this program reads version 1"
    );
    let mut bytes = small();
    bytes[16..24].copy_from_slice(b"ipu3\0\0\0\0");
    let error = Bundle::parse(&bytes).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a bundle for \"ipu3\"; this program drives \"ipu21\""
    );
}

#[test]
fn bytes_behind_right_digests_never_panic() {
    let bytes = small();
    let dense = Bundle::parse(&bytes).unwrap().section(Section::Strings).end;
    arbtest::arbtest(|u| {
        let mut bytes = bytes.clone();
        for _ in 0..u.int_in_range(1..=4)? {
            let at = u.int_in_range(0..=dense - 1)?;
            bytes[at] = u.arbitrary()?;
        }
        digest::reseal(&mut bytes);
        if let Ok(bundle) = Bundle::parse(&bytes) {
            for image in bundle.tiles() {
                let _ = (image.bytes(), bundle.line(image.tile, ENTRY));
            }
            let _ = bundle.stages().chain(bundle.stages()).count();
        }
        Ok(())
    })
    .budget_ms(2000);
}

#[test]
fn arbitrary_bytes_never_panic() {
    arbtest::arbtest(|u| {
        let mut bytes: Vec<u8> = u.arbitrary()?;
        let _ = Bundle::parse(&bytes);
        digest::reseal(&mut bytes);
        let _ = Bundle::parse(&bytes);
        Ok(())
    })
    .budget_ms(500);
}

#[test]
fn a_tile_without_an_image_is_named() {
    let (mut builder, class) = builder();
    let image = [(ENTRY, [0; 8])];
    for tile in PhysTile::all().filter(|tile| tile.index() != 77) {
        builder.tile(tile, class, &image).unwrap();
    }
    assert_eq!(
        builder.finish().unwrap_err().to_string(),
        "physical tile 77 has no image"
    );
}

#[test]
fn images_the_loader_cannot_place_are_refused() {
    check(
        &[],
        "the image of physical tile 0 starts at 0xe8000, not at 0x4c010",
    );
    check(
        &[(0x5_0000, 8)],
        "the image of physical tile 0 starts at 0x50000, not at 0x4c010",
    );
    check(
        &[(ENTRY.0, 16), (ENTRY.0 + 12, 8)],
        "physical tile 0: the segment at 0x4c01c starts below 0x4c020, where the last ends",
    );
    check(
        &[(ENTRY.0, 16), (LOADER_END.0 - 4, 8)],
        "physical tile 0: 8 bytes at 0xe7bac leave 0x4c010..0xe7bb0, which the loader can reach",
    );
    check(
        &[(0x4_c000, 16)],
        "physical tile 0: 16 bytes at 0x4c000 leave 0x4c010..0xe7bb0, which the loader can reach",
    );
    check(
        &[(ENTRY.0, 6)],
        "record 0 of section segments has bytes 6; 4 is the limit",
    );
}

#[track_caller]
fn check(image: &[(u32, usize)], want: &str) {
    let image: Vec<_> = image
        .iter()
        .map(|&(at, bytes)| (ByteAddr(at), vec![1; bytes]))
        .collect();
    match build(|_| image.clone()) {
        Err(WriteError::Refused(error)) => assert_eq!(error.to_string(), want),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_output_bound_in_part_is_refused() {
    let (mut builder, class) = builder();
    builder.tensor(&Tensor {
        name: "more",
        kind: TensorKind::Output,
        shape: [1, 1, 1, 2],
    });
    for tile in PhysTile::all() {
        builder.tile(tile, class, &[(ENTRY, [0; 8])]).unwrap();
    }
    let Err(WriteError::Refused(error)) = builder.finish() else {
        panic!("accepted")
    };
    assert_eq!(
        error.to_string(),
        "0 elements of tensor 4 are bound to the host buffer; it has 2"
    );
}

#[test]
fn a_binding_beyond_the_buffer_is_refused() {
    let (mut builder, class) = builder();
    builder.binding(&Binding {
        tensor: 0,
        buffer_offset: 0x3ff8,
        buffer_stride: 16,
        row_elements: 8,
        rows: 1,
        first_element: 0,
        element_stride: 8,
    });
    for tile in PhysTile::all() {
        builder.tile(tile, class, &[(ENTRY, [0; 8])]).unwrap();
    }
    let Err(WriteError::Refused(error)) = builder.finish() else {
        panic!("accepted")
    };
    assert_eq!(
        error.to_string(),
        "record 4 of section bindings has the end of its buffer range 16392; 16384 is the limit"
    );
}
