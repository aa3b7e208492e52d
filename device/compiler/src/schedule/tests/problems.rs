//! Loads that tests and benches share.

use tilekiln_chip::{ByteAddr, TileId};

use crate::plan::{Exchange, Transfer, Width};

/// Small problems with a published schedule: name, its length, the lower bound, the transfers.
/// [exchange §16]
#[rustfmt::skip] // One problem a line.
pub(super) const REFERENCE: &[(&str, u32, u32, &str)] = &[
    ("p2p-short",       173,  56, "0>1286@65000=70000 x3"),
    ("p2p-52",          230, 162, "736>100@65000=70000 x52"),
    ("p2p-65",          235, 118, "1286>1471@65000=70000 x65"),
    ("mcast-2",          61,  56, "0>274,1286@65000=70000,71000 x3"),
    ("swap-64",         234, 185, "0>736@65000=70000 x64  736>0@65000=70000 x64"),
    ("gather-contig",   558, 295, "96>700@65000=70000 x52  98>700@65000=700d0 x52  128>700@65000=701a0 x52  800>700@65000=70270 x52"),
    ("scatter-6",      1045, 255, "555>1@65000=70000 x40  555>99@65100=70000 x41  555>301@65200=70000 x42  555>702@65300=70000 x43  555>1105@65400=70000 x44  555>1400@65500=70000 x45"),
    ("relay",           463, 137, "0>736@65000=70000 x64  736>1286@70000=74000 x64"),
    ("all4x32",         353, 169, "20>21@65080=70000 x32  20>640@65100=70000 x32  20>1111@65180=70000 x32  21>20@65000=70080 x32  21>640@65100=70080 x32  21>1111@65180=70080 x32  640>20@65000=70100 x32  640>21@65080=70100 x32  640>1111@65180=70100 x32  1111>20@65000=70180 x32  1111>21@65080=70180 x32  1111>640@65100=70180 x32"),
    ("oneword-chain",   445,  92, "5>333@65000=70000 x1  60>333@65000=70040 x1  500>333@65000=70080 x1  999>333@65000=700c0 x1  1450>333@65000=70100 x1"),
    ("duplex-long",     718, 601, "76>54@65000=70000 x512  24>76@65000=70000 x150  38>76@65000=72000 x150  54>24@65000=70000 x200"),
];

fn tile(index: u32) -> TileId {
    TileId::new(index as u16).expect("the chip has the tile")
}

fn transfer(source: TileId, from: u32, words: u32, to: Vec<(TileId, u32)>) -> Transfer {
    let destinations = to
        .into_iter()
        .map(|(tile, at)| (tile, ByteAddr(at)))
        .collect();
    Transfer {
        source,
        from: ByteAddr(from),
        words,
        width: Width::Single,
        destinations,
    }
}

/// 64 heads of `splits` times `blocks` tiles: every tile sends its query rows to its block and its
/// keys and values to its split, itself included.
pub(super) fn gather(splits: u32, blocks: u32) -> Exchange {
    let mut transfers = Vec::new();
    for task in 0..64 * splits * blocks {
        let (head, block, split) = (
            task / splits / blocks,
            task / splits % blocks,
            task % splits,
        );
        let at = |block: u32, split: u32| tile((head * blocks + block) * splits + split);
        let rows = (0..splits).map(|other| (at(block, other), 0x9_8000 + split * 5600));
        transfers.push(transfer(tile(task), 0x6_0000, 1400, rows.collect()));
        // Two or three groups of 16 keys, 1280 words each.
        let words = |block: u32| 1280 * if block == 0 { 2 } else { 3 };
        let before: u32 = (0..block).map(words).sum();
        let keys = (0..blocks).map(|other| (at(other, split), 0xA_8000 + 4 * before));
        transfers.push(transfer(tile(task), 0x6_4000, words(block), keys.collect()));
    }
    Exchange {
        name: format!("gather {splits}x{blocks}"),
        transfers,
    }
}

/// 64 heads of `splits` times `blocks` tiles: every tile sends each other tile of its block the
/// partial rows and statistics that it finishes.
pub(super) fn merge(splits: u32, blocks: u32) -> Exchange {
    let mut transfers = Vec::new();
    for task in 0..64 * splits * blocks {
        let (block, split) = (task / splits, task % splits);
        for other in (0..splits).filter(|&other| other != split) {
            let to = tile(block * splits + other);
            let rows = vec![(to, 0xA_0000 + split * 5600)];
            transfers.push(transfer(tile(task), 0x8_0000 + other * 5600, 1400, rows));
            let statistics = vec![(to, 0xC_8000 + split * 280)];
            transfers.push(transfer(tile(task), 0x6_0000 + other * 280, 70, statistics));
        }
    }
    Exchange {
        name: format!("merge {splits}x{blocks}"),
        transfers,
    }
}
