//! `--set`: registers before the first instruction.

use tilekiln_chip::WORKERS;
use tilekiln_chip::csr::{self, Access, Space};
use tilekiln_sim::stop::Context;
use tilekiln_sim::tile::Tile;

use super::options::{Part, number, word};

/// A register and its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    /// The worker it is for; all contexts that have the register otherwise.
    pub worker: Option<usize>,
    /// The register.
    pub register: Register,
    /// Its value.
    pub value: u64,
}

/// A file of registers: what its names begin with, what they mean, how many there are.
type File = (&'static str, fn(usize) -> Register, usize);

/// A register that can be set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Register {
    /// A main register.
    Main(usize),
    /// An aux register.
    Aux(usize),
    /// An accumulator.
    Accumulator(usize),
    /// A weight.
    Weight(usize),
    /// A control and status register of the tile.
    Tile(u16),
    /// A control and status register of a worker, from 0x100 on.
    Worker(u16),
}

impl Setting {
    /// Reads `[wN.]NAME=VALUE`.
    ///
    /// # Errors
    ///
    /// What is wrong with it, for the user.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("expected REG=VALUE")?;
        let (worker, name) = match name.split_once('.') {
            None => (None, name),
            Some((worker, name)) => (Some(worker_number(worker)?), name),
        };
        let register = Register::named(name.strip_prefix('$').unwrap_or(name))?;
        let of_tile = matches!(register, Register::Tile(_) | Register::Weight(_));
        if of_tile && worker.is_some() {
            return Err(format!("{name} belongs to the tile, not to a worker"));
        }
        let value = match register {
            Register::Weight(_) => number(value)?,
            _ => u64::from(word(value)?),
        };
        Ok(Self {
            worker,
            register,
            value,
        })
    }

    /// Sets the register where it belongs to the tile; those count at a launch already.
    pub fn apply_to_tile(&self, tile: &mut Tile) {
        match self.register {
            Register::Tile(csr) => tile.set_csr(csr, self.value as u32),
            Register::Weight(index) => tile.weights_mut().set(index, self.value),
            _ => {}
        }
    }

    /// Sets the register where it belongs to a context, which `part` has launched. The main registers
    /// of a supervisor's program are the supervisor's unless a worker is named.
    pub fn apply_to_contexts(&self, tile: &mut Tile, part: Part) {
        let value = self.value as u32;
        if let (Register::Main(number), Part::Supervisor, None) = (self.register, part, self.worker)
        {
            tile.set_m(Context::Supervisor, number, value);
            return;
        }
        for worker in (0..WORKERS).filter(|worker| self.worker.is_none_or(|only| only == *worker)) {
            match self.register {
                Register::Main(number) => {
                    tile.set_m(Context::Worker(worker as u8), number, value);
                }
                Register::Aux(number) => tile.set_a(worker, number, value),
                Register::Accumulator(index) => tile.fp_mut(worker).set_acc(index, value),
                Register::Worker(csr) => tile.fp_mut(worker).set_csr(csr, value),
                Register::Tile(_) | Register::Weight(_) => {}
            }
        }
    }
}

fn worker_number(text: &str) -> Result<usize, String> {
    let number = text
        .strip_prefix('w')
        .and_then(|digits| digits.parse().ok());
    number
        .filter(|number| *number < WORKERS)
        .ok_or_else(|| format!("{text} is none of w0 to w{}", WORKERS - 1))
}

impl Register {
    /// The register called `name`, without its `$`.
    fn named(name: &str) -> Result<Self, String> {
        if let Some(weight) = name.strip_prefix("CWEI_") {
            return weight_by_place(weight)
                .ok_or_else(|| format!("{name} is none of CWEI_0_0 to CWEI_15_3"));
        }
        // The longer names first: `acc` begins like an aux register.
        #[rustfmt::skip] // One file of registers a line.
        let files: [File; 4] = [
            ("acc",  Self::Accumulator, 32),
            ("cwei", Self::Weight,      64),
            ("m",    Self::Main,        12),
            ("a",    Self::Aux,         8),
        ];
        for (file, register, count) in files {
            let digits = name
                .strip_prefix(file)
                .and_then(|digits| digits.parse::<usize>().ok());
            match digits {
                Some(number) if number < count => return Ok(register(number)),
                Some(_) => return Err(without_storage(name, file, count)),
                None => {}
            }
        }
        Self::control(name)
    }

    /// The control and status register called `name`.
    fn control(name: &str) -> Result<Self, String> {
        let dollar = format!("${name}");
        if let Some(csr) = csr::by_name(&dollar, Space::WorkerUpper) {
            return Ok(Self::Worker(csr.number));
        }
        match csr::by_name(&dollar, Space::Supervisor) {
            Some(csr) if csr.access == Access::ReadWrite => Ok(Self::Tile(csr.number)),
            Some(_) => Err(format!("{dollar} holds no value that can be set")),
            None if name == "VERTEX_BASE" => Err("use --vertex-base".to_owned()),
            None if name == "WORKER_BASE" => Err("use WORKER0_BASE to WORKER5_BASE".to_owned()),
            None if csr::by_name(&dollar, Space::Worker).is_some() => {
                Err(format!("{dollar} is set by what the worker does"))
            }
            None => Err(format!("there is no register {name}")),
        }
    }
}

/// `u_p`: unit and slot.
fn weight_by_place(text: &str) -> Option<Register> {
    let (unit, slot) = text.split_once('_')?;
    let (unit, slot): (usize, usize) = (unit.parse().ok()?, slot.parse().ok()?);
    (unit < 16 && slot < 4).then_some(Register::Weight(4 * unit + slot))
}

fn without_storage(name: &str, file: &str, count: usize) -> String {
    let hint = match name {
        "m12" => "; m12 of a worker is WORKER0_BASE to WORKER5_BASE",
        "m13" => "; m13 of a worker is --vertex-base",
        _ => "",
    };
    format!("{name} is none of {file}0 to {file}{}{hint}", count - 1)
}
