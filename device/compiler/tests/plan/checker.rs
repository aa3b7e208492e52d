use tilekiln_chip::{ByteAddr, TileId};
use tilekiln_compiler::plan::{
    Allocation, CheckError, Class, Compute, Exchange, Kernel, Plan, Step, check, name,
};

use super::Graph;

/// A plan with everything in it: two blocks, three splits, two exchange phases.
fn good() -> Plan {
    let pins = "query_block_rows = 49\nkey_splits = 3\nkey_block_rows = 32";
    let graph = Graph {
        pins,
        ..Graph::new(12, [1, 97, 137, 2, 40])
    };
    let plan = graph.plan().expect("the graph fits");
    assert_eq!(check(&plan), Ok(()));
    plan
}

/// The complaint about the good plan after a change.
fn broken(change: impl FnOnce(&mut Plan)) -> CheckError {
    let mut plan = good();
    change(&mut plan);
    check(&plan).expect_err("the change breaks a rule")
}

fn array<'a>(plan: &'a mut Plan, name: &str) -> &'a mut Allocation {
    plan.layout
        .allocations
        .iter_mut()
        .find(|array| array.name == name)
        .expect("it has one")
}

fn exchange(plan: &mut Plan, index: usize) -> &mut Exchange {
    let exchanges = plan.steps.iter_mut().filter_map(|step| match step {
        Step::Exchange(exchange) => Some(exchange),
        _ => None,
    });
    exchanges.into_iter().nth(index).expect("it has two")
}

fn call(plan: &mut Plan, kernel: Kernel, index: usize) -> &mut Compute {
    let calls = plan.steps.iter_mut().filter_map(|step| match step {
        Step::Compute(compute) if compute.kernel == kernel => Some(compute),
        _ => None,
    });
    calls.into_iter().nth(index).expect("it has one")
}

fn tile(index: u16) -> TileId {
    TileId::new(index).expect("the test names tiles of the chip")
}

macro_rules! caught {
    ($change:expr, $error:pat) => {
        let error = broken($change);
        assert!(matches!(error, $error), "{error}");
    };
}

#[test]
fn more_tasks_than_tiles_are_caught() {
    caught!(
        |plan| plan.tiles = 11,
        CheckError::TooManyTasks {
            tasks: 12,
            tiles: 11
        }
    );
}

#[test]
fn two_tasks_on_a_tile_are_caught() {
    caught!(
        |plan| plan.tasks[1].tile = tile(0),
        CheckError::TileTwice(_)
    );
}

#[test]
fn rows_that_nobody_or_two_compute_are_caught() {
    caught!(
        |plan| plan.tasks[0].rows.end -= 1,
        CheckError::Coverage { .. }
    );
    caught!(
        |plan| plan.tasks[0].keys.end += 16,
        CheckError::Coverage { .. }
    );
    caught!(
        |plan| plan.tasks[0].keys.start = 8,
        CheckError::Range { .. }
    );
    caught!(
        |plan| plan.tasks[0].owned_rows.end += 1,
        CheckError::Coverage { .. }
    );
    caught!(
        |plan| plan.tasks[0].owned_keys.end = 0,
        CheckError::Coverage { .. }
    );
    caught!(|plan| plan.tasks[0].head = 1, CheckError::Coverage { .. });
    caught!(
        |plan| plan.tasks[0].owned_rows = 60..70,
        CheckError::Range { .. }
    );
}

#[test]
fn arrays_outside_memory_or_their_class_are_caught() {
    let end = |plan: &mut Plan| array(plan, name::SCORES).at = ByteAddr(0xE_7FE0);
    caught!(end, CheckError::OutsideMemory { .. });
    let code = |plan: &mut Plan| array(plan, name::INPUT).at = ByteAddr(0x4_D000);
    caught!(
        code,
        CheckError::WrongClass {
            class: Class::Standard,
            ..
        }
    );
    let window = |plan: &mut Plan| array(plan, name::INPUT).at = ByteAddr(0x5_2000);
    caught!(
        window,
        CheckError::WrongClass {
            class: Class::Standard,
            ..
        }
    );
    let low = |plan: &mut Plan| array(plan, name::KEYS_VALUES).at = ByteAddr(0x7_0000);
    caught!(
        low,
        CheckError::WrongClass {
            class: Class::Interleaved,
            ..
        }
    );
    let page = |plan: &mut Plan| array(plan, name::PAGE).at = ByteAddr(0x5_3800);
    caught!(
        page,
        CheckError::WrongClass {
            class: Class::Window,
            ..
        }
    );
    caught!(
        |plan| array(plan, name::OUTPUT).at.0 += 8,
        CheckError::Misaligned { .. }
    );
    let slots = |plan: &mut Plan| array(plan, name::SLOTS).at = ByteAddr(0xE_7000);
    caught!(slots, CheckError::BeyondLoader { .. });
}

