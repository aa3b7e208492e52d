//! What holds for every phase, and how close to its bound a real load comes.

use arbtest::arbitrary::{Result as Draw, Unstructured};
use expect_test::expect;
use tilekiln_chip::{ByteAddr, TileId};

use super::problems;
use super::text::{exchange, listing};
use crate::plan::{Exchange, Transfer, Width};
use crate::schedule::{check, schedule_phase};

#[test]
fn reference_problems_end_no_later_than_their_reference() {
    let mut report = String::new();
    for (name, reference, bound, text) in problems::REFERENCE {
        let exchange = exchange(text);
        let phase = schedule_phase(&exchange).expect("the reference has a schedule");
        let facts = check::phase(&exchange, &phase, None).expect("the schedule is valid");
        assert!(
            facts.horizon.0 <= *reference,
            "{name}: {} > {reference}",
            facts.horizon
        );
        report += &format!(
            "{name:15} {:4} of {bound:4}..{reference}\n",
            facts.horizon.0
        );
    }
    expect![[r#"
        p2p-short         61 of   56..173
        p2p-52           167 of  162..230
        p2p-65           123 of  118..235
        mcast-2           61 of   56..61
        swap-64          191 of  185..234
        gather-contig    300 of  295..558
        scatter-6        291 of  255..1045
        relay            264 of  137..463
        all4x32          184 of  169..353
        oneword-chain     97 of   92..445
        duplex-long      606 of  601..718
    "#]]
    .assert_eq(&report);
}

#[test]
fn a_layer_of_attention_runs_within_a_tenth_of_its_bound() {
    let mut report = String::new();
    for exchange in [
        problems::gather(7, 3),
        problems::gather(3, 7),
        problems::merge(7, 3),
    ] {
        let phase = schedule_phase(&exchange).expect("the load has a schedule");
        let facts = check::phase(&exchange, &phase, None).expect("the schedule is valid");
        assert!(
            facts.horizon.0 * 10 <= facts.bound.0 * 11,
            "{}",
            exchange.name
        );
        assert_eq!(facts.loose_stamps, 0);
        let (horizon, bound, longest) = (facts.horizon.0, facts.bound.0, facts.longest_row);
        report += &format!(
            "{:12} {horizon} of {bound}, rows up to {longest} words\n",
            exchange.name
        );
    }
    expect![[r#"
        gather 7x3   20160 of 20142, rows up to 27 words
        gather 3x7   29918 of 29902, rows up to 27 words
        merge 7x3    8931 of 8922, rows up to 53 words
    "#]]
    .assert_eq(&report);
}

#[test]
fn the_same_phase_has_the_same_rows() {
    let exchange = problems::merge(5, 2);
    assert_eq!(schedule_phase(&exchange), schedule_phase(&exchange));
}

/// A phase on few tiles with little memory, so that everything gets in each other's way.
fn tangled(draw: &mut Unstructured<'_>) -> Draw<Exchange> {
    let tiles = [0, 1, 2, 46, 47, 90, 136, 735, 736, 780];
    let tiles = &tiles[..draw.int_in_range(3..=tiles.len())?];
    let crowd = draw.int_in_range(1..=4)?;
    let mut transfers = Vec::new();
    for _ in 0..draw.int_in_range(1..=24)? {
        let address = |draw: &mut Unstructured<'_>| {
            let element = draw.int_in_range(0..=crowd)?;
            let word = draw.int_in_range(0..=30)? * 16;
            Draw::Ok(ByteAddr(0x6_0000 + element * 0x4000 + word * 4))
        };
        let mut rest = tiles.to_vec();
        let mut pick = |draw: &mut Unstructured<'_>| {
            let at = draw.choose_index(rest.len())?;
            Draw::Ok(TileId::new(rest.remove(at)).expect("the test names tiles"))
        };
        let source = pick(draw)?;
        let from = address(draw)?;
        let mut destinations = Vec::new();
        for _ in 0..draw.int_in_range(1..=tiles.len() - 1)? {
            destinations.push((pick(draw)?, address(draw)?));
        }
        if draw.ratio(1, 4)? {
            destinations.push((source, ByteAddr(0xA_0000 + address(draw)?.0)));
            destinations.last_mut().expect("just pushed").1 = ByteAddr(0xA_0000);
        }
        let lengths = [1, 2, 3, 16, 51, 52, 53, 54, 64, 65, 130, 300];
        let words = *draw.choose(&lengths)?;
        transfers.push(Transfer {
            source,
            from,
            words,
            width: Width::Single,
            destinations,
        });
    }
    Ok(Exchange {
        name: "tangled".into(),
        transfers,
    })
}

#[test]
fn every_schedule_passes_its_check() {
    arbtest::arbtest(|draw| {
        let exchange = tangled(draw)?;
        let phase = schedule_phase(&exchange).expect("every such phase has a schedule");
        match check::phase(&exchange, &phase, None) {
            Ok(facts) => assert_eq!(facts.loose_stamps, 0),
            Err(error) => panic!("{error}\n{exchange:?}\n{}", listing(&exchange, &phase)),
        }
        Ok(())
    });
}
