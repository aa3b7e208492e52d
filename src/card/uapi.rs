//! Codes and records of the kernel module's ioctls: `uapi.h` as Rust.
//!
//! Generated from `uapi.h` with `cargo xtask bindings` and checked in.
#![allow(non_camel_case_types, reason = "the names are those of the C header")]

#[doc = " Takes the card for this process; the argument is 0."]
pub const IPU_ATTACH: ipu_verb = 3221810442;
#[doc = " Pins a buffer; the argument points to an ipu_buffer."]
pub const IPU_BUFFER_ATTACH: ipu_verb = 3221810443;
#[doc = " Releases a buffer; the argument is its index."]
pub const IPU_BUFFER_DETACH: ipu_verb = 3221810444;
#[doc = " Sets the number that comes with signals; the argument is 0."]
pub const IPU_SET_ID: ipu_verb = 3221810446;
#[doc = " Releases all buffers; the argument is 0."]
pub const IPU_BUFFER_DETACH_ALL: ipu_verb = 60690;
#[doc = " Asks the board controller; the argument points to an ipu_mailbox."]
pub const IPU_MAILBOX_WRITE_READ: ipu_verb = 3221810463;
#[doc = " Stops the module's own polling; the argument is 0."]
pub const IPU_STOP_MONITORING: ipu_verb = 60706;
#[doc = " Starts it again; the argument is 0."]
pub const IPU_START_MONITORING: ipu_verb = 60707;
#[doc = " Folds error counters into the session's; the argument is 0."]
pub const IPU_ACCUMULATE_ERRORS: ipu_verb = 60708;
#[doc = " Tells the module that the card was reset; the argument is 0."]
pub const IPU_RESET_DEVICE: ipu_verb = 1074064685;
#[doc = " The second number; the argument points to eight zero bytes."]
pub const IPU_SET_SECONDARY_ID: ipu_verb = 1074326831;
#[doc = " The verbs. [host-driver §3 HW]"]
pub type ipu_verb = ::std::os::raw::c_uint;
#[doc = " A buffer to pin. [host-driver §3 HW]"]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ipu_buffer {
    #[doc = " Its number; tiles see buffers in this order."]
    pub index: u32,
    #[doc = " Bytes, more than 0."]
    pub size: u32,
    #[doc = " Where it lies in this process, on a page boundary."]
    pub address: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ipu_buffer"][::std::mem::size_of::<ipu_buffer>() - 16usize];
    ["Alignment of ipu_buffer"][::std::mem::align_of::<ipu_buffer>() - 8usize];
    ["Offset of field: ipu_buffer::index"][::std::mem::offset_of!(ipu_buffer, index) - 0usize];
    ["Offset of field: ipu_buffer::size"][::std::mem::offset_of!(ipu_buffer, size) - 4usize];
    ["Offset of field: ipu_buffer::address"][::std::mem::offset_of!(ipu_buffer, address) - 8usize];
};
#[doc = " A question to the board controller. [host-driver §3 HW]"]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ipu_mailbox {
    #[doc = " Address of the ipu_message to send."]
    pub request: u64,
    #[doc = " Address of the ipu_message to fill."]
    pub reply: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ipu_mailbox"][::std::mem::size_of::<ipu_mailbox>() - 16usize];
    ["Alignment of ipu_mailbox"][::std::mem::align_of::<ipu_mailbox>() - 8usize];
    ["Offset of field: ipu_mailbox::request"]
        [::std::mem::offset_of!(ipu_mailbox, request) - 0usize];
    ["Offset of field: ipu_mailbox::reply"][::std::mem::offset_of!(ipu_mailbox, reply) - 8usize];
};
#[doc = " What goes to and comes from the board controller. [host-driver §3 HW]"]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ipu_message {
    #[doc = " The command, or its echo."]
    pub command: u32,
    #[doc = " What comes with it."]
    pub data: [u32; 4usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ipu_message"][::std::mem::size_of::<ipu_message>() - 20usize];
    ["Alignment of ipu_message"][::std::mem::align_of::<ipu_message>() - 4usize];
    ["Offset of field: ipu_message::command"]
        [::std::mem::offset_of!(ipu_message, command) - 0usize];
    ["Offset of field: ipu_message::data"][::std::mem::offset_of!(ipu_message, data) - 4usize];
};
