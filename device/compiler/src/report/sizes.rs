//! What the plan came to: kernels, images, bundle, digests.

use super::{Facts, digits, line};

pub(super) fn write(text: &mut String, facts: &Facts) {
    kernels(text, facts);
    images(text, facts);
    bundle(text, facts);
}

fn kernels(text: &mut String, facts: &Facts) {
    line!(text);
    let count = |hit| {
        facts
            .kernels
            .iter()
            .filter(|kernel| kernel.hit == Some(hit))
            .count()
    };
    let (hits, misses) = (count(true), count(false));
    if hits + misses > 0 {
        line!(
            text,
            "kernels: {}, {hits} from artifacts, {misses} assembled",
            facts.kernels.len()
        );
    } else {
        line!(text, "kernels: {}", facts.kernels.len());
    }
    for kernel in facts.kernels {
        let found = match kernel.hit {
            Some(true) => "hit ",
            Some(false) => "miss",
            None => "    ",
        };
        let (bytes, symbols) = (digits(kernel.bytes), kernel.symbols);
        line!(
            text,
            "  {:<22} {found} {bytes:>6} bytes {symbols:>3} symbols  {}",
            kernel.name,
            kernel.key
        );
    }
}

fn images(text: &mut String, facts: &Facts) {
    line!(text);
    let tiles: usize = facts.images.iter().map(|image| image.tiles).sum();
    line!(
        text,
        "images: {} shared texts, {tiles} tiles",
        facts.images.len()
    );
    for image in facts.images {
        let (bytes, symbols) = (digits(image.bytes), image.symbols);
        line!(
            text,
            "  {:<22} {:>4} tiles  base {:#07x} entry {:#07x} {bytes:>7} bytes {symbols:>3} symbols",
            image.name,
            image.tiles,
            image.base,
            image.entry
        );
    }
    let Some(largest) = facts.largest else { return };
    let all = largest.code_bytes + largest.row_bytes + largest.slot_bytes + largest.packet_bytes;
    line!(
        text,
        "  largest: tile {}, {} bytes: code {}, rows {}, slots {}, packets {}",
        largest.tile,
        digits(all),
        digits(largest.code_bytes),
        digits(largest.row_bytes),
        digits(largest.slot_bytes),
        digits(largest.packet_bytes)
    );
}

fn bundle(text: &mut String, facts: &Facts) {
    line!(text);
    if let Some(bundle) = facts.bundle {
        line!(
            text,
            "bundle: {} bytes, {} segments, {} distinct, images of {} bytes",
            digits(bundle.bytes),
            digits(bundle.segments as u64),
            digits(bundle.distinct_segments as u64),
            digits(bundle.image_bytes)
        );
    } else {
        line!(text, "stages:");
    }
    for stage in facts.stages {
        line!(
            text,
            "  {:<22} {}  {:>11} bytes",
            stage.name,
            stage.digest,
            digits(stage.bytes)
        );
    }
}
