//! Programs + kernels → Images: every class assembled and linked once, every tile's words set
//! beside the code it shares.

use crate::asm::{self, AsmErrors, Mode, Source};
use crate::image::{self, LinkError, LinkInput, Linked};
use crate::object::Object;
use crate::program::{Class, Programs};

/// A kernel that has been assembled, or taken from the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelObject {
    /// Its source's name without the ending.
    pub name: String,
    /// The key it is kept under, in hex.
    pub key: String,
    /// Whether the cache had it.
    pub hit: bool,
    /// The object.
    pub object: Object,
}

/// The linked program of every class, in class order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    /// One program a class.
    pub classes: Vec<Linked>,
}

/// Why programs do not become images.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The generated program does not assemble: a fault of the compiler.
    #[error("the program of class {class} does not assemble")]
    Program {
        /// The class.
        class: String,
        /// The complaints.
        #[source]
        errors: AsmErrors,
    },
    /// A kernel that a program calls was not given.
    #[error("class {class} calls {kernel}, and there is no such kernel")]
    NoKernel {
        /// The class.
        class: String,
        /// The kernel.
        kernel: &'static str,
    },
    /// A class does not link.
    #[error("class {class} does not link")]
    Link {
        /// The class.
        class: String,
        /// The reason.
        #[source]
        error: LinkError,
    },
}

/// Assembles and links the program of every class.
///
/// # Errors
///
/// The first class that does not assemble or link.
pub fn images(programs: &Programs, kernels: &[KernelObject]) -> Result<Images, ImageError> {
    let classes = programs
        .classes
        .iter()
        .map(|class| link_class(programs, class, kernels));
    Ok(Images {
        classes: classes.collect::<Result<_, _>>()?,
    })
}

fn link_class(
    programs: &Programs,
    class: &Class,
    kernels: &[KernelObject],
) -> Result<Linked, ImageError> {
    let source = Source {
        name: "program".to_owned(),
        text: class.text.clone(),
        symbols: Vec::new(),
        mode: Mode::Supervisor,
    };
    let named = |errors| ImageError::Program {
        class: class.name.clone(),
        errors,
    };
    let program = asm::assemble(&source).map_err(named)?;
    let mut objects = vec![&program];
    for name in ["support"].iter().chain(&class.kernels) {
        let kernel = kernels.iter().find(|kernel| kernel.name == *name);
        let missing = || ImageError::NoKernel {
            class: class.name.clone(),
            kernel: name,
        };
        objects.push(&kernel.ok_or_else(missing)?.object);
    }
    let symbols: Vec<(&str, u32)> = programs
        .symbols
        .iter()
        .map(|(name, value)| (name.as_str(), value.0))
        .collect();
    let input = LinkInput {
        objects: &objects,
        entry: "entry",
        required: &[],
        regions: &programs.code,
        fixed: &[],
        symbols: &symbols,
    };
    image::link(&input).map_err(|error| ImageError::Link {
        class: class.name.clone(),
        error,
    })
}
