//! Frames → `.npy` files, all or nothing.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use half::f16;
use npyz::{NpyWriter, WriterBuilder as _};

use super::{Layout, StreamError};

/// Files that are being written, for whoever ends the process early.
static PARTIAL: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Removes what was written of unfinished outputs. For the end of a process only: writing on is
/// lost.
pub fn remove_partial_files() {
    let mut partial = PARTIAL.lock().unwrap_or_else(PoisonError::into_inner);
    for path in std::mem::take(&mut *partial) {
        // Nobody is left to hear of a failure.
        let _ = std::fs::remove_file(path);
    }
}

/// An output that appears under its name once it is complete.
///
/// It is written beside its place under another name, which finds out before a run whether it can
/// be written at all, and renamed at the end.
pub struct NpyOutput {
    path: PathBuf,
    partial: PathBuf,
    writer: Option<NpyWriter<f16, BufWriter<File>>>,
}

impl NpyOutput {
    /// Starts an output of `frames` frames.
    ///
    /// # Errors
    ///
    /// [`StreamError::Write`] when nothing can be written there, [`StreamError::NotAFile`] when a
    /// folder or device is in the way.
    pub fn create(
        path: &Path,
        tensor: [u32; 4],
        layout: Layout,
        frames: u64,
    ) -> Result<Self, StreamError> {
        let path = path.to_owned();
        if std::fs::metadata(&path).is_ok_and(|there| !there.is_file()) {
            return Err(StreamError::NotAFile { path });
        }
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}.partial", std::process::id()));
        let partial = path.with_file_name(name);
        let unwritable = |source| StreamError::Write {
            path: path.clone(),
            source,
        };
        let file = File::create(&partial).map_err(unwritable)?;
        PARTIAL
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(partial.clone());
        let writer = npyz::WriteOptions::new()
            .default_dtype()
            .shape(&layout.shape(tensor, frames))
            .writer(BufWriter::with_capacity(1 << 16, file))
            .begin_nd();
        let mut output = Self {
            path: path.clone(),
            partial,
            writer: None,
        };
        output.writer = Some(writer.map_err(unwritable)?);
        Ok(output)
    }

    /// Writes the next frame.
    ///
    /// # Errors
    ///
    /// [`StreamError::Write`].
    pub fn frame(&mut self, elements: &[f16]) -> Result<(), StreamError> {
        let writer = self.writer.as_mut().expect("only commit takes the writer");
        writer
            .extend(elements.iter().copied())
            .map_err(|source| StreamError::Write {
                path: self.path.clone(),
                source,
            })
    }

    /// Ends the output and gives it its name.
    ///
    /// # Errors
    ///
    /// [`StreamError::Write`], also when frames are missing.
    pub fn commit(mut self) -> Result<(), StreamError> {
        let writer = self.writer.take().expect("only commit takes the writer");
        writer
            .finish()
            .and_then(|()| std::fs::rename(&self.partial, &self.path))
            .map_err(|source| StreamError::Write {
                path: self.path.clone(),
                source,
            })
    }
}

impl Drop for NpyOutput {
    fn drop(&mut self) {
        self.writer = None;
        let mut partial = PARTIAL.lock().unwrap_or_else(PoisonError::into_inner);
        if partial.remove(&self.partial) {
            // Gone already after a commit.
            let _ = std::fs::remove_file(&self.partial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::NpyInput;

    const TENSOR: [u32; 4] = [1, 2, 2, 3];
    const LAYOUT: Layout = Layout {
        framed: true,
        merged: true,
    };

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("tilekiln-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    fn files(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_committed_output_reads_back() {
        let folder = folder("commit");
        let path = folder.join("o.npy");
        let frame: Vec<f16> = (0..12).map(|n| f16::from_f32(n as f32)).collect();
        let mut output = NpyOutput::create(&path, TENSOR, LAYOUT, 2).unwrap();
        assert!(!path.exists());
        output.frame(&frame).unwrap();
        output.frame(&frame).unwrap();
        output.commit().unwrap();
        let mut input = NpyInput::open(&path, TENSOR).unwrap();
        assert_eq!((input.layout(), input.frames()), (LAYOUT, 2));
        assert_eq!(input.next_frame().unwrap(), frame);
        assert_eq!(input.next_frame().unwrap(), frame);
        assert_eq!(files(&folder), 1);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_abandoned_output_leaves_the_old_one() {
        let folder = folder("abandon");
        let path = folder.join("o.npy");
        std::fs::write(&path, "old").unwrap();
        let mut output = NpyOutput::create(&path, TENSOR, LAYOUT, 1).unwrap();
        output.frame(&[f16::ONE; 12]).unwrap();
        drop(output);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(files(&folder), 1);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_incomplete_output_is_not_committed() {
        let folder = folder("incomplete");
        let output = NpyOutput::create(&folder.join("o.npy"), TENSOR, LAYOUT, 1).unwrap();
        assert!(output.commit().is_err());
        assert_eq!(files(&folder), 0);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_place_that_cannot_be_written_is_found_at_once() {
        let missing = NpyOutput::create(Path::new("/nowhere/o.npy"), TENSOR, LAYOUT, 1);
        assert_eq!(
            missing.map(drop).unwrap_err().to_string(),
            "/nowhere/o.npy cannot be written"
        );
        let folder = NpyOutput::create(&std::env::temp_dir(), TENSOR, LAYOUT, 1);
        assert!(matches!(
            folder.map(drop),
            Err(StreamError::NotAFile { .. })
        ));
    }
}
