//! What the host moves: a string of bytes for every task tile, cut into pages, in and out.
//!
//! The strings of buffer 1 follow each other, each from a page boundary: all input strings in
//! task order, then all output strings. Host phase p moves page p of every string that has one.

use tilekiln_chip::ByteAddr;
use tilekiln_chip::exchange::HOST_PAGE;

use super::blocking::{Blocking, PANEL};
use super::placement::{PAGE, SAMPLE_BYTES, WRITE_GRANULE};
use super::{Binding, Host, HostDirection, HostPage, HostPhase, Task};

/// Names of the tensors the host knows.
pub(crate) struct Names<'a> {
    /// Query, key, value.
    pub operands: [&'a str; 3],
    /// The result.
    pub output: &'a str,
}

/// Bytes and pieces of one task's strings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strings {
    /// Bytes of the input string.
    pub input_bytes: u32,
    /// Offset in it of the key rows.
    pub keys_at: u32,
    /// Offset in it of the value rows.
    pub values_at: u32,
    /// Bytes of the finished rows.
    pub result_bytes: u32,
    /// Bytes of the output string, rounded to the granule of host-bound transfers.
    pub output_bytes: u32,
}

/// The strings of the task of this index.
pub(crate) fn strings(blocking: &Blocking, index: usize, task: &Task) -> Strings {
    let row = blocking.string_row_bytes();
    let rows = task.owned_rows.len() as u32;
    let groups = (task.owned_keys.len() as u32).div_ceil(PANEL);
    let result_bytes = rows * row;
    let samples = if index == 0 { SAMPLE_BYTES } else { 0 };
    Strings {
        input_bytes: blocking.input_bytes(rows, groups),
        keys_at: rows * row,
        values_at: (rows + PANEL * groups) * row,
        result_bytes,
        output_bytes: (result_bytes + samples).next_multiple_of(WRITE_GRANULE),
    }
}

/// Everything the host moves in a call.
pub(crate) fn host(blocking: &Blocking, tasks: &[Task], output: ByteAddr, names: &Names) -> Host {
    let strings: Vec<Strings> = tasks
        .iter()
        .enumerate()
        .map(|(index, task)| strings(blocking, index, task))
        .collect();
    let mut end = 0;
    let mut place = |bytes: u32| {
        let at = end;
        end += bytes.next_multiple_of(HOST_PAGE);
        at
    };
    let inputs: Vec<u32> = strings.iter().map(|s| place(s.input_bytes)).collect();
    let outputs: Vec<u32> = strings.iter().map(|s| place(s.output_bytes)).collect();

    let mut phases = Vec::new();
    let input = |index: usize| (inputs[index], strings[index].input_bytes);
    for page in 0..strings
        .iter()
        .map(|s| s.input_bytes.div_ceil(HOST_PAGE))
        .max()
        .unwrap_or(0)
    {
        let at = |_| PAGE;
        phases.push(phase(HostDirection::ToTiles, page, tasks, input, at));
    }
    let result = |index: usize| (outputs[index], strings[index].output_bytes);
    for page in 0..strings
        .iter()
        .map(|s| s.output_bytes.div_ceil(HOST_PAGE))
        .max()
        .unwrap_or(0)
    {
        let at = |from| output.offset(from);
        phases.push(phase(HostDirection::ToHost, page, tasks, result, at));
    }

    let first_sample = outputs[0] + strings[0].result_bytes;
    Host {
        phases,
        bindings: bindings(blocking, tasks, &strings, &inputs, &outputs, names),
        buffer_bytes: end,
        cycles: [first_sample, first_sample + 4],
    }
}

/// The phase that moves page `page` of every string; `string` gives offset and bytes of a task's,
/// `at` the tile's address for an offset in it.
fn phase(
    direction: HostDirection,
    page: u32,
    tasks: &[Task],
    string: impl Fn(usize) -> (u32, u32),
    at: impl Fn(u32) -> ByteAddr,
) -> HostPhase {
    let from = page * HOST_PAGE;
    let pages = tasks.iter().enumerate().filter_map(|(index, task)| {
        let (offset, bytes) = string(index);
        let bytes = bytes.saturating_sub(from).min(HOST_PAGE);
        (bytes > 0).then(|| HostPage {
            tile: task.tile,
            tile_address: at(from),
            buffer_offset: offset + from,
            bytes,
        })
    });
    HostPhase {
        direction,
        pages: pages.collect(),
    }
}

/// Where the rows of every tensor lie in buffer 1.
fn bindings(
    blocking: &Blocking,
    tasks: &[Task],
    strings: &[Strings],
    inputs: &[u32],
    outputs: &[u32],
    names: &Names,
) -> Vec<Binding> {
    let shape = blocking.shape;
    let (query, key) = (shape.query_length, shape.key_length);
    let mut list = Vec::new();
    for (index, task) in tasks.iter().enumerate() {
        let mut bind = |tensor: &str, length: u32, rows: &std::ops::Range<u32>, at: u32| {
            if rows.is_empty() {
                return;
            }
            let (batch, head) = (task.head / shape.heads, task.head % shape.heads);
            let row = u64::from(batch) * u64::from(length) + u64::from(rows.start);
            let width = u64::from(shape.head_dimension);
            list.push(Binding {
                tensor: tensor.to_owned(),
                buffer_offset: at,
                buffer_stride: blocking.string_row_bytes(),
                first_element: (row * u64::from(shape.heads) + u64::from(head)) * width,
                element_stride: u64::from(shape.heads) * width,
                row_elements: shape.head_dimension,
                rows: rows.len() as u32,
            });
        };
        let string = &strings[index];
        bind(names.operands[0], query, &task.owned_rows, inputs[index]);
        bind(
            names.operands[1],
            key,
            &task.owned_keys,
            inputs[index] + string.keys_at,
        );
        bind(
            names.operands[2],
            key,
            &task.owned_keys,
            inputs[index] + string.values_at,
        );
        bind(names.output, query, &task.owned_rows, outputs[index]);
    }
    list
}
