//! Bundles with one bit changed behind their digests, and who notices.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use half::f16;
use tilekiln::card::virtual_card::VirtualCard;
use tilekiln::card::{Progress, SimOptions};
use tilekiln::driver::{Limits, News, Watch};
use tilekiln::session::SessionError;
use tilekiln_bundle::{Bundle, digest};
use tilekiln_chip::{PhysTile, TileId, memory};
use tilekiln_compiler::plan::{self, Kernel, Plan, Step, name};
use tilekiln_compiler::spec;
use tilekiln_isa::decode_word;

use crate::bake::{self, Graph};
use crate::tap::{Seen, Tap};

/// The class of whoever noticed a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Catcher {
    /// Reading the bundle.
    Reader,
    /// A stop of the simulator.
    Simulator,
    /// The host's time limit: tiles wait for each other, or never end.
    TimeLimit,
    /// The driver, in any other way.
    Driver,
    /// The comparison that `verify` makes.
    Comparison,
    /// Nobody, and every output bit is as it was.
    Harmless,
    /// Nobody, and the output is another.
    Nobody,
}

/// What came of a change.
pub struct Found {
    /// Who noticed it.
    pub catcher: Catcher,
    /// What it said.
    pub told: String,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.told.lines().take(2).collect::<Vec<_>>().join(" / ");
        write!(f, "{:?}: {first}", self.catcher)
    }
}

/// A bit of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bit {
    /// The byte.
    pub byte: usize,
    /// Its bit.
    pub bit: u8,
}

/// A program whose right outputs are known.
pub struct Victim {
    bytes: Vec<u8>,
    plan: Plan,
    frames: [Vec<Vec<f16>>; 2],
    outputs: Vec<Vec<f16>>,
    /// Longest a right call keeps the host waiting, with room to spare.
    patience: Duration,
}

/// Cycles the tiles get at a look, so that a program that never ends costs little.
const QUOTA: u64 = 20_000;

/// Words of a tile's slots before those of the host phases.
const ARGUMENTS: u32 = 4;

/// Times as long as a right session a damaged one may take.
const PATIENCE: u32 = 4;

impl Victim {
    /// Two query blocks by two key splits of one head, with keys to mask. Two frames: in the second
    /// scores are whole numbers of some thousands, so that a wrong maximum shows.
    pub fn new() -> Self {
        let lines = "query_block_rows = 12\nkey_splits = 2\nscale = 0.25";
        let graph = Graph {
            tiles: 4,
            query: [1, 24, 1, 24],
            keys: 61,
            lines,
        };
        let spec = spec::parse(&graph.text()).expect("it is a graph");
        let plan = plan::plan(&spec).expect("it fits");
        let program = graph.program();
        let bytes = program.bundle.bytes().to_vec();
        let mut frames = [program.normal(0.5, 0), program.normal(0.5, 1)];
        for array in &mut frames[1][..2] {
            array
                .iter_mut()
                .for_each(|x| *x = f16::from_f32((90.0 * x.to_f32()).round()));
        }
        let card = VirtualCard::load(program.bundle, &options()).expect("the bundle fits");
        let last = Cell::new(Duration::ZERO);
        let mut news = |news: News| last.set(news.now);
        let interrupted = AtomicBool::new(false);
        let limits = Limits::default();
        let mut watch = Watch {
            limits,
            interrupted: &interrupted,
            news: &mut news,
        };
        let views: Vec<&[Vec<f16>]> = frames.iter().map(Vec::as_slice).collect();
        let ran = bake::watched_session(program.bundle, Box::new(card), &views, &mut watch);
        let outputs = ran.unwrap_or_else(|error| panic!("{error}")).outputs;
        for (inputs, output) in frames.iter().zip(&outputs) {
            let verdict = program.judge(inputs, output);
            assert!(verdict.passed(), "{verdict:?}");
        }
        Self {
            bytes,
            plan,
            frames,
            outputs,
            patience: PATIENCE * last.get(),
        }
    }

