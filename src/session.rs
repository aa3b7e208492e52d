//! A loaded program, called often: it owns the card while it lives.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use half::f16;
use tilekiln_bundle::{Binding, Bundle, TensorKind};

use crate::card::{Device, DeviceError, Gauge, Simulated};
use crate::driver::host_exchange::{self, DATA_BUFFER};
use crate::driver::{DriverError, Watch, debug};

/// What output places hold before a call, so that a write that never came shows. [host-driver §14.4]
const UNWRITTEN: u8 = 0xa5;

/// A program on a card, between its start and its end.
pub struct Session<'b> {
    device: Box<dyn Device>,
    bundle: &'b Bundle<'b>,
    inputs: Vec<Endpoint>,
    outputs: Vec<Endpoint>,
}

/// One tensor and where its rows lie in the data buffer.
struct Endpoint {
    name: String,
    elements: usize,
    bindings: Vec<Binding>,
}

/// What a call was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallFacts {
    /// Cycles between the two samples the program took: behind its last input phase and before
    /// its first output phase.
    pub cycles: u32,
    /// Acknowledgements it took.
    pub acknowledgements: u32,
}

/// Why a session did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// Not one array an input, or an output.
    #[error("{got} {what} were given; the program has {want}")]
    Count {
        /// `inputs` or `outputs`.
        what: &'static str,
        /// How many were given.
        got: usize,
        /// How many there are.
        want: usize,
    },
    /// An array of another size.
    #[error("{name} was given {got} elements; it has {want}")]
    Elements {
        /// The tensor.
        name: String,
        /// What it was given.
        got: usize,
        /// What it has.
        want: usize,
    },
    /// The card did not do what it was told.
    #[error("{reason}{trouble}")]
    Card {
        /// What it did not do.
        reason: DriverError,
        /// What was found on it.
        trouble: Trouble,
    },
    /// A virtual card took what no card would.
    #[error("a card would not have taken this: {}", faults.join("; "))]
    Client {
        /// What it was.
        faults: Vec<String>,
    },
    /// A buffer could not be used.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl SessionError {
    /// Whether the user ended it.
    pub fn is_interrupt(&self) -> bool {
        matches!(
            self,
            Self::Card {
                reason: DriverError::Interrupted,
                ..
            }
        )
    }
}

