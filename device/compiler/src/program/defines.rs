//! What the preprocessor is told: the chip's constants by the names that tile sources use.

use tilekiln_chip::assumed::CODES;
use tilekiln_chip::csr::field;
use tilekiln_chip::exchange::{MUX_NEUTRAL, zone};
use tilekiln_chip::{WORKERS, memory};

/// What the preprocessor is told besides: nothing of the host, and `$` begins a register.
/// [isa-encoding §7.6]
pub const PREPROCESSOR_FLAGS: [&str; 3] = ["-undef", "-nostdinc", "-fno-dollars-in-identifiers"];

/// Names and values for `-D`, in ascending order of names. They depend on the chip alone.
/// [isa-encoding §7.6]
pub fn defines() -> Vec<(String, String)> {
    let mut list: Vec<(String, String)> = CODES
        .iter()
        .map(|code| (code.name.to_owned(), code.value.to_string()))
        .collect();
    let mut number = |name: &str, value: u32| list.push((name.to_owned(), format!("{value:#x}")));
    number("CTXT_WORKERS", WORKERS as u32);
    number("MUX_NEUTRAL", MUX_NEUTRAL);
    number("TEXCH_SYNCZONE_LOCAL", zone::LOCAL);
    number("TEXCH_SYNCZONE_INTERNAL", zone::INTERNAL);
    number("TEXCH_SYNCZONE_GS2_HOST", zone::GS2_HOST);
    number("TMEM_REGION0_BASE_ADDR", memory::BASE.0);
    number("TMEM_ELEMSIZE", memory::ELEMENT_BYTES);
    number("TMEM_BYTE_MAX_ADDRESS_WIDTH", 21);
    number("TMEM_FULL_ADDRESS_MASK", (1 << 21) - 1);
    let fields = [
        ("CSR_W_WSR__CTXTID_M1", field::WSR_CTXTID_M1),
        ("CSR_W_FP_CLR__ZAACC", field::FP_CLR_ZAACC),
        ("CSR_W_REPEAT_COUNT__VALUE", field::REPEAT_COUNT_VALUE),
        ("CSR_S_FP_ICTL__INV", field::FP_CTL_INV),
        ("CSR_S_FP_ICTL__DIV0", field::FP_CTL_DIV0),
        ("CSR_S_FP_ICTL__OFLO", field::FP_CTL_OFLO),
        ("CSR_S_FP_ICTL__ESR", field::FP_CTL_ESR),
        ("CSR_S_FP_ICTL__NANOO", field::FP_CTL_NANOO),
    ];
    for (name, (shift, mask)) in fields {
        number(&format!("{name}__SHIFT"), shift);
        number(&format!("{name}__MASK"), mask);
    }
    list.sort();
    list
}