    /// The bundle without a fault.
    pub fn bundle(&self) -> Bundle<'_> {
        Bundle::parse(&self.bytes).expect("it was parsed before")
    }

    /// Changes one bit, renews the digests, and runs what is left.
    pub fn change(&self, at: Bit) -> Found {
        let mut bytes = self.bytes.clone();
        bytes[at.byte] ^= 1 << at.bit;
        digest::reseal(&mut bytes);
        match Bundle::parse(&bytes) {
            Ok(bundle) => self.run(&bundle),
            Err(error) => Found {
                catcher: Catcher::Reader,
                told: error.to_string(),
            },
        }
    }

    fn run(&self, bundle: &Bundle<'_>) -> Found {
        let (card, seen) = match Tap::load(bundle, &options()) {
            Ok(loaded) => loaded,
            Err(error) => {
                return Found {
                    catcher: Catcher::Driver,
                    told: error.to_string(),
                };
            }
        };
        let interrupted = AtomicBool::new(false);
        let mut news = |news: News| {
            if news.now > self.patience {
                interrupted.store(true, Ordering::Relaxed);
            }
        };
        let limits = Limits::default();
        let mut watch = Watch {
            limits,
            interrupted: &interrupted,
            news: &mut news,
        };
        let views: Vec<&[Vec<f16>]> = self.frames.iter().map(Vec::as_slice).collect();
        match bake::watched_session(bundle, Box::new(card), &views, &mut watch) {
            Ok(ran) => self.compare(bundle, &ran.outputs),
            Err(error) => complaint(&error, &seen.borrow()),
        }
    }

    /// Judges every frame as `verify` does.
    fn compare(&self, bundle: &Bundle<'_>, outputs: &[Vec<f16>]) -> Found {
        for (inputs, output) in self.frames.iter().zip(outputs) {
            match bake::judge(bundle, inputs, output) {
                Ok(verdict) if verdict.passed() => {}
                Ok(verdict) => {
                    let told = verdict.complaints.iter().map(ToString::to_string);
                    let told = told.collect::<Vec<_>>().join("; ");
                    return Found {
                        catcher: Catcher::Comparison,
                        told,
                    };
                }
                Err(error) => {
                    return Found {
                        catcher: Catcher::Comparison,
                        told: error.to_string(),
                    };
                }
            }
        }
        let bits = |outputs: &[Vec<f16>]| {
            outputs
                .iter()
                .flatten()
                .map(|element| element.to_bits())
                .collect::<Vec<_>>()
        };
        let same = bits(outputs) == bits(&self.outputs);
        let catcher = if same {
            Catcher::Harmless
        } else {
            Catcher::Nobody
        };
        Found {
            catcher,
            told: String::new(),
        }
    }

    /// Where the word at `address` of `tile` stands in the bundle.
    pub fn word(&self, tile: PhysTile, address: u32) -> Option<usize> {
        self.bundle().tile(tile).segments().find_map(|segment| {
            let offset = address.checked_sub(segment.address.0)? as usize;
            (offset < segment.bytes.len()).then_some(segment.bundle_offset + offset)
        })
    }

    /// Where argument `word` of the `nth` call of `kernel` on task `task` stands in the bundle.
    #[track_caller]
    pub fn argument(&self, task: u16, kernel: Kernel, nth: usize, word: u32) -> usize {
        let mut at = ARGUMENTS + 2 * self.plan.host.phases.len() as u32;
        let mut before = 0;
        for step in &self.plan.steps {
            let Step::Compute(call) = step else { continue };
            if call.kernel == kernel {
                if before == nth {
                    return self.slot(task, at + word);
                }
                before += 1;
            }
            at += call.kernel.argument_words().next_multiple_of(2);
        }
        panic!("{kernel:?} is called {before} times")
    }

    /// Where word `word` of the slots of task `task` stands in the bundle.
    #[track_caller]
    pub fn slot(&self, task: u16, word: u32) -> usize {
        let slots = self
            .plan
            .layout
            .find(name::SLOTS)
            .expect("a plan places slots")
            .at
            .0;
        self.word(tile(task), slots + 4 * word)
            .expect("a task's slots hold its arguments")
    }

    /// The segments of a task's image in which `addresses` lie: where they start in the bundle and
    /// how long they are.
    pub fn segments(&self, task: u16, addresses: Range<u32>) -> Vec<(u32, usize, usize)> {
        let bundle = self.bundle();
        let segments = bundle.tile(tile(task)).segments();
        let found = segments.filter(|segment| addresses.contains(&segment.address.0));
        found
            .map(|found| (found.address.0, found.bundle_offset, found.bytes.len()))
            .collect()
    }

    /// The word of the bundle at `byte`.
    pub fn value(&self, byte: usize) -> u32 {
        let word = self.bytes[byte..byte + 4].try_into();
        u32::from_le_bytes(word.expect("four bytes are four bytes"))
    }

    /// Bit `bit` of operand `operand` of the instruction `mnemonic` that comes `nth` from `from` on.
    #[track_caller]
    pub fn operand(
        &self,
        tile: PhysTile,
        from: u32,
        (mnemonic, nth): (&str, usize),
        operand: &str,
        bit: u32,
    ) -> Bit {
        let words = (from..from + 0x4000)
            .step_by(4)
            .map_while(|at| self.word(tile, at));
        let named = |&byte: &usize| {
            decode_word(self.value(byte)).is_ok_and(|found| found.form.mnemonic == mnemonic)
        };
        let byte = words.filter(named).nth(nth);
        let byte = byte.unwrap_or_else(|| panic!("no {mnemonic} number {nth} from {from:#x} on"));
        let form = decode_word(self.value(byte))
            .expect("it was decoded before")
            .form;
        let found = form.operands.iter().find(|found| found.name == operand);
        let names: Vec<_> = form.operands.iter().map(|operand| operand.name).collect();
        let mask = found
            .unwrap_or_else(|| panic!("{mnemonic} has {names:?}"))
            .mask();
        bit_of(byte, mask.trailing_zeros() + bit)
    }

    /// Where the code of `symbol` starts on `tile`.
    #[track_caller]
    pub fn symbol(&self, tile: PhysTile, symbol: &str) -> u32 {
        let bundle = self.bundle();
        let line = bundle
            .lines(bundle.tile(tile).class())
            .find(|line| line.symbol == symbol);
        line.unwrap_or_else(|| panic!("there is no {symbol}"))
            .start
            .0
    }
}

