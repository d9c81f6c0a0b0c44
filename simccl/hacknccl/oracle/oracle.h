/* C interface of libhacknccl_oracle.so: one rank of a communicator whose ranks are all real.
 *
 * It has the same NCCL and the same fake machine as libhacknccl.so, but none of its hooks: no rank
 * is absent, so nothing replaces absent ranks. Each rank is a process, as in a training run,
 * and the processes exchange NCCL's data through shared memory. Only tests use the oracle: its
 * reports must equal what libhacknccl.so reports for the same rank.
 *
 * A process joins once and ends without leaving. Every rank must make the same calls in the same
 * order, as with NCCL. On failure a function returns NULL or a non-zero status, and `last_error`
 * tells the reason; the other ranks then fail too instead of waiting forever. Not thread-safe.
 */
#ifndef DRYDOCK_SIMCCL_HACKNCCL_ORACLE_ORACLE_H_
#define DRYDOCK_SIMCCL_HACKNCCL_ORACLE_ORACLE_H_

#include "core/nccl/hacknccl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The one exported symbol: const hacknccl_oracle* hacknccl_get_oracle(void). */
#define HACKNCCL_ORACLE_ENTRY "hacknccl_get_oracle"

typedef struct hacknccl_oracle_rank hacknccl_oracle_rank;

/* One end of a connection that the rank made. */
typedef struct hacknccl_oracle_connection {
  int32_t graph;    /* HACKNCCL_GRAPH_*: what the channel belongs to */
  const char* line; /* NCCL's own log line: "Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/7" */
} hacknccl_oracle_connection;

typedef struct hacknccl_oracle {
  const char* (*last_error)(void);

  /* Bytes of the meeting: zeroed memory that all ranks share and that must outlive them. */
  size_t (*meeting_bytes)(int32_t ranks);

  /* Takes the arguments of hacknccl_api's world_create and communicator_create, which must outlive
   * the rank. Blocks until all ranks have joined. */
  hacknccl_oracle_rank* (*join)(void* meeting, const hacknccl_host_class* classes,
                                size_t class_count, const hacknccl_setting* settings,
                                size_t setting_count, const hacknccl_place* ranks,
                                size_t rank_count, int32_t rank);

  /* Make the rank one of a part of its communicator; it then reports on the part. `colors` and
   * `keys` have an entry for each rank. Ranks with the color -1, or in `excluded`, end here. At
   * most one such call per process. */
  int32_t (*split)(hacknccl_oracle_rank*, const int32_t* colors, const int32_t* keys);
  int32_t (*shrink)(hacknccl_oracle_rank*, const int32_t* excluded, size_t excluded_count);

  int32_t (*shape)(hacknccl_oracle_rank*, hacknccl_shape* out);
  /* out: ranks entries, from this rank along the ring. */
  int32_t (*ring)(hacknccl_oracle_rank*, int32_t channel, int32_t* out);
  /* This rank's place. */
  int32_t (*tree)(hacknccl_oracle_rank*, int32_t channel, hacknccl_tree* out);
  int32_t (*nvls)(hacknccl_oracle_rank*, int32_t channel, hacknccl_nvls* out);
  int32_t (*collnet)(hacknccl_oracle_rank*, int32_t channel, hacknccl_collnet* out);

  /* As hacknccl_api's launch, for this rank. */
  int32_t (*launch)(hacknccl_oracle_rank*, const hacknccl_call* calls, size_t call_count,
                    hacknccl_plan* out);

  /* All connections made so far; valid until the next call. */
  size_t (*connections)(hacknccl_oracle_rank*, const hacknccl_oracle_connection** out);
} hacknccl_oracle;

typedef const hacknccl_oracle* (*hacknccl_get_oracle_function)(void);

#ifdef __cplusplus
}
#endif

#endif /* DRYDOCK_SIMCCL_HACKNCCL_ORACLE_ORACLE_H_ */