#[test]
fn arrays_on_top_of_each_other_are_caught() {
    let both = |plan: &mut Plan| {
        let at = array(plan, name::OUTPUT).at;
        array(plan, name::INPUT).at = at;
    };
    caught!(both, CheckError::Overlap { .. });
}

#[test]
fn arrays_that_share_an_exclusion_unit_are_caught() {
    let close = |plan: &mut Plan| {
        let partials = array(plan, name::PARTIALS);
        let behind = ByteAddr(partials.at.0 + partials.bytes + partials.tail).align_up(32);
        array(plan, name::GATHERED).at = behind;
    };
    caught!(close, CheckError::Shared { .. });
}

#[test]
fn memory_for_the_linker_is_whole_executable_elements() {
    caught!(
        |plan| plan.layout.executable[1].end -= 4,
        CheckError::Executable { .. }
    );
    caught!(
        |plan| plan.layout.executable[1] = 0x5_0000..0x5_4000,
        CheckError::Executable { .. }
    );
    caught!(
        |plan| plan.layout.executable[1] = 0x8_0000..0x8_4000,
        CheckError::Executable { .. }
    );
    caught!(
        |plan| plan.layout.executable.reverse(),
        CheckError::Executable { .. }
    );
    let entry = |plan: &mut Plan| {
        plan.layout.executable.remove(0);
    };
    caught!(entry, CheckError::Executable { .. });
}

#[test]
fn messages_no_row_can_hold_are_caught() {
    caught!(
        |plan| exchange(plan, 0).transfers[0].words = 0,
        CheckError::MessageLength { .. }
    );
    caught!(
        |plan| exchange(plan, 0).transfers[0].words = 4150,
        CheckError::MessageLength { .. }
    );
}

#[test]
fn messages_to_nobody_or_twice_to_one_are_caught() {
    let nobody = |plan: &mut Plan| exchange(plan, 0).transfers[0].destinations.clear();
    caught!(nobody, CheckError::Receivers { .. });
    let twice = |plan: &mut Plan| {
        let to = &mut exchange(plan, 0).transfers[0].destinations;
        to.push(to[0]);
    };
    caught!(twice, CheckError::Receivers { .. });
}

#[test]
fn messages_outside_arrays_are_caught() {
    let code = |plan: &mut Plan| exchange(plan, 0).transfers[0].from = ByteAddr(0x4_C100);
    caught!(code, CheckError::Stray { .. });
    let bystander = |plan: &mut Plan| exchange(plan, 0).transfers[0].source = tile(700);
    caught!(bystander, CheckError::Stray { .. });
    let odd = |plan: &mut Plan| exchange(plan, 0).transfers[0].from.0 += 2;
    caught!(odd, CheckError::Stray { .. });
}

#[test]
fn what_is_received_twice_is_caught() {
    let twice = |plan: &mut Plan| {
        let exchange = exchange(plan, 0);
        let first = exchange.transfers[0].clone();
        exchange.transfers.push(first);
    };
    caught!(twice, CheckError::ReceivedTwice { .. });
}

#[test]
fn sending_from_where_words_arrive_is_caught() {
    let loops = |plan: &mut Plan| {
        let queries = array(plan, name::QUERIES).at;
        exchange(plan, 0).transfers[0].from = queries;
    };
    caught!(loops, CheckError::Shared { .. });
}

#[test]
fn pages_the_host_cannot_move_are_caught() {
    let twice = |plan: &mut Plan| {
        let pages = &mut plan.host.phases[0].pages;
        pages.push(pages[0].clone());
    };
    caught!(
        twice,
        CheckError::Page {
            what: "transfer",
            ..
        }
    );
    caught!(
        |plan| plan.host.phases[0].pages[0].bytes = 0,
        CheckError::Page { what: "size", .. }
    );
    caught!(
        |plan| plan.host.phases[0].pages[0].bytes -= 2,
        CheckError::Page { what: "size", .. }
    );
    let last = |plan: &mut Plan| plan.host.phases.len() - 1;
    let granule = |plan: &mut Plan| {
        let last = last(plan);
        plan.host.phases[last].pages[0].bytes -= 4;
    };
    caught!(granule, CheckError::Page { what: "size", .. });
    let crosses = |plan: &mut Plan| plan.host.phases[0].pages[0].buffer_offset += 2048;
    caught!(crosses, CheckError::Page { what: "offset", .. });
    let address = |plan: &mut Plan| plan.host.phases[0].pages[0].tile_address.0 += 4;
    caught!(
        address,
        CheckError::Page {
            what: "address",
            ..
        }
    );
    let outside = |plan: &mut Plan| {
        let at = array(plan, name::INPUT).at;
        plan.host.phases[0].pages[0].tile_address = at;
    };
    caught!(
        outside,
        CheckError::Page {
            what: "address",
            ..
        }
    );
}