/// Bit `bit` of the word at `byte`.
pub fn bit_of(byte: usize, bit: u32) -> Bit {
    Bit {
        byte: byte + (bit / 8) as usize,
        bit: (bit % 8) as u8,
    }
}

/// The tile of logical number `index`.
pub fn tile(index: u16) -> PhysTile {
    TileId::new(index).expect("there is such a tile").physical()
}

/// Programs and kernels. [pipeline §5]
pub const PROGRAM: Range<u32> = memory::ENTRY.0..0x5_0000;

/// Packets.
pub const WINDOW: Range<u32> = 0x5_0000..0x5_4000;

/// Rows.
pub const ROWS: Range<u32> = 0x5_4000..0x5_8000;

/// What differs from tile to tile.
pub const SLOTS: Range<u32> = 0x5_8000..0x5_C000;

/// Tiles move while the host looks, so that it can give up.
fn options() -> SimOptions {
    SimOptions {
        progress: Progress::Delayed,
        quota: Some(QUOTA),
        ..SimOptions::default()
    }
}

fn complaint(error: &SessionError, seen: &Seen) -> Found {
    if let Some(stop) = seen.stops.first() {
        return Found {
            catcher: Catcher::Simulator,
            told: stop.text.clone(),
        };
    }
    let interrupted = error.is_interrupt();
    let catcher = if interrupted {
        Catcher::TimeLimit
    } else {
        Catcher::Driver
    };
    Found {
        catcher,
        told: error.to_string(),
    }
}
