//! `.npy` files → frames.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use half::f16;
use npyz::{DType, Endianness, NpyFile, NpyHeader, NpyReader, Order, TypeChar};

use super::{Layout, StreamError};

/// A file whose frames are read one after the other.
pub struct NpyInput {
    path: PathBuf,
    layout: Layout,
    frames: u64,
    frame_elements: usize,
    elements: Elements,
}

enum Elements {
    Half(NpyReader<f16, BufReader<File>>),
    Single(NpyReader<f32, BufReader<File>>),
}

impl NpyInput {
    /// Opens a file and checks all of it but its elements.
    ///
    /// # Errors
    ///
    /// [`StreamError`], with what NumPy call mends it where one does.
    pub fn open(path: &Path, tensor: [u32; 4]) -> Result<Self, StreamError> {
        let path = path.to_owned();
        let unreadable = |source| StreamError::Read {
            path: path.clone(),
            source,
        };
        // Before it is opened: opening a pipe waits for somebody to write into it.
        let metadata = std::fs::metadata(&path).map_err(unreadable)?;
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(StreamError::NoFile { path });
        }
        let file = File::open(&path).map_err(unreadable)?;
        let bytes = metadata.len();
        if bytes == 0 {
            return Err(StreamError::Empty { path });
        }
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let mut head = Vec::new();
        let mut most = reader.by_ref().take(HEADER_BYTES_MAX);
        most.read_to_end(&mut head).map_err(unreadable)?;
        let (header, header_bytes) = match header(&head) {
            Ok(header) => header,
            Err(source) => return Err(StreamError::NotNpy { path, source }),
        };
        reader
            .seek(SeekFrom::Start(header_bytes))
            .map_err(unreadable)?;
        let element_bytes = check_type(&path, &header)?;
        let (layout, frames) = check_shape(&path, &header, tensor)?;
        let frame_elements: u64 = tensor.iter().map(|&axis| u64::from(axis)).product();
        let elements = frame_elements.saturating_mul(frames);
        let want = elements
            .saturating_mul(element_bytes)
            .saturating_add(header_bytes);
        if bytes < want {
            return Err(StreamError::Truncated {
                path,
                elements,
                want,
                got: bytes,
            });
        }
        let file = NpyFile::with_header(header, reader);
        let elements = match file.try_data::<f16>() {
            Ok(half) => Elements::Half(half),
            Err(file) => match file.data::<f32>() {
                Ok(single) => Elements::Single(single),
                Err(error) => {
                    let source = io::Error::new(io::ErrorKind::InvalidData, error);
                    return Err(StreamError::NotNpy { path, source });
                }
            },
        };
        Ok(Self {
            path,
            layout,
            frames,
            frame_elements: frame_elements as usize,
            elements,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How its axes stand for the tensor's.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// How many frames it has.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Reads the next frame; f32 is rounded to f16.
    ///
    /// # Errors
    ///
    /// [`StreamError::Read`] when the file changed meanwhile.
    pub fn next_frame(&mut self) -> Result<Vec<f16>, StreamError> {
        let count = self.frame_elements;
        let frame: io::Result<Vec<f16>> = match &mut self.elements {
            Elements::Half(reader) => reader.take(count).collect(),
            Elements::Single(reader) => reader
                .take(count)
                .map(|element| element.map(f16::from_f32))
                .collect(),
        };
        let read = |source| StreamError::Read {
            path: self.path.clone(),
            source,
        };
        let frame = frame.map_err(read)?;
        if frame.len() < count {
            return Err(read(io::ErrorKind::UnexpectedEof.into()));
        }
        Ok(frame)
    }
}

/// Bytes of the longest header; NumPy reads no longer one either.
const HEADER_BYTES_MAX: u64 = 10_000;

/// Brackets within brackets of a header; those of a structure's shape are the fifth.
const NESTING_MAX: usize = 6;

/// The header at the start of `head`, and its bytes.
fn header(head: &[u8]) -> io::Result<(NpyHeader, u64)> {
    // The parser takes twice as long with every bracket it has to close, or cannot.
    if head.starts_with(b"\x93NUMPY") && nesting(head) > NESTING_MAX {
        let text = format!("its header nests more than {NESTING_MAX} brackets");
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    let mut head = Cursor::new(head);
    let header = NpyHeader::from_reader(&mut head)?;
    Ok((header, head.position()))
}

/// How deep the brackets of a header are nested.
fn nesting(head: &[u8]) -> usize {
    let (start, bytes) = match *head {
        [_, _, _, _, _, _, 1, _, a, b, ..] => (10, u32::from(u16::from_le_bytes([a, b]))),
        [_, _, _, _, _, _, _, _, a, b, c, d, ..] => (12, u32::from_le_bytes([a, b, c, d])),
        _ => return 0,
    };
    let (mut depth, mut deepest) = (0usize, 0);
    for byte in head.iter().skip(start).take(bytes as usize) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Bytes of an element, if the type is one of ours.
fn check_type(path: &Path, header: &NpyHeader) -> Result<u64, StreamError> {
    let path = path.to_owned();
    let dtype = header.dtype();
    let found = dtype.descr();
    let DType::Plain(kind) = dtype else {
        return Err(StreamError::Type { path, found });
    };
    let bytes = kind.size_field();
    if kind.type_char() != TypeChar::Float || ![2, 4].contains(&bytes) {
        return Err(StreamError::Type { path, found });
    }
    if kind.endianness() == Endianness::Big {
        return Err(StreamError::ByteOrder { path, found, bytes });
    }
    Ok(bytes)
}

/// The layout and the frames, if the shape is one of the tensor's.
fn check_shape(
    path: &Path,
    header: &NpyHeader,
    tensor: [u32; 4],
) -> Result<(Layout, u64), StreamError> {
    let path = path.to_owned();
    let shape = header.shape().to_vec();
    let rank = shape.len();
    if !(3..=5).contains(&rank) {
        return Err(StreamError::Rank {
            path,
            rank,
            shape,
            tensor,
        });
    }
    let Some((layout, frames)) = Layout::of(&shape, tensor) else {
        return Err(StreamError::Shape {
            path,
            shape,
            tensor,
        });
    };
    if frames == 0 {
        return Err(StreamError::NoFrames { path, shape });
    }
    if header.order() == Order::Fortran {
        return Err(StreamError::Order { path });
    }
    Ok((layout, frames))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `.npy` file of our own making, so that every part of it can be wrong.
    fn file(name: &str, descr: &str, fortran: bool, shape: &str, data: &[u8]) -> PathBuf {
        let fortran = if fortran { "True" } else { "False" };
        let mut header =
            format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
        while !(10 + header.len() + 1).is_multiple_of(64) {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(data);
        write(name, &bytes)
    }

    fn write(name: &str, bytes: &[u8]) -> PathBuf {
        let path = std::env::temp_dir().join(format!("tilekiln-{}-{name}.npy", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        path
    }

    const TENSOR: [u32; 4] = [1, 2, 2, 3];

    #[track_caller]
    fn refused(path: PathBuf, want: &str) {
        let error = NpyInput::open(&path, TENSOR).map(drop).unwrap_err();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(
            error.to_string().replace(path.to_str().unwrap(), "q.npy"),
            want
        );
    }

    #[test]
    fn frames_come_one_by_one_and_f32_is_rounded() {
        let data: Vec<u8> = (0..24)
            .flat_map(|n| (n as f32 + 0.0001).to_le_bytes())
            .collect();
        let path = file("frames", "<f4", false, "(2, 1, 2, 6)", &data);
        let mut input = NpyInput::open(&path, TENSOR).unwrap();
        std::fs::remove_file(path).unwrap();
        assert_eq!(
            input.layout(),
            Layout {
                framed: true,
                merged: true
            }
        );
        assert_eq!(input.frames(), 2);
        assert_eq!(input.next_frame().unwrap()[3], f16::from_f32(3.0001));
        assert_eq!(input.next_frame().unwrap()[11].to_f32(), 23.0);
        assert!(input.next_frame().is_err());
    }

    #[test]
    fn f16_is_read_bit_by_bit() {
        let data: Vec<u8> = (0..12u16)
            .flat_map(|n| (0x7bff + n).to_le_bytes())
            .collect();
        let path = file("half", "<f2", false, "(1, 2, 2, 3)", &data);
        let mut input = NpyInput::open(&path, TENSOR).unwrap();
        std::fs::remove_file(path).unwrap();
        let frame = input.next_frame().unwrap();
        assert_eq!(frame[1], f16::INFINITY);
        assert_eq!(frame[11].to_bits(), 0x7c0a);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_remedy() {
        refused(
            file("type", "<f8", false, "(1, 2, 2, 3)", &[0; 96]),
            "q.npy holds '<f8'; expected f16 or f32: `array.astype(numpy.float16)` converts it",
        );
        refused(
            file("order", ">f4", false, "(1, 2, 2, 3)", &[0; 48]),
            "q.npy holds '>f4', which is big-endian; `array.astype(\"<f4\")` swaps the bytes",
        );
        refused(
            file("fortran", "<f2", true, "(1, 2, 2, 3)", &[0; 24]),
            "q.npy is in Fortran order; `numpy.ascontiguousarray(array)` puts it in C order",
        );
        refused(
            file("rank", "<f2", false, "(2, 6)", &[0; 24]),
            "q.npy has 2 axes, [2, 6]; expected 3 or 4, or one more with frames first: \
             [1, 2, 2, 3] or [1, 2, 6]",
        );
        refused(
            file("shape", "<f2", false, "(1, 2, 7)", &[0; 28]),
            "q.npy has shape [1, 2, 7]; expected [1, 2, 2, 3] or [1, 2, 6]",
        );
        refused(
            file("none", "<f2", false, "(0, 1, 2, 6)", &[]),
            "q.npy has shape [0, 1, 2, 6]: no frames",
        );
        refused(
            file("short", "<f2", false, "(1, 2, 6)", &[0; 23]),
            "q.npy is truncated: its header and 12 elements take 152 bytes, and it has 151",
        );
        refused(write("empty", b""), "q.npy is empty");
        refused(write("text", b"hello there"), "q.npy is no .npy file");
        refused(
            write("cut", b"\x93NUMPY\x01\x00\xff\x00{'de"),
            "q.npy is no .npy file",
        );
    }

    #[test]
    fn a_header_of_brackets_is_refused_and_not_pondered() {
        for (opened, most) in [("{", 60_000), ("{'a':", 40), ("[", 200), ("(((((((", 1)] {
            let text = opened.repeat(most);
            let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
            bytes.extend((text.len() as u16).to_le_bytes());
            bytes.extend(text.bytes());
            refused(write("brackets", &bytes), "q.npy is no .npy file");
        }
    }

    #[test]
    fn brackets_among_the_elements_are_nothing_to_the_header() {
        let path = file("elements", "<f2", false, "(1, 2, 2, 3)", &[b'{'; 24]);
        let read = NpyInput::open(&path, TENSOR);
        std::fs::remove_file(path).unwrap();
        assert!(read.is_ok());
    }

    #[test]
    fn what_is_no_file_is_not_called_empty() {
        let error = NpyInput::open(Path::new("/dev/zero"), TENSOR).map(drop);
        assert_eq!(
            error.unwrap_err().to_string(),
            "/dev/zero is not a file: frames are read from files only"
        );
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = NpyInput::open(Path::new("/nowhere/q.npy"), TENSOR)
            .map(drop)
            .unwrap_err();
        assert_eq!(error.to_string(), "/nowhere/q.npy cannot be read");
    }
}
