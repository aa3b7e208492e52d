//! The canonical text of a plan: what its digest in the manifest is taken over.

use std::fmt::{self, Write};
use std::ops::Range;

use super::{Host, HostDirection, Plan, Rounding, Step, Task, Transfer};

/// The plan as text, one fact a line, everything that decides what is baked.
///
/// The candidates are left out: what else was weighed does not change the bundle.
pub fn text(plan: &Plan) -> String {
    let mut text = String::new();
    // A String takes whatever is written to it.
    let written = write(&mut text, plan);
    debug_assert!(written.is_ok());
    text
}

fn write(out: &mut String, plan: &Plan) -> fmt::Result {
    let a = &plan.attention;
    writeln!(out, "plan {} tiles {}", plan.name, plan.tiles)?;
    let rounding = match a.rounding {
        Rounding::Nearest => "nearest",
        Rounding::Stochastic => "stochastic",
    };
    writeln!(
        out,
        "attention {} of {} scale {:e} {rounding}",
        a.name,
        a.operands.join(" "),
        a.scale
    )?;
    writeln!(
        out,
        "shape {} {} {} {} {} padded {}",
        a.batch, a.query_length, a.key_length, a.heads, a.head_dimension, a.padded_head_dimension
    )?;
    writeln!(
        out,
        "blocks {} of {} splits {} key blocks of {}",
        a.query_blocks, a.query_block_rows, a.key_splits, a.key_block_rows
    )?;
    layout(out, plan)?;
    for task in &plan.tasks {
        self::task(out, task)?;
    }
    for step in &plan.steps {
        self::step(out, step)?;
    }
    host(out, &plan.host)
}

fn layout(out: &mut String, plan: &Plan) -> fmt::Result {
    for code in &plan.layout.executable {
        writeln!(out, "code {:#x} {:#x}", code.start, code.end)?;
    }
    for array in &plan.layout.allocations {
        let (name, class, at) = (&array.name, array.class, array.at);
        writeln!(
            out,
            "array {at} {} +{} /{} {class} {name}",
            array.bytes, array.tail, array.align
        )?;
    }
    for pair in &plan.layout.distinct {
        writeln!(out, "apart {} {}", pair.first, pair.second)?;
    }
    Ok(())
}

fn task(out: &mut String, task: &Task) -> fmt::Result {
    let range = |range: &Range<u32>| format!("{}..{}", range.start, range.end);
    let tile = task.tile.index();
    write!(
        out,
        "task {tile} {} {} {} rows {}",
        task.head,
        task.query_block,
        task.key_split,
        range(&task.rows)
    )?;
    let (owned_rows, owned_keys) = (range(&task.owned_rows), range(&task.owned_keys));
    writeln!(
        out,
        " keys {} owned {owned_rows} {owned_keys}",
        range(&task.keys)
    )
}

fn step(out: &mut String, step: &Step) -> fmt::Result {
    match step {
        Step::Host(phase) => writeln!(out, "host {phase}"),
        Step::Compute(compute) => {
            writeln!(out, "compute {} {}", compute.kernel.symbol(), compute.name)?;
            for words in &compute.arguments {
                for word in words {
                    write!(out, " {word:x}")?;
                }
                out.push('\n');
            }
            Ok(())
        }
        Step::Exchange(exchange) => {
            writeln!(out, "exchange {}", exchange.name)?;
            exchange
                .transfers
                .iter()
                .try_for_each(|transfer| self::transfer(out, transfer))
        }
    }
}

fn transfer(out: &mut String, transfer: &Transfer) -> fmt::Result {
    let (tile, from) = (transfer.source.index(), transfer.from);
    write!(
        out,
        " {tile} {from} {} {:?}",
        transfer.words, transfer.width
    )?;
    for (tile, at) in &transfer.destinations {
        write!(out, " {} {at}", tile.index())?;
    }
    out.push('\n');
    Ok(())
}

fn host(out: &mut String, host: &Host) -> fmt::Result {
    for phase in &host.phases {
        let direction = match phase.direction {
            HostDirection::ToTiles => "in",
            HostDirection::ToHost => "out",
        };
        writeln!(out, "pages {direction}")?;
        for page in &phase.pages {
            let (tile, at) = (page.tile.index(), page.tile_address);
            writeln!(out, " {tile} {at} {} {}", page.buffer_offset, page.bytes)?;
        }
    }
    for b in &host.bindings {
        let (at, stride, first, element) = (
            b.buffer_offset,
            b.buffer_stride,
            b.first_element,
            b.element_stride,
        );
        writeln!(
            out,
            "bind {} {at} {stride} {first} {element} {} {}",
            b.tensor, b.row_elements, b.rows
        )?;
    }
    let [first, last] = host.cycles;
    writeln!(out, "buffer {} cycles {first} {last}", host.buffer_bytes)
}