/// What was found on a card that did not do what it was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trouble {
    /// What the device knows by itself, with the source lines.
    pub stops: Vec<String>,
    /// What its debug interface told.
    pub triage: Option<String>,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for stop in &self.stops {
            write!(f, "\n  {stop}")?;
        }
        for line in self.triage.iter().flat_map(|triage| triage.lines()) {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

/// Stops shown with an error; a broken exchange can stop hundreds of tiles.
const STOPS_SHOWN: usize = 8;

impl<'b> Session<'b> {
    /// Starts the program that [`crate::card::open`] loaded.
    ///
    /// # Errors
    ///
    /// [`SessionError::Card`] with what was found on the card.
    pub fn start(
        device: Box<dyn Device>,
        bundle: &'b Bundle<'b>,
        watch: &mut Watch<'_>,
    ) -> Result<Self, SessionError> {
        let endpoints = |kind| {
            let all = bundle.tensors().enumerate();
            all.filter(|(_, tensor)| tensor.kind == kind)
                .map(|(index, tensor)| Endpoint {
                    name: tensor.name.to_owned(),
                    elements: tensor.elements().unwrap_or(0) as usize,
                    bindings: bundle
                        .bindings()
                        .filter(|binding| binding.tensor as usize == index)
                        .collect(),
                })
                .collect()
        };
        let inputs = endpoints(TensorKind::Input);
        let outputs = endpoints(TensorKind::Output);
        let mut session = Self {
            device,
            bundle,
            inputs,
            outputs,
        };
        let started = host_exchange::start(&mut *session.device, bundle.host(), watch);
        session.explain(started, watch)?;
        Ok(session)
    }

    /// What the first line of any result calls the card.
    pub fn device_name(&self) -> &str {
        self.device.name()
    }

    /// What a simulator can tell of its work so far.
    pub fn simulated(&self) -> Option<Simulated> {
        self.device.simulated()
    }

    /// What another thread may watch and say while the card is at work.
    pub fn gauge(&self) -> Option<Arc<dyn Gauge>> {
        self.device.gauge()
    }

    /// Time on the card's clock.
    pub fn now(&self) -> Duration {
        self.device.now()
    }

    /// Runs the program once: one array an input in, one array an output back, in the order of the
    /// bundle's tensors.
    ///
    /// # Errors
    ///
    /// [`SessionError`]; after [`SessionError::Card`] the card's state is unknown.
    pub fn call(
        &mut self,
        inputs: &[Vec<f16>],
        outputs: &mut [Vec<f16>],
        watch: &mut Watch<'_>,
    ) -> Result<CallFacts, SessionError> {
        check(&self.inputs, "inputs", inputs)?;
        check(&self.outputs, "outputs", outputs)?;
        let device = &mut *self.device;
        for endpoint in &self.outputs {
            spoil(device, endpoint)?;
        }
        for offset in self.bundle.host().cycles {
            device.write_buffer(DATA_BUFFER, offset, &[UNWRITTEN; 4])?;
        }
        for (endpoint, elements) in self.inputs.iter().zip(inputs) {
            place(device, endpoint, elements)?;
        }
        let phases = self.bundle.phases().len() as u32;
        let called = host_exchange::call(device, self.bundle.host(), phases, watch);
        let acknowledgements = self.explain(called, watch)?;
        for (endpoint, elements) in self.outputs.iter().zip(outputs) {
            collect(&mut *self.device, endpoint, elements)?;
        }
        let cycles = self.cycles()?;
        tracing::debug!(cycles, acknowledgements, "frame computed");
        Ok(CallFacts {
            cycles,
            acknowledgements,
        })
    }

    /// The distance of the two samples; the counter's lower word wraps.
    fn cycles(&mut self) -> Result<u32, DeviceError> {
        let [mut first, mut last] = [[0; 4]; 2];
        let [first_at, last_at] = self.bundle.host().cycles;
        self.device.read_buffer(DATA_BUFFER, first_at, &mut first)?;
        self.device.read_buffer(DATA_BUFFER, last_at, &mut last)?;
        Ok(u32::from_le_bytes(last).wrapping_sub(u32::from_le_bytes(first)))
    }

    /// Lets the program end and gives the card back. Gives the acknowledgements it took.
    ///
    /// # Errors
    ///
    /// [`SessionError::Card`] when it does not end well, [`SessionError::Client`] when a virtual
    /// card took anything in the session that no card would have.
    pub fn finish(mut self, watch: &mut Watch<'_>) -> Result<u32, SessionError> {
        let ended = host_exchange::finish(&mut *self.device, self.bundle.host(), watch);
        let acknowledgements = self.explain(ended, watch)?;
        match self.device.faults() {
            faults if faults.is_empty() => Ok(acknowledgements),
            faults => Err(SessionError::Client { faults }),
        }
    }

    /// Adds what can be found on the card to a complaint about it.
    fn explain<T>(
        &mut self,
        result: Result<T, DriverError>,
        watch: &Watch<'_>,
    ) -> Result<T, SessionError> {
        result.map_err(|reason| {
            let trouble = match reason {
                DriverError::Interrupted | DriverError::Gone => Trouble::default(),
                _ => self.look(watch),
            };
            SessionError::Card { reason, trouble }
        })
    }

    fn look(&mut self, watch: &Watch<'_>) -> Trouble {
        let reports = self.device.stops();
        let more = reports.len().saturating_sub(STOPS_SHOWN);
        let mut stops: Vec<_> = reports
            .into_iter()
            .take(STOPS_SHOWN)
            .map(|stop| match self.bundle.line(stop.tile, stop.pc) {
                Some(line) => format!("{}; in {line}", stop.text),
                None => stop.text,
            })
            .collect();
        if more > 0 {
            stops.push(format!("and {more} more"));
        }
        let triage = debug::triage(&mut *self.device, watch.limits.debug);
        Trouble {
            stops,
            triage: triage.ok().map(|triage| triage.to_string()),
        }
    }
}

impl Drop for Session<'_> {
    /// Tiles must not reach buffers whose owner is gone. [host-driver §15]
    fn drop(&mut self) {
        // After an orderly end there is nothing to detach, and nobody to hear of a failure.
        let _ = self.device.detach_all();
    }
}

/// Exactly one array of the right size for every tensor.
fn check(
    endpoints: &[Endpoint],
    what: &'static str,
    arrays: &[Vec<f16>],
) -> Result<(), SessionError> {
    if arrays.len() != endpoints.len() {
        return Err(SessionError::Count {
            what,
            got: arrays.len(),
            want: endpoints.len(),
        });
    }
    for (endpoint, array) in endpoints.iter().zip(arrays) {
        if array.len() != endpoint.elements {
            let (name, got, want) = (endpoint.name.clone(), array.len(), endpoint.elements);
            return Err(SessionError::Elements { name, got, want });
        }
    }
    Ok(())
}

/// The place in the buffer and the elements of every row.
fn rows(endpoint: &Endpoint) -> impl Iterator<Item = (u32, std::ops::Range<usize>)> {
    endpoint.bindings.iter().flat_map(|binding| {
        (0..binding.rows).map(move |row| {
            let start = binding.first_element + u64::from(row) * binding.element_stride;
            let start = start as usize;
            let at = binding.buffer_offset + row * binding.buffer_stride;
            (at, start..start + binding.row_elements as usize)
        })
    })
}

