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

/* What the host gets when it next reads at most 8 bytes from the GPU, on this thread: a count that
 * a kernel would have found. Until hackcuda_forget_answer. */
void hackcuda_answer(int64_t value);
void hackcuda_forget_answer(void);

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