#[test]
fn a_buffer_of_the_wrong_size_is_caught() {
    caught!(
        |plan| plan.host.buffer_bytes += 4096,
        CheckError::Buffer { .. }
    );
    caught!(
        |plan| plan.host.buffer_bytes += 4,
        CheckError::Buffer { .. }
    );
    let shared = |plan: &mut Plan| {
        let offset = plan.host.phases[0].pages[0].buffer_offset;
        plan.host.phases[0].pages[1].buffer_offset = offset;
    };
    caught!(shared, CheckError::Overlap { .. });
}

#[test]
fn rows_bound_wrongly_are_caught() {
    let missing = |plan: &mut Plan| {
        plan.host.bindings.remove(0);
    };
    caught!(
        missing,
        CheckError::Bound {
            times: 0,
            wanted: 1,
            ..
        }
    );
    let twice = |plan: &mut Plan| {
        let first = plan.host.bindings[0].clone();
        plan.host.bindings.push(first);
    };
    caught!(
        twice,
        CheckError::Bound {
            times: 2,
            wanted: 1,
            ..
        }
    );
    let wide = |plan: &mut Plan| plan.host.bindings[0].row_elements += 1;
    caught!(wide, CheckError::Bound { .. });
    let away = |plan: &mut Plan| plan.host.bindings[0].buffer_offset = 0x100_0000;
    caught!(away, CheckError::Unmoved { .. });
    let swapped = |plan: &mut Plan| {
        let (one, two) = (
            plan.host.bindings[4].first_element,
            plan.host.bindings[8].first_element,
        );
        plan.host.bindings[4].first_element = two;
        plan.host.bindings[8].first_element = one;
    };
    caught!(swapped, CheckError::Argument { .. });
}

#[test]
fn steps_out_of_order_are_caught() {
    for index in 0..good().steps.len() {
        let dropped = |plan: &mut Plan| {
            plan.steps.remove(index);
        };
        let error = broken(dropped);
        // Without an exchange, or without one of several copies, the order is still one that
        // some plan has; then words are missing.
        let told = matches!(
            error,
            CheckError::Order { .. } | CheckError::Arrivals { .. } | CheckError::Argument { .. }
        );
        assert!(told, "step {index}: {error}");
    }
}

#[test]
fn argument_lists_of_the_wrong_length_are_caught() {
    let list = |plan: &mut Plan| {
        call(plan, Kernel::Mask, 0).arguments.pop();
    };
    caught!(list, CheckError::ArgumentCount { what: "lists", .. });
    let word = |plan: &mut Plan| call(plan, Kernel::Mask, 0).arguments[3].push(0);
    caught!(
        word,
        CheckError::ArgumentCount {
            what: "arguments",
            ..
        }
    );
}

/// Every argument word of every call of a plan with everything in it.
#[test]
fn every_wrong_argument_is_caught() {
    let plan = good();
    for (index, step) in plan.steps.iter().enumerate() {
        let Step::Compute(compute) = step else {
            continue;
        };
        for task in [0, 5, 11] {
            for word in 0..compute.arguments[task].len() {
                let mut wrong = plan.clone();
                let Step::Compute(compute) = &mut wrong.steps[index] else {
                    continue;
                };
                // A tile that samples where nobody reads, or copies nothing, does no harm.
                let samples = compute.kernel == Kernel::Sample && task > 0;
                let nothing = compute.kernel == Kernel::Copy && compute.arguments[task][2] == 0;
                if samples || (nothing && word < 2) {
                    continue;
                }
                compute.arguments[task][word] += 32;
                let name = compute.name.clone();
                assert!(
                    check(&wrong).is_err(),
                    "word {word} of {name} on task {task}"
                );
            }
        }
    }
}

/// Every word of every transfer: a message from or to another place, shorter, or lost.
#[test]
fn every_wrong_transfer_is_caught() {
    let plan = good();
    for phase in 0..2 {
        for index in 0..exchange(&mut plan.clone(), phase).transfers.len() {
            let changes: [fn(&mut Exchange, usize); 5] = [
                |exchange, index| exchange.transfers[index].from.0 += 8,
                |exchange, index| exchange.transfers[index].words -= 2,
                |exchange, index| exchange.transfers[index].destinations[0].1.0 += 80,
                |exchange, index| {
                    exchange.transfers[index].destinations.pop();
                },
                |exchange, index| {
                    exchange.transfers.remove(index);
                },
            ];
            for (number, change) in changes.into_iter().enumerate() {
                let mut wrong = plan.clone();
                change(exchange(&mut wrong, phase), index);
                assert!(
                    check(&wrong).is_err(),
                    "phase {phase}, transfer {index}, change {number}"
                );
            }
        }
    }
}

#[test]
fn cycle_samples_read_from_the_wrong_place_are_caught() {
    caught!(|plan| plan.host.cycles[0] += 4, CheckError::Argument { .. });
    caught!(
        |plan| plan.host.cycles.reverse(),
        CheckError::Argument { .. }
    );
}
