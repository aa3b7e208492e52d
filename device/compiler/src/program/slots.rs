//! The block of slots: the words by which tiles of one class differ.
//!
//! ```text
//! 0  host port of the tile's column lane     1  $FP_ICTL      2  random seed      3  unused
//! 4  two words a host phase: headers to send, words to expect
//!    argument blocks of the compute steps, each on 8 bytes
//! -  not part of the image: scratch of the six workers, the completion word
//! ```

use tilekiln_chip::csr::field::FP_CTL_ESR;
use tilekiln_chip::exchange::MUX_HOST;
use tilekiln_chip::{ByteAddr, TileId, WORKERS};

use crate::plan::{Plan, Rounding};
use crate::schedule::Schedule;

use super::{ProgramError, compute_steps, slots_allocation};

/// Words before those of the host phases.
const HEADER_WORDS: u32 = 4;

/// Bytes of scratch a worker has at `$mworker_base`.
const SCRATCH_BYTES: u32 = 256;

/// Where everything of the block lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slots {
    at: ByteAddr,
    phases: u32,
    /// Offset in words of each compute step's arguments.
    arguments: Vec<u32>,
    /// Words that the image holds.
    words: u32,
}

impl Slots {
    /// Divides the block of `plan`.
    pub(super) fn of(plan: &Plan) -> Result<Self, ProgramError> {
        let block = slots_allocation(plan)?;
        let phases = plan.host.phases.len() as u32;
        let mut words = HEADER_WORDS + 2 * phases;
        let mut arguments = Vec::new();
        for step in compute_steps(plan) {
            arguments.push(words);
            words += step.kernel.argument_words().next_multiple_of(2);
        }
        let slots = Self {
            at: block.at,
            phases,
            arguments,
            words,
        };
        let wanted = slots.completion().0 + 4 - block.at.0;
        if wanted > block.bytes {
            return Err(ProgramError::SlotsTooSmall {
                wanted,
                available: block.bytes,
            });
        }
        Ok(slots)
    }

    /// First byte of the block.
    pub(super) fn start(&self) -> ByteAddr {
        self.at
    }

    /// The argument block of compute step `index`.
    pub(super) fn arguments(&self, index: usize) -> ByteAddr {
        self.at.offset(4 * self.arguments[index])
    }

    /// Word index of the headers to send in host phase `phase`; the words to expect follow.
    pub(super) fn phase_word(&self, phase: usize) -> u32 {
        HEADER_WORDS + 2 * phase as u32
    }

    fn scratch(&self) -> ByteAddr {
        self.at.offset(4 * self.words).align_up(8)
    }

    /// The word that becomes 1 at the end.
    pub(super) fn completion(&self) -> ByteAddr {
        self.scratch().offset(SCRATCH_BYTES * WORKERS as u32)
    }

    /// The symbols `support.S` asks for.
    pub(super) fn symbols(&self) -> Vec<(String, ByteAddr)> {
        vec![
            ("SLOTS".to_owned(), self.at),
            ("WORKER_SCRATCH".to_owned(), self.scratch()),
            ("COMPLETION".to_owned(), self.completion()),
        ]
    }

    /// The words of `tile`, which runs task `task` if any.
    pub(super) fn words(
        &self,
        plan: &Plan,
        schedule: &Schedule,
        tile: TileId,
        task: Option<usize>,
    ) -> Vec<u32> {
        let physical = tile.physical();
        let control = match plan.attention.rounding {
            Rounding::Nearest => 0,
            Rounding::Stochastic => FP_CTL_ESR.1 << FP_CTL_ESR.0,
        };
        // The seed leaves the low three bits to the worker's number. [pipeline §4.3]
        let seed = (u32::from(physical.index()) + 1) * 8;
        let mut words = vec![
            MUX_HOST + u32::from(physical.owner().index()),
            control,
            seed,
            0,
        ];
        for phase in &schedule.host {
            let stream = phase
                .streams
                .binary_search_by_key(&tile, |stream| stream.tile);
            let counts = stream.map_or([0, 0], |index| {
                let stream = &phase.streams[index];
                [stream.headers.len() as u32, stream.expected_words]
            });
            words.extend(counts);
        }
        debug_assert_eq!(words.len() as u32, HEADER_WORDS + 2 * self.phases);
        if let Some(task) = task {
            for step in compute_steps(plan) {
                words.extend(&step.arguments[task]);
                words.resize(words.len().next_multiple_of(2), 0);
            }
        }
        words
    }
}
