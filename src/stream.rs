//! Frames: read from `.npy` files, generated from a seed, written to `.npy` files.
//!
//! A file holds one tensor, `[batch, length, heads, head dimension]` or, the same in memory,
//! `[batch, length, hidden]`. One more axis in front makes it a stream of frames, each a call of
//! the loaded program.

use std::fmt;
use std::io;
use std::path::PathBuf;

pub mod input;
pub mod normal;
pub mod output;

pub use input::NpyInput;
pub use normal::Normal;
pub use output::{NpyOutput, remove_partial_files};

/// How a file's axes stand for a tensor's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Whether the first axis counts frames.
    pub framed: bool,
    /// Whether heads and head dimension are one axis.
    pub merged: bool,
}

impl Layout {
    /// All layouts, in the order in which a shape is tried on them.
    const ALL: [Self; 4] = [
        Self {
            framed: false,
            merged: false,
        },
        Self {
            framed: false,
            merged: true,
        },
        Self {
            framed: true,
            merged: false,
        },
        Self {
            framed: true,
            merged: true,
        },
    ];

    /// The shape of a file with `frames` frames of a tensor.
    pub fn shape(self, tensor: [u32; 4], frames: u64) -> Vec<u64> {
        let [batch, length, heads, head_dimension] = tensor.map(u64::from);
        let mut shape = Vec::with_capacity(5);
        if self.framed {
            shape.push(frames);
        }
        shape.extend([batch, length]);
        match self.merged {
            true => shape.push(heads * head_dimension),
            false => shape.extend([heads, head_dimension]),
        }
        shape
    }

    /// The layout and the frames of a file's shape, if it is one of the tensor's.
    fn of(shape: &[u64], tensor: [u32; 4]) -> Option<(Self, u64)> {
        Self::ALL.into_iter().find_map(|layout| {
            let frames = if layout.framed { *shape.first()? } else { 1 };
            (layout.shape(tensor, frames) == shape).then_some((layout, frames))
        })
    }
}

/// Why a file is no stream of frames, or cannot become one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The file cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A pipe or a device, which do not tell how long they are.
    #[error("{} is not a file: frames are read from files only", path.display())]
    NoFile {
        /// Which.
        path: PathBuf,
    },
    /// Nothing in it.
    #[error("{} is empty", path.display())]
    Empty {
        /// Which.
        path: PathBuf,
    },
    /// Something else's file.
    #[error("{} is no .npy file", path.display())]
    NotNpy {
        /// Which.
        path: PathBuf,
        /// What was found instead.
        source: io::Error,
    },
    /// Elements of another type.
    #[error(
        "{} holds {found}; expected f16 or f32: `array.astype(numpy.float16)` converts it",
        path.display()
    )]
    Type {
        /// Which file.
        path: PathBuf,
        /// The type as NumPy writes it.
        found: String,
    },
    /// Big-endian elements.
    #[error(
        "{} holds {found}, which is big-endian; `array.astype(\"<f{bytes}\")` swaps the bytes",
        path.display()
    )]
    ByteOrder {
        /// Which file.
        path: PathBuf,
        /// The type as NumPy writes it.
        found: String,
        /// Bytes of an element.
        bytes: u64,
    },
    /// Columns first.
    #[error(
        "{} is in Fortran order; `numpy.ascontiguousarray(array)` puts it in C order",
        path.display()
    )]
    Order {
        /// Which file.
        path: PathBuf,
    },
    /// Another number of axes.
    #[error(
        "{} has {rank} axes, {}; expected 3 or 4, or one more with frames first: {}",
        path.display(), Axes(shape), Expected(*tensor)
    )]
    Rank {
        /// Which file.
        path: PathBuf,
        /// Its number of axes.
        rank: usize,
        /// Its shape.
        shape: Vec<u64>,
        /// The tensor's.
        tensor: [u32; 4],
    },
    /// Other sizes.
    #[error("{} has shape {}; expected {}", path.display(), Axes(shape), Expected(*tensor))]
    Shape {
        /// Which file.
        path: PathBuf,
        /// Its shape.
        shape: Vec<u64>,
        /// The tensor's.
        tensor: [u32; 4],
    },
    /// A stream of nothing.
    #[error("{} has shape {}: no frames", path.display(), Axes(shape))]
    NoFrames {
        /// Which file.
        path: PathBuf,
        /// Its shape.
        shape: Vec<u64>,
    },
    /// Fewer bytes than its shape needs.
    #[error(
        "{} is truncated: its header and {} elements take {want} bytes, and it has {got}",
        path.display(), elements
    )]
    Truncated {
        /// Which file.
        path: PathBuf,
        /// Elements its shape says.
        elements: u64,
        /// Bytes they take with the header.
        want: u64,
        /// Bytes it has.
        got: u64,
    },
    /// Files that do not go together.
    #[error("{} has {got} frames and {} has {want}", path.display(), other.display())]
    Frames {
        /// One file.
        path: PathBuf,
        /// Its frames.
        got: u64,
        /// Another.
        other: PathBuf,
        /// Its frames.
        want: u64,
    },
    /// An output that is not there to be written.
    #[error("{} cannot be written", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// An output that is a folder or a device.
    #[error("{} is there and is not a file", path.display())]
    NotAFile {
        /// Which.
        path: PathBuf,
    },
}

/// A shape as NumPy prints it.
struct Axes<'a>(&'a [u64]);

impl fmt::Display for Axes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, axis) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{axis}")?;
        }
        f.write_str("]")
    }
}

/// The shapes a tensor may have in a file.
struct Expected([u32; 4]);

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let four = Layout {
            framed: false,
            merged: false,
        }
        .shape(self.0, 1);
        let three = Layout {
            framed: false,
            merged: true,
        }
        .shape(self.0, 1);
        write!(f, "{} or {}", Axes(&four), Axes(&three))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_says_its_layout() {
        let tensor = [4, 729, 16, 72];
        let of = |shape: &[u64]| Layout::of(shape, tensor);
        let layout = |framed, merged| Layout { framed, merged };
        assert_eq!(of(&[4, 729, 16, 72]), Some((layout(false, false), 1)));
        assert_eq!(of(&[4, 729, 1152]), Some((layout(false, true), 1)));
        assert_eq!(of(&[7, 4, 729, 1152]), Some((layout(true, true), 7)));
        assert_eq!(of(&[7, 4, 729, 16, 72]), Some((layout(true, false), 7)));
        assert_eq!(of(&[0, 4, 729, 1152]), Some((layout(true, true), 0)));
        assert_eq!(of(&[4, 729, 1151]), None);
        assert_eq!(of(&[]), None);
    }
}