fn place(
    device: &mut dyn Device,
    endpoint: &Endpoint,
    elements: &[f16],
) -> Result<(), DeviceError> {
    let mut bytes = Vec::new();
    for (at, range) in rows(endpoint) {
        bytes.clear();
        bytes.extend(
            elements[range]
                .iter()
                .flat_map(|element| element.to_le_bytes()),
        );
        device.write_buffer(DATA_BUFFER, at, &bytes)?;
    }
    Ok(())
}

fn spoil(device: &mut dyn Device, endpoint: &Endpoint) -> Result<(), DeviceError> {
    for (at, range) in rows(endpoint) {
        let bytes = [UNWRITTEN; 256];
        let mut left = 2 * range.len();
        let mut at = at;
        while left > 0 {
            let some = left.min(bytes.len());
            device.write_buffer(DATA_BUFFER, at, &bytes[..some])?;
            at += some as u32;
            left -= some;
        }
    }
    Ok(())
}

fn collect(
    device: &mut dyn Device,
    endpoint: &Endpoint,
    elements: &mut [f16],
) -> Result<(), DeviceError> {
    let mut bytes = Vec::new();
    for (at, range) in rows(endpoint) {
        bytes.resize(2 * range.len(), 0);
        device.read_buffer(DATA_BUFFER, at, &mut bytes)?;
        for (element, bytes) in elements[range].iter_mut().zip(bytes.chunks_exact(2)) {
            *element = f16::from_le_bytes([bytes[0], bytes[1]]);
        }
    }
    Ok(())
}

/// Arrays of the right sizes for the outputs of a bundle.
pub fn empty_outputs(bundle: &Bundle<'_>) -> Vec<Vec<f16>> {
    bundle
        .tensors()
        .filter(|tensor| tensor.kind == TensorKind::Output)
        .map(|tensor| vec![f16::ZERO; tensor.elements().unwrap_or(0) as usize])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::fake::{Behaviour, FakeCard, watched};
    use crate::sample;

    /// The sample's output lies where its query does, so a card that does nothing answers with the
    /// query.
    #[test]
    fn three_frames_go_through_one_session() {
        let bytes = sample::bundle();
        let bundle = Bundle::parse(&bytes).unwrap();
        let card = FakeCard::new(Behaviour::default(), 1, 1);
        watched(|watch| {
            let mut session = Session::start(Box::new(card), &bundle, watch).unwrap();
            for frame in 0..3u16 {
                let array = |base: u16| (0..64).map(|n| f16::from_bits(base + n + frame)).collect();
                let inputs: [Vec<f16>; 3] = [array(0x3c00), array(0x1000), array(0x2000)];
                let mut outputs = empty_outputs(&bundle);
                let facts = session.call(&inputs, &mut outputs, watch).unwrap();
                assert_eq!(facts.acknowledgements, 4);
                // Nobody sampled: both words still hold what marks them as unwritten.
                assert_eq!(facts.cycles, 0);
                assert_eq!(outputs[0][8..], inputs[0][8..]);
            }
            assert_eq!(session.finish(watch).unwrap(), 3);
        });
    }

    #[test]
    fn arrays_of_another_size_are_refused_with_both_numbers() {
        let bytes = sample::bundle();
        let bundle = Bundle::parse(&bytes).unwrap();
        let card = FakeCard::new(Behaviour::default(), 1, 1);
        watched(|watch| {
            let mut session = Session::start(Box::new(card), &bundle, watch).unwrap();
            let mut outputs = empty_outputs(&bundle);
            let two = vec![vec![f16::ZERO; 64]; 2];
            let error = session.call(&two, &mut outputs, watch).unwrap_err();
            assert_eq!(error.to_string(), "2 inputs were given; the program has 3");
            let short = vec![vec![f16::ZERO; 63]; 3];
            let error = session.call(&short, &mut outputs, watch).unwrap_err();
            assert_eq!(error.to_string(), "query was given 63 elements; it has 64");
        });
    }

    #[test]
    fn a_card_that_hangs_is_described() {
        let bytes = sample::bundle();
        let bundle = Bundle::parse(&bytes).unwrap();
        let mut card = FakeCard::new(Behaviour::default(), 1, 1);
        card.hang_after(3);
        watched(|watch| {
            let mut session = Session::start(Box::new(card), &bundle, watch).unwrap();
            let inputs = vec![vec![f16::ZERO; 64]; 3];
            let error = session
                .call(&inputs, &mut empty_outputs(&bundle), watch)
                .unwrap_err();
            let text = error.to_string();
            assert!(text.contains("GS2 mark is still 1"), "{text}");
            assert!(text.contains("\n  of 1472 supervisors 1472 wait"), "{text}");
            assert!(!error.is_interrupt());
        });
    }
}
