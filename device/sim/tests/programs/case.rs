//! One case of a file of tile programs: a start, a program, and what it must leave behind.
//!
//! The format is that of the golden file `tile-programs.jsonl`. The simulator's own tests and
//! `cargo xtask conform` both read it through this file.

use serde_json::Value;
use tilekiln_chip::PhysTile;
use tilekiln_chip::csr::{self, Space, number};
use tilekiln_sim::settings::Settings;
use tilekiln_sim::stop::{Context, Exception, Stop, StopKind};
use tilekiln_sim::tile::{Tile, Yield};

use super::compare::Compare;

/// Most execution bundles a case may take. [tile-programs §3]
const BUNDLES_MAX: u64 = 200_000;

/// How a case went.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As it says.
    Passed,
    /// The simulator calls what it does undefined, and the case admits that.
    Undefined(String),
    /// Differently.
    Failed(String),
}

/// One case.
pub struct Case {
    /// Its name.
    pub id: String,
    json: Value,
}

/// Why a line is no case, or a case does not hold.
type Complaint = String;

impl Case {
    /// Reads one line.
    pub fn parse(line: &str) -> Result<Self, Complaint> {
        let json: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let id = json["id"].as_str().ok_or("a case without id")?.to_owned();
        Ok(Self { id, json })
    }

    /// Whether the program runs in the supervisor.
    pub fn is_supervisor(&self) -> bool {
        self.json["context"] == "supervisor"
    }

    /// The address of the first word.
    pub fn org(&self) -> Result<u32, Complaint> {
        number_of(&self.json["org"])
    }

    /// The program as text.
    pub fn source(&self) -> &str {
        self.json["source"].as_str().unwrap_or_default()
    }

    /// The program as words, where every operand code is public.
    pub fn words(&self) -> Option<Result<Vec<u32>, Complaint>> {
        let words = self.json.get("words")?.as_str()?;
        let word = |text| u32::from_str_radix(text, 16).map_err(|_| format!("no word: {text}"));
        Some(words.split_whitespace().map(word).collect())
    }

    /// Runs `words` on one tile under `settings`.
    pub fn run(&self, words: &[u32], settings: &Settings) -> Outcome {
        match self.try_run(words, settings) {
            Ok(outcome) => outcome,
            Err(complaint) => Outcome::Failed(complaint),
        }
    }

    fn context(&self) -> Context {
        if self.is_supervisor() {
            Context::Supervisor
        } else {
            Context::Worker(0)
        }
    }

    fn try_run(&self, words: &[u32], settings: &Settings) -> Result<Outcome, Complaint> {
        let tile = PhysTile::new(5).ok_or("there is no tile 5")?;
        let mut tile = Tile::new(tile, settings);
        let org = self.org()?;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        tile.memory
            .write(org, &bytes)
            .map_err(|fault| fault.to_string())?;
        self.start(&mut tile, org)?;
        let answer = tile.run(BUNDLES_MAX * 6);
        if answer != Yield::Stopped {
            return Err(format!("did not end: {answer:?}"));
        }
        let stop = tile.stop().cloned();
        if let Some(Stop {
            kind: StopKind::Undefined { what },
            ..
        }) = &stop
        {
            return Ok(if self.json["confidence"] == "inf" {
                Outcome::Undefined(what.clone())
            } else {
                Outcome::Failed(format!("undefined: {what}"))
            });
        }
        self.check_end(&tile, stop.as_ref())?;
        self.check_state(&tile)?;
        Ok(Outcome::Passed)
    }

    /// Puts the tile into the state of `init` and starts the context.
    fn start(&self, tile: &mut Tile, org: u32) -> Result<(), Complaint> {
        let init = &self.json["init"];
        for (address, bytes) in memory_of(&init["mem"])? {
            tile.memory
                .write(address, &bytes)
                .map_err(|fault| fault.to_string())?;
        }
        for (index, value) in entries(&init["cwei"]) {
            let value = wide_number_of(value)?;
            tile.weights_mut().set(decimal(index)?, value);
        }
        let of = |name: &str| init["csr"].get(name).map(number_of).transpose();
        let vertex_base = of("$VERTEX_BASE")?.unwrap_or(0x6_0000);
        if let Some(base) = of("$WORKER_BASE")? {
            tile.set_csr(number::WORKER0_BASE, base);
        }
        match self.context() {
            Context::Supervisor => tile.launch_supervisor(org),
            Context::Worker(_) => tile.launch_worker(0, org, vertex_base),
        }
        for (name, value) in entries(&init["regs"]) {
            self.set_register(tile, name, number_of(value)?)?;
        }
        for (index, value) in entries(&init["acc"]) {
            tile.fp_mut(0).set_acc(decimal(index)?, number_of(value)?);
        }
        for (name, value) in entries(&init["csr"]) {
            match self.space(name)? {
                (_, number) if number >= 0x100 => tile.fp_mut(0).set_csr(number, number_of(value)?),
                (Space::Supervisor, number) => tile.set_csr(number, number_of(value)?),
                // Worker registers below 0x100 are launch values.
                _ => {}
            }
        }
        Ok(())
    }

    /// The space and number of a register by name.
    fn space(&self, name: &str) -> Result<(Space, u16), Complaint> {
        let spaces: &[Space] = if self.is_supervisor() {
            &[Space::Supervisor]
        } else {
            &[Space::Worker, Space::WorkerUpper]
        };
        let found = spaces.iter().find_map(|&space| csr::by_name(name, space));
        found
            .map(|csr| (csr.space, csr.number))
            .ok_or_else(|| format!("no register {name}"))
    }

