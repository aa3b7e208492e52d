//! The steps of a call, recognised by their order.

use super::super::super::{Compute, Exchange, HostDirection, Kernel, Plan, Step};
use super::super::CheckError;

/// The steps of a call by the part they play.
pub(super) struct Steps<'a> {
    pub inputs: Vec<(usize, &'a Compute)>,
    pub first_sample: &'a Compute,
    pub packs: [&'a Compute; 3],
    pub exchange_in: Option<&'a Exchange>,
    pub scores: &'a Compute,
    pub mask: &'a Compute,
    pub softmax: &'a Compute,
    pub values: Vec<&'a Compute>,
    pub exchange_out: Option<&'a Exchange>,
    pub own: Vec<&'a Compute>,
    pub merge: &'a Compute,
    pub last_sample: &'a Compute,
}

/// A reader of the steps in order.
struct Cursor<'a> {
    steps: &'a [Step],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn kernel(&mut self, kernel: Kernel, wanted: &'static str) -> Result<&'a Compute, CheckError> {
        match self.steps.get(self.at) {
            Some(Step::Compute(compute)) if compute.kernel == kernel => {
                self.at += 1;
                Ok(compute)
            }
            _ => Err(CheckError::Order {
                index: self.at,
                wanted,
            }),
        }
    }

    fn kernels(&mut self, kernel: Kernel) -> Vec<&'a Compute> {
        std::iter::from_fn(|| self.kernel(kernel, "").ok()).collect()
    }

    fn exchange(&mut self) -> Option<&'a Exchange> {
        let Some(Step::Exchange(exchange)) = self.steps.get(self.at) else {
            return None;
        };
        self.at += 1;
        Some(exchange)
    }

    fn host(&mut self) -> Option<usize> {
        let Some(Step::Host(phase)) = self.steps.get(self.at) else {
            return None;
        };
        self.at += 1;
        Some(*phase)
    }
}

impl<'a> Steps<'a> {
    pub fn of(plan: &'a Plan) -> Result<Self, CheckError> {
        let mut cursor = Cursor {
            steps: &plan.steps,
            at: 0,
        };
        let mut inputs = Vec::new();
        while let Some(phase) = cursor.host() {
            inputs.push((
                phase,
                cursor.kernel(Kernel::Copy, "a copy out of the window")?,
            ));
        }
        let c = &mut cursor;
        let steps = Steps {
            inputs,
            first_sample: c.kernel(Kernel::Sample, "the first sample")?,
            packs: [
                c.kernel(Kernel::PackLeft, "packing of the queries")?,
                c.kernel(Kernel::PackRight, "packing of the keys")?,
                c.kernel(Kernel::PackRightTransposed, "packing of the values")?,
            ],
            exchange_in: c.exchange(),
            scores: c.kernel(Kernel::Gemm, "the product of queries and keys")?,
            mask: c.kernel(Kernel::Mask, "the mask")?,
            softmax: c.kernel(Kernel::Softmax, "the softmax")?,
            values: c.kernels(Kernel::Gemm),
            exchange_out: c.exchange(),
            own: c.kernels(Kernel::Copy),
            merge: c.kernel(Kernel::Merge, "the merge")?,
            last_sample: c.kernel(Kernel::Sample, "the last sample")?,
        };
        let ins: Vec<usize> = steps.inputs.iter().map(|(phase, _)| *phase).collect();
        let outs: Vec<usize> = std::iter::from_fn(|| cursor.host()).collect();
        let wanted = "the end: host phases come in order, inputs first, each once";
        let phases = plan.host.phases.iter().enumerate();
        let of = |direction| {
            let phases = phases
                .clone()
                .filter(move |(_, phase)| phase.direction == direction);
            phases.map(|(index, _)| index).collect::<Vec<_>>()
        };
        let ordered = ins == of(HostDirection::ToTiles)
            && outs == of(HostDirection::ToHost)
            && ins
                .iter()
                .chain(&outs)
                .copied()
                .eq(0..plan.host.phases.len());
        if !ordered || cursor.at != plan.steps.len() {
            return Err(CheckError::Order {
                index: cursor.at,
                wanted,
            });
        }
        Ok(steps)
    }

    /// Every call has a list for each task, and every list the words its kernel reads.
    pub fn lists(&self, plan: &Plan) -> Result<(), CheckError> {
        for step in &plan.steps {
            let Step::Compute(compute) = step else {
                continue;
            };
            let counts = |what, got, want| {
                let step = compute.name.clone();
                Err(CheckError::ArgumentCount {
                    step,
                    what,
                    got,
                    want,
                })
            };
            if compute.arguments.len() != plan.tasks.len() {
                return counts("lists", compute.arguments.len(), plan.tasks.len());
            }
            let words = words(compute.kernel);
            if let Some(list) = compute.arguments.iter().find(|list| list.len() != words) {
                return counts("arguments", list.len(), words);
            }
        }
        Ok(())
    }
}

/// Words of a kernel's argument block, as its contract in `device/kernels` counts them.
const fn words(kernel: Kernel) -> usize {
    match kernel {
        Kernel::Sample => 1,
        Kernel::Copy => 3,
        Kernel::Mask => 4,
        Kernel::Softmax => 5,
        Kernel::PackLeft | Kernel::PackRight | Kernel::PackRightTransposed => 6,
        Kernel::Gemm | Kernel::Merge => 10,
    }
}
