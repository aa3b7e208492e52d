//! `/dev/ipuN`.
//!
//! Resetting, configuring and loading a card is not in this version: a node is recognised, and
//! what is missing is said, before anything is asked of it. The records and codes of its kernel
//! module are in [`super::uapi`].

use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use super::{Device, DeviceError};

/// Recognises the node at `path`.
///
/// # Errors
///
/// [`DeviceError::NoNode`], [`DeviceError::NotANode`], and for a card
/// [`DeviceError::NotInThisVersion`].
pub fn open(path: &Path) -> Result<Box<dyn Device>, DeviceError> {
    tracing::info!(device = %path.display(), "opening");
    let path = path.to_owned();
    match std::fs::metadata(&path) {
        Err(source) => Err(DeviceError::NoNode { path, source }),
        Ok(node) if !node.file_type().is_char_device() => Err(DeviceError::NotANode { path }),
        Ok(_) => Err(DeviceError::NotInThisVersion { path }),
    }
}

#[cfg(test)]
mod tests {
    use crate::card::uapi::*;

    #[test]
    fn codes_are_the_ones_run_on_a_card() {
        let code = |direction: u32, number: u32, size: u32| {
            direction << 30 | size << 16 | 0xed << 8 | number
        };
        assert_eq!(IPU_ATTACH, code(3, 10, 8));
        assert_eq!(IPU_BUFFER_ATTACH, code(3, 11, 8));
        assert_eq!(IPU_BUFFER_DETACH, code(3, 12, 8));
        assert_eq!(IPU_SET_ID, code(3, 14, 8));
        assert_eq!(IPU_BUFFER_DETACH_ALL, code(0, 18, 0));
        assert_eq!(IPU_MAILBOX_WRITE_READ, code(3, 31, 8));
        assert_eq!(IPU_STOP_MONITORING, code(0, 34, 0));
        assert_eq!(IPU_START_MONITORING, code(0, 35, 0));
        assert_eq!(IPU_ACCUMULATE_ERRORS, code(0, 36, 0));
        assert_eq!(IPU_RESET_DEVICE, code(1, 45, 4));
        assert_eq!(IPU_SET_SECONDARY_ID, code(1, 47, 8));
    }
}