    fn set_register(&self, tile: &mut Tile, name: &str, value: u32) -> Result<(), Complaint> {
        let (file, number) = name.split_at(1);
        let number = decimal(number)?;
        match file {
            "m" => tile.set_m(self.context(), number, value),
            _ => tile.set_a(0, number, value),
        }
        Ok(())
    }

    fn register(&self, tile: &Tile, name: &str) -> Result<u32, Complaint> {
        let (file, number) = name.split_at(1);
        let number = decimal(number)?;
        Ok(if file == "m" {
            tile.m(self.context(), number)
        } else {
            tile.a(0, number)
        })
    }

    /// Compares how the program ended: exception, address, repeat flag, status, slots.
    fn check_end(&self, tile: &Tile, stop: Option<&Stop>) -> Result<(), Complaint> {
        let expect = &self.json["expect"];
        let stop = stop.filter(|stop| !self.is_normal_end(tile, stop));
        let got = match stop.map(|stop| (&stop.kind, stop)) {
            None => None,
            Some((StopKind::Exception { exception, .. }, stop)) => {
                if stop.context != self.context() {
                    return Err(stop.to_string());
                }
                Some(u64::from(exception.etype()))
            }
            Some((_, stop)) => return Err(stop.to_string()),
        };
        let told = stop.map_or_else(|| "a normal end".to_owned(), Stop::to_string);
        if got != expect["exception"].as_u64() {
            return Err(format!(
                "got {told}, want exception {}",
                expect["exception"]
            ));
        }
        if let (Some(stop), Some(pc)) = (stop, expect.get("pc"))
            && stop.pc != number_of(pc)?
        {
            return Err(format!("got {told}, want it at {pc}"));
        }
        let wsr = tile.worker_csr(0, number::WSR);
        equal("ERPT", Some(u64::from(wsr >> 9 & 1)), &expect["erpt"])?;
        equal(
            "exit status",
            tile.exit_status(0).map(u64::from),
            &expect["status"],
        )?;
        equal("bundles", Some(tile.slots(0)), &expect["bundles"])
    }

    /// A supervisor's program ends with `trap 0` while its workers are inactive.
    fn is_normal_end(&self, tile: &Tile, stop: &Stop) -> bool {
        let trap = matches!(
            stop.kind,
            StopKind::Exception {
                exception: Exception::PatchedBreak0,
                ..
            }
        );
        let workers = tile.context_status() & 0x3ffc;
        self.is_supervisor() && stop.context == Context::Supervisor && trap && workers == 0
    }

    /// Compares registers and memory.
    fn check_state(&self, tile: &Tile) -> Result<(), Complaint> {
        let expect = &self.json["expect"];
        let compare = Compare::parse(&self.json["compare"])?;
        for (name, value) in entries(&expect["regs"]) {
            let (got, want) = (self.register(tile, name)?, number_of(value)?);
            let compare = if name.starts_with('a') {
                compare
            } else {
                Compare::Bits
            };
            compare.words(name, &got.to_le_bytes(), &want.to_le_bytes())?;
        }
        for (name, value) in entries(&expect["csr"]) {
            let got = match self.space(name)? {
                (Space::Supervisor, number) => tile.csr(number),
                (_, number) => tile.worker_csr(0, number),
            };
            Compare::Bits.words(name, &got.to_le_bytes(), &number_of(value)?.to_le_bytes())?;
        }
        for (address, want) in memory_of(&expect["mem"])? {
            let mut got = vec![0; want.len()];
            tile.memory
                .read(address, &mut got)
                .map_err(|fault| fault.to_string())?;
            compare.words(&format!("memory at {address:#x}"), &got, &want)?;
        }
        Ok(())
    }
}

/// The pairs of an object; none when there is no object.
fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.as_str(), value))
}

/// `[[address, bytes in hex], ...]`.
fn memory_of(value: &Value) -> Result<Vec<(u32, Vec<u8>)>, Complaint> {
    let ranges = value.as_array().map(Vec::as_slice).unwrap_or_default();
    ranges
        .iter()
        .map(|range| Ok((number_of(&range[0])?, bytes_of(&range[1])?)))
        .collect()
}

fn bytes_of(value: &Value) -> Result<Vec<u8>, Complaint> {
    let text: Vec<char> = value.as_str().unwrap_or_default().chars().collect();
    let byte = |pair: &[char]| {
        let pair: String = pair.iter().collect();
        u8::from_str_radix(&pair, 16).map_err(|_| format!("no byte: {pair}"))
    };
    text.chunks(2).map(byte).collect()
}

fn wide_number_of(value: &Value) -> Result<u64, Complaint> {
    let text = value.as_str().unwrap_or_default();
    let digits = text
        .strip_prefix("0x")
        .ok_or_else(|| format!("no number: {value}"))?;
    u64::from_str_radix(digits, 16).map_err(|_| format!("no number: {value}"))
}

fn number_of(value: &Value) -> Result<u32, Complaint> {
    u32::try_from(wide_number_of(value)?).map_err(|_| format!("more than 32 bits: {value}"))
}

fn decimal(text: &str) -> Result<usize, Complaint> {
    text.parse().map_err(|_| format!("no number: {text}"))
}

/// Compares a count, where the case has one.
fn equal(what: &str, got: Option<u64>, want: &Value) -> Result<(), Complaint> {
    if want.is_null() || got == want.as_u64() {
        return Ok(());
    }
    Err(format!("{what}: got {got:?}, want {want}"))
}
