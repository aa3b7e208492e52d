//! When instructions issue, what a tile yields for, and what its rows log.

use expect_test::{Expect, expect};
use tilekiln_chip::PhysTile;
use tilekiln_chip::csr::number;
use tilekiln_isa::{Mode, parse};
use tilekiln_sim::settings::Settings;
use tilekiln_sim::stop::Context;
use tilekiln_sim::tile::{RowLog, State, Tile, Yield};

const CODE: u32 = 0x5_0000;

/// A tile with a supervisor's and a worker's program, the second at 0x5_8000.
fn tile(supervisor: &str, worker: &str) -> Tile {
    let mut tile = Tile::new(PhysTile::new(100).unwrap(), &Settings::default());
    for (text, mode, at) in [
        (supervisor, Mode::Supervisor, CODE),
        (worker, Mode::Worker, 0x5_8000),
    ] {
        let words = parse::words(text, mode).unwrap_or_else(|error| panic!("{text}: {error}"));
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        tile.memory.write(at, &bytes).unwrap();
    }
    tile.launch_supervisor(CODE);
    tile
}

/// Runs a supervisor's program up to its `trap` and says at which cycle that issued.
#[track_caller]
fn cycles(supervisor: &str, worker: &str) -> u64 {
    let mut tile = tile(&format!("{supervisor}; trap 0"), worker);
    assert_eq!(tile.run(1_000_000), Yield::Stopped);
    let stop = tile.stop().unwrap();
    assert!(stop.to_string().contains("PBRK0"), "{stop}");
    stop.cycle
}

#[test]
fn independent_supervisor_instructions_take_one_cycle() {
    assert_eq!(cycles("setzi $m0, 1; setzi $m1, 2; setzi $m2, 3", ""), 3);
}

#[test]
fn a_dependent_chain_takes_six_cycles_a_link() {
    let chain =
        "ld32 $m0, $m15, $m15, $m1; shl $m0, $m0, 1; shr $m0, $m0, 1; st32 $m0, $m2, $m15, 0";
    let set = "setzi $m1, 0x18000; setzi $m2, 0x60000; delay 9";
    assert_eq!(cycles(&format!("{set}; {chain}"), "") - cycles(set, ""), 19);
}

#[test]
fn a_counted_loop_takes_six_cycles_for_all_but_the_last_iteration() {
    // The counter is ready when the loop begins.
    let set = "setzi $m0, 9; delay 9";
    assert_eq!(
        cycles(&format!("{set}; brnzdec $m0, 0x14002"), "") - cycles(set, ""),
        6 * 9 + 1
    );
}

#[test]
fn puts_drain_and_exchange_puts_take_thirteen() {
    assert_eq!(cycles("put $CCCSLOAD, $m15", ""), 6);
    assert_eq!(
        cycles(
            "setzi $m8, 8; put $INCOMING_BASE, $m8; put $OUTGOING_BASE, $m8",
            ""
        ),
        27
    );
}

#[test]
fn workers_issue_every_sixth_cycle_and_the_supervisor_six_after_the_last_exit() {
    let call = "setzi $m0, 0x58000; setzi $m1, 0x60000; delay 9; runall $m0, $m1, 0; sync 2";
    // `runall` at 12, so worker 1 comes first, at 13, and worker 0 last, at 18. With two slots each
    // the last exit is at 24, and no slot is free for `sync` before.
    assert_eq!(cycles(call, "nop; exitz $m15"), 25 + 6);
    // Worker 0 goes on to 48. `sync` gets the slot that worker 1 leaves.
    let uneven = "get $m0, $WSR; brz $m0, 0x16003; exitz $m15; nop; nop; nop; exitz $m15";
    assert_eq!(cycles(call, uneven), 48 + 6);
}

