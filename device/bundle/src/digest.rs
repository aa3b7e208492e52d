//! SHA-256 of stages, sections and whole bundles.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::format::{self, HEADER_BYTES, SECTION_BYTES, WHOLE_DIGEST};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The digest a whole bundle must carry: of everything but the place where it stands.
///
/// `bytes` is at least a header long.
pub(crate) fn whole(bytes: &[u8]) -> Digest {
    let mut hash = Sha256::new();
    hash.update(&bytes[..WHOLE_DIGEST.start]);
    hash.update(&bytes[WHOLE_DIGEST.end..]);
    Digest(hash.finalize().into())
}

/// Renews every digest of a bundle whose bytes were changed on purpose.
///
/// A tool for tests of what lies behind the digests. Bytes that are no bundle are left alone as
/// far as they are not understood.
pub fn reseal(bytes: &mut [u8]) {
    let Some(count) = bytes.get(format::SECTION_COUNT).and_then(format::small) else {
        return;
    };
    for index in 0..count as usize {
        let entry = HEADER_BYTES + index.saturating_mul(SECTION_BYTES);
        let Some(section) = bytes.get(entry..entry.saturating_add(SECTION_BYTES)) else {
            break;
        };
        let section = format::SectionEntry::decode(section);
        let Some(body) = section.range().and_then(|range| bytes.get(range)) else {
            continue;
        };
        let digest = Digest::of(body);
        let at = entry + format::SECTION_DIGEST;
        bytes[at..at + 32].copy_from_slice(&digest.0);
    }
    if bytes.len() >= HEADER_BYTES {
        let digest = whole(bytes);
        bytes[WHOLE_DIGEST].copy_from_slice(&digest.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_prints_as_the_standard_says() {
        assert_eq!(
            Digest::of(b"abc").to_string(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
