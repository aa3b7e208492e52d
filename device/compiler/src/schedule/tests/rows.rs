//! The words of rows, as the disassembler shows them.

use expect_test::expect;
use tilekiln_chip::exchange::MESSAGE_MAX;

use super::{check, check_rows};

#[test]
fn one_receiver_takes_one_direction_and_several_take_both() {
    check_rows(
        "0>1286@65000=70000 x3",
        expect![[r#"
        tile 0, 26 events
           0 40a00016  delay 22
           1 784ca001  send 2, 103424, 1
           2 43a00000  br $m10
        tile 1286, 61 events
           0 64000000  delayxpic 0, 0, 0
           1 64008640  delayxpic 2, 0, 1600
           2 6181c000  delaypic 48, 0, 114688
           3 40a00007  delay 7
           4 43a00000  br $m10
    "#]],
    );
    check_rows(
        "0>274,1286@65000=70000 x3",
        expect![[r#"
        tile 0, 26 events
           0 40a00016  delay 22
           1 784ca003  send 2, 103424, 3
           2 43a00000  br $m10
        tile 274, 61 events
           0 64000000  delayxpic 0, 0, 0
           1 64008640  delayxpic 2, 0, 1600
           2 6181c000  delaypic 48, 0, 114688
           3 40a00007  delay 7
           4 43a00000  br $m10
        tile 1286, 61 events
           0 64000000  delayxpic 0, 0, 0
           1 64008640  delayxpic 2, 0, 1600
           2 6181c000  delaypic 48, 0, 114688
           3 40a00007  delay 7
           4 43a00000  br $m10
    "#]],
    );
}

#[test]
fn messages_that_abut_are_cut_over_without_a_pause() {
    check_rows(
        "96>700=70000 x52  98>700=74000 x52  128>700=78000 x52",
        expect![[r#"
        tile 96, 101 events
           0 40a00030  delay 48
           1 7e6c0001  send 51, 98304, 1
           2 43a00000  br $m10
        tile 98, 151 events
           0 40a00062  delay 98
           1 7e6c0001  send 51, 98304, 1
           2 43a00000  br $m10
        tile 128, 173 events
           0 40a00078  delay 120
           1 7e6c0001  send 51, 98304, 1
           2 43a00000  br $m10
        tile 700, 248 events
           0 64000084  delayxpic 0, 0, 132
           1 640cc0c4  delayxpic 51, 0, 196
           2 6109c000  delaypic 33, 0, 114688
           3 64044484  delayxpic 17, 0, 1156
           4 6109d000  delaypic 33, 0, 118784
           5 64044640  delayxpic 17, 0, 1600
           6 6109e000  delaypic 33, 0, 122880
           7 40a00038  delay 56
           8 43a00000  br $m10
    "#]],
    );
}

#[test]
fn words_that_land_behind_each_other_need_no_pointer() {
    check_rows(
        "96>700 x60  98>700 x60",
        expect![[r#"
        tile 96, 109 events
           0 40a00030  delay 48
           1 7f6c0001  send 59, 98304, 1
           2 43a00000  br $m10
        tile 98, 167 events
           0 40a0006a  delay 106
           1 7f6c0001  send 59, 98304, 1
           2 43a00000  br $m10
        tile 700, 212 events
           0 64000084  delayxpic 0, 0, 132
           1 640ec0c4  delayxpic 59, 0, 196
           2 60ca8000  delaypic 25, 0, 163840
           3 64084640  delayxpic 33, 0, 1600
           4 40a0005a  delay 90
           5 43a00000  br $m10
    "#]],
    );
}

#[test]
fn words_beyond_the_sixty_fourth_are_a_continuation() {
    check_rows(
        "1286>1471 x65",
        expect![[r#"
        tile 1286, 79 events
           0 40a0000d  delay 13
           1 7fec0002  send 63, 98304, 2
           2 70000002  sendoff 0, 0, 2
           3 43a00000  br $m10
        tile 1471, 123 events
           0 64000035  delayxpic 0, 0, 53
           1 619a8000  delaypic 51, 0, 163840
           2 64030640  delayxpic 12, 0, 1600
           3 40a00038  delay 56
           4 43a00000  br $m10
    "#]],
    );
    check_rows(
        "32>0 x4148",
        expect![[r#"
        tile 0, 4209 events
           0 6400c400  delayxpic 3, 0, 1024
           1 619a8000  delaypic 51, 0, 163840
           2 67ffc640  delayxpic 4095, 0, 1600
           3 40a00038  delay 56
           4 43a00000  br $m10
        tile 32, 4148 events
           0 7fec0001  send 63, 98304, 1
           1 766fc001  sendoff 4083, 0, 1
           2 43a00000  br $m10
    "#]],
    );
}

#[test]
fn a_message_that_is_too_long_travels_in_equal_parts() {
    check(
        &format!("0>2 x{MESSAGE_MAX}"),
        expect![[r#"
        event 31  tile 0 > tile 2  x4148
        horizon 4208
    "#]],
    );
    check_rows(
        &format!("0>2 x{}", 2 * MESSAGE_MAX + 1),
        expect![[r#"
        tile 0, 8328 events
           0 40a0001e  delay 30
           1 7fec0001  send 63, 98304, 1
           2 71aa8001  sendoff 2701, 0, 1
           3 7fec5671  send 63, 101070, 1
           4 71aa8001  sendoff 2701, 0, 1
           5 7fecace1  send 63, 103836, 1
           6 718a8001  sendoff 2700, 0, 1
           7 43a00000  br $m10
        tile 2, 8357 events
           0 64000000  delayxpic 0, 0, 0
           1 61aa8000  delaypic 53, 0, 163840
           2 40a01032  delay 4146
           3 67ffc640  delayxpic 4095, 0, 1600
           4 40a0003a  delay 58
           5 43a00000  br $m10
    "#]],
    );
}

#[test]
fn adjacent_transfers_between_the_same_tiles_are_one_message() {
    check_rows(
        "0>2@65000=70000 x8  0>2@65020=70020 x8",
        expect![[r#"
        tile 0, 47 events
           0 40a0001e  delay 30
           1 79eca001  send 15, 103424, 1
           2 43a00000  br $m10
        tile 2, 76 events
           0 64000000  delayxpic 0, 0, 0
           1 6403c640  delayxpic 15, 0, 1600
           2 6129c000  delaypic 37, 0, 114688
           3 40a00014  delay 20
           4 43a00000  br $m10
    "#]],
    );
}

#[test]
fn equal_payloads_are_one_multicast() {
    check_rows(
        "0>2@65000=70000 x8  0>4@65000=70000 x8",
        expect![[r#"
        tile 0, 41 events
           0 40a00020  delay 32
           1 78eca003  send 7, 103424, 3
           2 43a00000  br $m10
        tile 2, 70 events
           0 64008000  delayxpic 2, 0, 0
           1 6401c640  delayxpic 7, 0, 1600
           2 6169c000  delaypic 45, 0, 114688
           3 40a0000c  delay 12
           4 43a00000  br $m10
        tile 4, 70 events
           0 64000000  delayxpic 0, 0, 0
           1 6401c640  delayxpic 7, 0, 1600
           2 6179c000  delaypic 47, 0, 114688
           3 40a0000c  delay 12
           4 43a00000  br $m10
    "#]],
    );
}

#[test]
fn a_sender_may_be_among_its_receivers() {
    check_rows(
        "0>0,2@60000=a0000 x100",
        expect![[r#"
        tile 0, 160 events
           0 64008000  delayxpic 2, 0, 0
           1 40a0001b  delay 27
           2 7acc0003  send 22, 98304, 3
           3 75fa8000  sendpic 47, 2, 163840
           4 73900640  sendpic 28, 0, 1600
           5 40a0001c  delay 28
           6 43a00000  br $m10
        tile 2, 160 events
           0 64000000  delayxpic 0, 0, 0
           1 61aa8000  delaypic 53, 0, 163840
           2 640b4640  delayxpic 45, 0, 1600
           3 40a0003a  delay 58
           4 43a00000  br $m10
    "#]],
    );
}

#[test]
fn controls_that_fall_inside_a_send_ride_on_it() {
    check_rows(
        "76>54@65000=70000 x512  24>76=70000 x150  38>76=72000 x150",
        expect![[r#"
            tile 24, 165 events
               0 40a0000e  delay 14
               1 7fec0001  send 63, 98304, 1
               2 72a04001  sendoff 85, 0, 1
               3 43a00000  br $m10
            tile 38, 301 events
               0 40a00096  delay 150
               1 7fec0001  send 63, 98304, 1
               2 72a04001  sendoff 85, 0, 1
               3 43a00000  br $m10
            tile 54, 606 events
               0 640001c1  delayxpic 0, 0, 449
               1 62b9c000  delaypic 87, 0, 114688
               2 6469c640  delayxpic 423, 0, 1600
               3 40a0005c  delay 92
               4 43a00000  br $m10
            tile 76, 563 events
               0 64000300  delayxpic 0, 0, 768
               1 40a00031  delay 49
               2 79cca002  send 14, 103424, 2
               3 77f9c000  sendpic 63, 2, 114688
               4 72600002  sendoff 19, 0, 2
               5 77f004c0  sendpic 63, 0, 1216
               6 70200002  sendoff 1, 0, 2
               7 77f9c800  sendpic 63, 2, 116736
               8 72600002  sendoff 19, 0, 2
               9 77f00640  sendpic 63, 0, 1600
              10 70c0c002  sendoff 198, 0, 2
              11 43a00000  br $m10
        "#]],
    );
}

#[test]
fn two_controls_in_one_event_share_an_instruction_at_an_even_word() {
    // On row 0 the pointer of a message of 52 words falls on the start of the next one.
    check_rows(
        "2>0=70000 x52  4>0=74000 x52  6>0=78000 x52",
        expect![[r#"
        tile 0, 214 events
           0 64000040  delayxpic 0, 0, 64
           1 40a00032  delay 50
           2 f0000000  sendpicp 0, 0, 0, 0 ; .long 0x0201c000
           4 40a00031  delay 49
           5 40a00000  delay 0
           6 f0000000  sendpicp 0, 0, 0, 0 ; .long 0x0301d000
           8 40a00031  delay 49
           9 40a00000  delay 0
          10 f7200000  sendpicp 57, 0, 0, 0 ; .long 0x1901e000
          12 43a00000  br $m10
        tile 2, 79 events
           0 40a0001a  delay 26
           1 7e6c0001  send 51, 98304, 1
           2 43a00000  br $m10
        tile 4, 129 events
           0 40a0004c  delay 76
           1 7e6c0001  send 51, 98304, 1
           2 43a00000  br $m10
        tile 6, 179 events
           0 40a0007e  delay 126
           1 7e6c0001  send 51, 98304, 1
           2 43a00000  br $m10
    "#]],
    );
    check_rows(
        "0>2@60000=70000 x400  2>0=70000 x52  4>0=74000 x52  6>0=78000 x52",
        expect![[r#"
            tile 0, 431 events
               0 64000040  delayxpic 0, 0, 64
               1 40a0001d  delay 29
               2 7a6c0001  send 19, 98304, 1
               3 70000001  sendoff 0, 0, 1
               4 f66c00a9  sendpicp 51, 98325, 1, 0 ; .long 0x0201c000
               6 f66c0249  sendpicp 51, 98377, 1, 0 ; .long 0x0301d000
               8 f7ec03e9  sendpicp 63, 98429, 1, 0 ; .long 0x1901e000
              10 7240c001  sendoff 210, 0, 1
              11 43a00000  br $m10
            tile 2, 460 events
               0 64000000  delayxpic 0, 0, 0
               1 40a00019  delay 25
               2 7b4c0001  send 26, 98304, 1
               3 7319c000  sendpic 24, 2, 114688
               4 64504640  delayxpic 321, 0, 1600
               5 40a0003a  delay 58
               6 43a00000  br $m10
            tile 4, 129 events
               0 40a0004c  delay 76
               1 7e6c0001  send 51, 98304, 1
               2 43a00000  br $m10
            tile 6, 179 events
               0 40a0007e  delay 126
               1 7e6c0001  send 51, 98304, 1
               2 43a00000  br $m10
        "#]],
    );
}
