/*
 * What the kernel module of the C600 understands: codes and records of its ioctls.
 *
 * Written by hand from host-driver §3; uapi.rs is generated from it. Little-endian, 64-bit host.
 * The encoded sizes are those of a pointer even where the record behind it is larger.
 */
#ifndef TILEKILN_UAPI_H
#define TILEKILN_UAPI_H

#include <stdint.h>

/* Linux's layout: direction << 30 | size << 16 | type << 8 | number. */
#define IPU_CODE(direction, number, size) \
	((uint32_t)(direction) << 30 | (uint32_t)(size) << 16 | 0xedu << 8 | (number))

/** The verbs. [host-driver §3 HW] */
enum ipu_verb {
	/** Takes the card for this process; the argument is 0. */
	IPU_ATTACH = IPU_CODE(3, 10, 8),
	/** Pins a buffer; the argument points to an ipu_buffer. */
	IPU_BUFFER_ATTACH = IPU_CODE(3, 11, 8),
	/** Releases a buffer; the argument is its index. */
	IPU_BUFFER_DETACH = IPU_CODE(3, 12, 8),
	/** Sets the number that comes with signals; the argument is 0. */
	IPU_SET_ID = IPU_CODE(3, 14, 8),
	/** Releases all buffers; the argument is 0. */
	IPU_BUFFER_DETACH_ALL = IPU_CODE(0, 18, 0),
	/** Asks the board controller; the argument points to an ipu_mailbox. */
	IPU_MAILBOX_WRITE_READ = IPU_CODE(3, 31, 8),
	/** Stops the module's own polling; the argument is 0. */
	IPU_STOP_MONITORING = IPU_CODE(0, 34, 0),
	/** Starts it again; the argument is 0. */
	IPU_START_MONITORING = IPU_CODE(0, 35, 0),
	/** Folds error counters into the session's; the argument is 0. */
	IPU_ACCUMULATE_ERRORS = IPU_CODE(0, 36, 0),
	/** Tells the module that the card was reset; the argument is 0. */
	IPU_RESET_DEVICE = IPU_CODE(1, 45, 4),
	/** The second number; the argument points to eight zero bytes. */
	IPU_SET_SECONDARY_ID = IPU_CODE(1, 47, 8),
};

/** A buffer to pin. [host-driver §3 HW] */
struct ipu_buffer {
	/** Its number; tiles see buffers in this order. */
	uint32_t index;
	/** Bytes, more than 0. */
	uint32_t size;
	/** Where it lies in this process, on a page boundary. */
	uint64_t address;
};

/** A question to the board controller. [host-driver §3 HW] */
struct ipu_mailbox {
	/** Address of the ipu_message to send. */
	uint64_t request;
	/** Address of the ipu_message to fill. */
	uint64_t reply;
};

/** What goes to and comes from the board controller. [host-driver §3 HW] */
struct ipu_message {
	/** The command, or its echo. */
	uint32_t command;
	/** What comes with it. */
	uint32_t data[4];
};

#endif
