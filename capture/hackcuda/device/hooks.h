/* What the observers of a framework tell libhackcuda. In C: they are compiled on the user's
 * machine, against the user's framework. */
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DEVICE_HOOKS_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DEVICE_HOOKS_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The entries that this thread writes next are those of an operator, until it ends. */
void hackcuda_begin_op(const char* text, size_t length);
/* `outputs` tells what the operator returned, as `text` tells what it got. */
void hackcuda_end_op(const char* outputs, size_t length);
void hackcuda_mark(const char* text, size_t length);

/* What this thread does between these calls is the capture's own work: the log's CPU times leave it
 * out. Calls nest. `is_long`: it may take more than some microseconds. */
void hackcuda_pause_clock(int is_long);
void hackcuda_resume_clock(void);

/* The number of a text, for the calls below. */
int64_t hackcuda_name(const char* text, size_t length);

/* Where values in the memory of a GPU come from. */
enum hackcuda_knowledge {
  HACKCUDA_COMPUTED, /* the host has computed them: a real GPU would hold the same */
  HACKCUDA_ASSUMED,  /* computed from an assumption: zeros, or that choices are equally frequent */
  HACKCUDA_UNKNOWN,  /* nobody has computed them; memory holds zeros */
};
/* `origin`: the number of a text that says what made them unknown; -1: none. */
void hackcuda_set_values(const void* at, size_t bytes, int knowledge, int64_t origin);
/* They are zeros. */
void hackcuda_clear(void* at, size_t bytes);
/* A kernel has written them that only a GPU can run: small ones become zeros. */
void hackcuda_forget(void* at, size_t bytes, int64_t origin);
/* Returns what is known of the least known of them, and its origin. */
int hackcuda_values(const void* at, size_t bytes, int64_t* origin);

/* What the host gets when it next reads at most 8 bytes from the GPU, on this thread: a count that
 * a kernel would have found. Until hackcuda_forget_answer. */
void hackcuda_answer(int64_t value, int knowledge, int64_t origin);
void hackcuda_forget_answer(void);
/* Other reads of this thread are the framework's own, and are not logged, until 0. */
void hackcuda_ignore_reads(int ignores);

/* How many kernels and products this thread has launched. */
int64_t hackcuda_works(void);

/* Called on the thread of a read that is logged, to tell the line of the program by
 * hackcuda_set_line. */
void hackcuda_set_line_finder(void (*finder)(void));
void hackcuda_set_line(const char* text, size_t length);

/* The ranks of the communicators that will have this key (the first 8 bytes of ncclUniqueId), and
 * the name of their group; null: it has none. */
void hackcuda_name_key(uint64_t key, const int32_t* ranks, size_t count, const char* group);
/* The ranks of the group that the program is making, in order; none: it is made. */
void hackcuda_expect_group(const int32_t* ranks, size_t count, const char* group);
/* A group of the program, also one without this rank. */
void hackcuda_mark_group(const char* name, const char* description, const int32_t* ranks,
                         size_t count);

#ifdef __cplusplus
}
#endif

#endif /* DRYDOCK_CAPTURE_HACKCUDA_DEVICE_HOOKS_H_ */