#[test]
fn the_supervisor_uses_the_slots_of_inactive_workers() {
    // One worker of six slots; the supervisor needs five of each six cycles.
    let run = "setzi $m0, 0x58000; setzi $m1, 0; delay 9; run $m0, $m1, 0";
    let beside =
        "setzi $m2, 1; setzi $m3, 1; setzi $m4, 1; setzi $m5, 1; setzi $m6, 1; setzi $m7, 1";
    let mut tile = tile(
        &format!("{run}; {beside}; trap 0"),
        "nop; nop; nop; exitz $m15",
    );
    assert_eq!(tile.run(1_000_000), Yield::Stopped);
    // `run` at 12; the six follow from 18, where worker 0 issues: 19 to 23, and 25.
    assert_eq!(tile.stop().unwrap().cycle, 26);
}

#[test]
fn workers_keep_their_registers_from_launch_to_launch() {
    let launch = "runall $m0, $m1, 0; sync 2";
    let call = format!("setzi $m0, 0x58000; setzi $m1, 0x60000; {launch}; {launch}; trap 0");
    let mut tile = tile(&call, "add $m3, $m3, 1; exitz $m15");
    for worker in 0..6 {
        tile.set_m(Context::Worker(worker), 3, u32::from(worker));
    }
    tile.run(1_000_000);
    let counts: Vec<u32> = (0..6)
        .map(|worker| tile.m(Context::Worker(worker), 3))
        .collect();
    assert_eq!(counts, [2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_worker_that_stops_surfaces_at_the_supervisors_wait() {
    let call =
        "setzi $m0, 0x58000; setzi $m1, 0x60001; add $m1, $m1, -1; runall $m0, $m1, 0; sync 2";
    let mut tile = tile(
        call,
        "get $m0, $WSR; brz $m0, 0x16003; exitz $m15; ld32 $m1, $m13, $m0, 2; st32 $m1, $m15, $m15, 9; exitz $m15",
    );
    assert_eq!(tile.run(1_000_000), Yield::Stopped);
    assert_eq!(tile.state(Context::Supervisor), State::Active);
    // The supervisor waits, worker 0 is excepted, the others are done.
    assert_eq!(tile.context_status(), 3 << 2);
    expect![[r#"
        physical tile 100, worker 0, pc 0x58010, cycle 36, `st32 $m1, $m15, $m15, 9`: exception INVALID_ADDR: 4 bytes at 0x24 are not all in tile memory, 0x4c000..0xe8000"#]]
    .assert_eq(&tile.stop().unwrap().to_string());
}

#[test]
fn code_that_is_overwritten_runs_as_written() {
    // The loop's first instruction becomes `setzi $m5, 7` after its first pass.
    let text = "setzi $m0, 1; setzi $m2, 0x50010; delay 9; setzi $m1, 0x19500;
        setzi $m5, 3; or $m6, $m6, $m5; shl $m4, $m1, 12; or $m4, $m4, 7; st32 $m4, $m2, $m15, 0;
        brnzdec $m0, 0x14004; trap 0";
    let mut tile = tile(&text.replace('\n', ""), "");
    tile.set_m(Context::Supervisor, 6, 0);
    assert_eq!(tile.run(1_000_000), Yield::Stopped);
    assert_eq!(tile.m(Context::Supervisor, 5), 7);
}

#[test]
fn barriers_yield_and_reload_the_pointer_when_released() {
    let text = "setzi $m0, 64; put $INCOMING_SINIT, $m0; sync 3; sans 1; sync 1; sync 0; trap 0";
    let mut tile = tile(text, "");
    assert_eq!(tile.run(1_000_000), Yield::Sync { zone: 3 });
    assert_eq!((tile.cycle(), tile.context_status()), (14, 0));
    assert_eq!(tile.run(1_000_000), Yield::Sync { zone: 3 });
    tile.release(214);
    assert_eq!(
        (tile.csr(number::INCOMING_DELTA), tile.context_status()),
        (64, 1)
    );
    assert_eq!(tile.run(1_000_000), Yield::NonParticipation);
    assert_eq!((tile.csr(number::ANS_DCOUNT), tile.armed_at()), (2, 214));
    assert_eq!(tile.csr(number::SSR) & 4, 4);
    tile.set_csr(number::ANS_DCOUNT, 0);
    tile.set_csr(number::INCOMING_DCOUNT, 3);
    tile.release(300);
    assert_eq!(tile.run(1_000_000), Yield::Receive);
    tile.release(400);
    assert_eq!(tile.run(1_000_000), Yield::Stopped);
    assert_eq!(tile.stop().unwrap().cycle, 400);
}

/// Runs a row between an internal barrier and its return, and compares its log.
#[track_caller]
fn row(text: &str, want: Expect) {
    let text = format!("setzi $m10, 0x50010; sync 3; bri 0x14100; nop; trap 0; {text}");
    let (head, tail) = text.split_once("; trap 0; ").unwrap();
    let mut tile = tile(&format!("{head}; trap 0"), "");
    let words = parse::words(tail, Mode::Supervisor).unwrap_or_else(|error| panic!("{error}"));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    tile.memory.write(0x5_0400, &bytes).unwrap();
    assert_eq!(tile.run(1_000), Yield::Sync { zone: 3 });
    tile.release(1_000);
    let answer = tile.run(10_000);
    let told = match answer {
        Yield::RowEnd => told(&tile.take_row()),
        other => format!(
            "{other:?}: {}\n",
            tile.stop().map(ToString::to_string).unwrap_or_default()
        ),
    };
    want.assert_eq(&told);
    if answer == Yield::RowEnd {
        assert_eq!(tile.run(1_000_000), Yield::Stopped);
        assert_eq!(tile.stop().unwrap().pc, CODE + 16);
    }
}

fn told(row: &RowLog) -> String {
    let RowLog {
        release,
        start,
        sends,
        controls,
        end,
        code,
        incoming_base,
    } = row;
    let mut text = format!(
        "release {release} start {start} end {end} code {code:x?} base {incoming_base:#x}\n"
    );
    for sent in sends {
        text += &format!(
            "{:>5} {} items from {:#x}, ctl {}\n",
            sent.event, sent.items, sent.address, sent.control
        );
    }
    for control in controls {
        text += &format!(
            "{:>5} {:#x} := {:#x}\n",
            control.stamp, control.register, control.value
        );
    }
    text
}

#[test]
fn a_receiving_row_logs_its_controls_at_the_end_of_their_delays() {
    let text =
        "delayxpic 112, 0, 32; delaypic 48, 0, 0x14000; delayxpic 2, 0, 0x640; delay 56; br $m10";
    row(
        text,
        expect![[r#"
        release 1000 start 1006 end 222 code 50400..50414 base 0x0
          113 0xa0 := 0x20
          162 0xa2 := 0x50000
          165 0xa0 := 0x640
    "#]],
    );
}

#[test]
fn a_sending_row_continues_its_stream_from_the_cursor() {
    let text = "delay 9; send 63, 0x18000, 1; sendpic 3, 0, 5; sendoff 99, 0, 1; br $m10";
    row(
        text,
        expect![[r#"
        release 1000 start 1006 end 178 code 50400..50414 base 0x0
           10 64 items from 0x60000, ctl 1
           74 4 items from 0x60100, ctl 1
           78 100 items from 0x60110, ctl 1
           75 0xa0 := 0x5
    "#]],
    );
}

#[test]
fn sendpicp_sets_two_controls_and_sends_from_its_own_address() {
    let text = "sendpicp 42, 0x14021, 0, 0; .long 0x19015000; sendpicp 9, 0xd000, 5, 1; .long 0x80140001; br $m10";
    row(
        text,
        expect![[r#"
        release 1000 start 1006 end 53 code 50400..50414 base 0x0
           43 10 items from 0x68000, ctl 5
            1 0xa0 := 0x640
            1 0xa2 := 0x54000
           44 0xa1 := 0x5
           44 0xa3 := 0x1
    "#]],
    );
}

#[test]
fn base_registers_may_move_inside_a_row_at_a_price() {
    let text = "send 3, 0x18000, 1; setzi $m0, 256; put $INCOMING_BASE, $m0; put $OUTGOING_BASE, $m0; send 3, 0x18000, 2; br $m10";
    row(
        text,
        expect![[r#"
        release 1000 start 1006 end 35 code 50400..50418 base 0x0
            0 4 items from 0x60000, ctl 1
           31 4 items from 0x60100, ctl 2
    "#]],
    );
}

#[test]
fn a_send_from_the_rows_own_element_conflicts() {
    row(
        "send 3, 0x14200, 1; br $m10",
        expect![[r#"
        Stopped: physical tile 100, supervisor, pc 0x50400, cycle 1006, `send 3, 82432, 1`: exception CONFLICT: the send reads 0x50800, in the exclusion unit of its own row at 0x50400
    "#]],
    );
}

#[test]
fn words_for_the_host_leave_at_once() {
    let text = "setzi $m0, 0x604; put $INCOMING_MUX, $m0; delay 9; send 1, 0x18002, 3; sendoff 1, 0, 3; trap 0";
    let mut tile = tile(text, "");
    tile.memory
        .write(0x6_0008, &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0])
        .unwrap();
    assert_eq!(tile.run(1_000_000), Yield::Stopped);
    let sends = tile.take_host_words();
    let told: Vec<_> = sends
        .iter()
        .map(|send| (send.cycle, send.mux, send.words.clone()))
        .collect();
    assert_eq!(told, [(24, 0x604, vec![1, 2]), (26, 0x604, vec![3, 4])]);
    assert_eq!(tile.csr(number::OUTGOING_DELTA), 0x6_0018);
}

#[test]
fn a_row_without_a_barrier_is_not_invented() {
    let mut tile = tile("send 1, 0x18002, 3; trap 0", "");
    assert_eq!(tile.run(1_000_000), Yield::Stopped);
    let stop = tile.stop().unwrap().to_string();
    assert!(
        stop.contains("undefined: a send outside an exchange phase"),
        "{stop}"
    );
}

#[test]
fn a_strict_tile_enters_no_barrier_while_a_worker_runs() {
    let call = "setzi $m0, 0x58000; setzi $m1, 0; run $m0, $m1, 0; sync 3";
    let mut strict = tile(call, "bri 0x16000");
    assert_eq!(strict.run(1_000_000), Yield::Stopped);
    assert!(strict.stop().unwrap().to_string().contains("undefined"));
}

#[test]
fn the_limit_of_cycles_is_kept() {
    let mut tile = tile("bri 0x14000", "");
    assert_eq!(tile.run(1_000), Yield::Quota);
    assert_eq!((tile.cycle(), tile.instructions()), (1_000, 167));
    tile.advance_to(1_200);
    assert_eq!(tile.run(1_206), Yield::Quota);
    assert_eq!(tile.instructions(), 168);
}

#[test]
fn equal_tiles_run_equally_whatever_the_quota() {
    let call = "setzi $m0, 0x58000; setzi $m1, 0x60000; runall $m0, $m1, 0; sync 2; trap 0";
    let worker =
        "get $m0, $WSR; add $m0, $m0, 9; add $m1, $m1, $m0; brnzdec $m0, 0x16002; exitz $m15";
    let mut once = tile(call, worker);
    let mut pieces = once.clone();
    assert_eq!(once.run(u64::MAX), Yield::Stopped);
    let mut until = 0;
    while pieces.run(until) == Yield::Quota {
        until += 7;
    }
    assert_eq!(once.stop(), pieces.stop());
    assert_eq!(once.instructions(), pieces.instructions());
    for worker in 0..6 {
        let context = Context::Worker(worker);
        assert_eq!(once.m(context, 1), pieces.m(context, 1));
    }
}
