//! Codes and records of the kernel module's ioctls: `uapi.h` as Rust.
//!
//! Generated from `uapi.h` with `cargo xtask bindings` and checked in.
#![allow(non_camel_case_types, reason = "the names are those of the C header")]
#![allow(
    clippy::identity_op,
    clippy::unnecessary_operation,
    reason = "layouts are proved so"
)]

/// The verbs. [host-driver §3 HW]
pub type ipu_verb = ::core::ffi::c_uint;
/// Takes the card for this process; the argument is 0.
pub const IPU_ATTACH: ipu_verb = 0xc008_ed0a;
/// Pins a buffer; the argument points to an ipu_buffer.
pub const IPU_BUFFER_ATTACH: ipu_verb = 0xc008_ed0b;
/// Releases a buffer; the argument is its index.
pub const IPU_BUFFER_DETACH: ipu_verb = 0xc008_ed0c;
/// Sets the number that comes with signals; the argument is 0.
pub const IPU_SET_ID: ipu_verb = 0xc008_ed0e;
/// Releases all buffers; the argument is 0.
pub const IPU_BUFFER_DETACH_ALL: ipu_verb = 0x0000_ed12;
/// Asks the board controller; the argument points to an ipu_mailbox.
pub const IPU_MAILBOX_WRITE_READ: ipu_verb = 0xc008_ed1f;
/// Stops the module's own polling; the argument is 0.
pub const IPU_STOP_MONITORING: ipu_verb = 0x0000_ed22;
/// Starts it again; the argument is 0.
pub const IPU_START_MONITORING: ipu_verb = 0x0000_ed23;
/// Folds error counters into the session's; the argument is 0.
pub const IPU_ACCUMULATE_ERRORS: ipu_verb = 0x0000_ed24;
/// Tells the module that the card was reset; the argument is 0.
pub const IPU_RESET_DEVICE: ipu_verb = 0x4004_ed2d;
/// The second number; the argument points to eight zero bytes.
pub const IPU_SET_SECONDARY_ID: ipu_verb = 0x4008_ed2f;

/// A buffer to pin. [host-driver §3 HW]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ipu_buffer {
    /// Its number; tiles see buffers in this order.
    pub index: u32,
    /// Bytes, more than 0.
    pub size: u32,
    /// Where it lies in this process, on a page boundary.
    pub address: u64,
}
const _: () = {
    ["Size of ipu_buffer"][::core::mem::size_of::<ipu_buffer>() - 16usize];
    ["Alignment of ipu_buffer"][::core::mem::align_of::<ipu_buffer>() - 8usize];
    ["Offset of field: ipu_buffer::index"][::core::mem::offset_of!(ipu_buffer, index) - 0usize];
    ["Offset of field: ipu_buffer::size"][::core::mem::offset_of!(ipu_buffer, size) - 4usize];
    ["Offset of field: ipu_buffer::address"][::core::mem::offset_of!(ipu_buffer, address) - 8usize];
};

/// A question to the board controller. [host-driver §3 HW]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ipu_mailbox {
    /// Address of the ipu_message to send.
    pub request: u64,
    /// Address of the ipu_message to fill.
    pub reply: u64,
}
const _: () = {
    ["Size of ipu_mailbox"][::core::mem::size_of::<ipu_mailbox>() - 16usize];
    ["Alignment of ipu_mailbox"][::core::mem::align_of::<ipu_mailbox>() - 8usize];
    ["Offset of field: ipu_mailbox::request"]
        [::core::mem::offset_of!(ipu_mailbox, request) - 0usize];
    ["Offset of field: ipu_mailbox::reply"][::core::mem::offset_of!(ipu_mailbox, reply) - 8usize];
};

/// What goes to and comes from the board controller. [host-driver §3 HW]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ipu_message {
    /// The command, or its echo.
    pub command: u32,
    /// What comes with it.
    pub data: [u32; 4usize],
}
const _: () = {
    ["Size of ipu_message"][::core::mem::size_of::<ipu_message>() - 20usize];
    ["Alignment of ipu_message"][::core::mem::align_of::<ipu_message>() - 4usize];
    ["Offset of field: ipu_message::command"]
        [::core::mem::offset_of!(ipu_message, command) - 0usize];
    ["Offset of field: ipu_message::data"][::core::mem::offset_of!(ipu_message, data) - 4usize];
};
