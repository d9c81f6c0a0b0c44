/* Calls to NCCL and what NCCL would launch for them: the second half of hacknccl.h, with its units.
 */
#ifndef DRYDOCK_CORE_NCCL_HACKNCCL_PLAN_H_
#define DRYDOCK_CORE_NCCL_HACKNCCL_PLAN_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbered as NCCL's ncclFunc_t. */
enum {
  HACKNCCL_BROADCAST = 0,
  HACKNCCL_REDUCE = 1,
  HACKNCCL_ALL_GATHER = 2,
  HACKNCCL_REDUCE_SCATTER = 3,
  HACKNCCL_ALL_REDUCE = 4,
  HACKNCCL_SEND = 6,
  HACKNCCL_RECV = 7,
  HACKNCCL_ALL_TO_ALL = 8,
  HACKNCCL_SCATTER = 9,
  HACKNCCL_GATHER = 10
};

/* Numbered as NCCL's ncclDataType_t and ncclRedOp_t. */
enum {
  HACKNCCL_INT8 = 0,
  HACKNCCL_UINT8 = 1,
  HACKNCCL_INT32 = 2,
  HACKNCCL_UINT32 = 3,
  HACKNCCL_INT64 = 4,
  HACKNCCL_UINT64 = 5,
  HACKNCCL_FLOAT16 = 6,
  HACKNCCL_FLOAT32 = 7,
  HACKNCCL_FLOAT64 = 8,
  HACKNCCL_BFLOAT16 = 9,
  HACKNCCL_FLOAT8_E4M3 = 10,
  HACKNCCL_FLOAT8_E5M2 = 11
};
enum {
  HACKNCCL_SUM = 0,
  HACKNCCL_PROD = 1,
  HACKNCCL_MAX = 2,
  HACKNCCL_MIN = 3,
  HACKNCCL_AVG = 4,
  HACKNCCL_PREMUL_SUM = 5 /* from ncclRedOpCreatePreMulSum; its factor decides nothing */
};

typedef struct hacknccl_call {
  int32_t function;
  int32_t datatype;
  int32_t op;
  int32_t root;   /* of a send or receive: the peer */
  uint64_t count; /* elements, as the NCCL function counts: per rank for all-gather and gather (what
                     each contributes), reduce-scatter and scatter (what each receives) and
                     all-to-all (what each sends to each) */
  int32_t in_place; /* the smaller buffer is part of the larger */
  int32_t buffers;  /* HACKNCCL_BUFFERS_*, of both buffers */
} hacknccl_call;

/* How the program registered its buffers before the call, on every rank the same. */
enum {
  HACKNCCL_BUFFERS_PLAIN = 0,      /* not registered */
  HACKNCCL_BUFFERS_REGISTERED = 1, /* ncclCommRegister, of memory from ncclMemAlloc */
  HACKNCCL_BUFFERS_SYMMETRIC = 2   /* ncclCommWindowRegister with NCCL_WIN_COLL_SYMMETRIC */
};

/* How NCCL uses registered buffers in a work: bits. The data then bypasses NCCL's own buffers. */
enum {
  HACKNCCL_DIRECT_PEER = 1, /* between GPUs that reach each other's memory */
  HACKNCCL_DIRECT_NVLS = 2, /* multicast and in-switch reduction */
  HACKNCCL_DIRECT_NET = 4   /* between a GPU and a NIC */
};

enum {
  HACKNCCL_TREE = 0,
  HACKNCCL_RING = 1,
  HACKNCCL_COLLNET_DIRECT = 2,
  HACKNCCL_COLLNET_CHAIN = 3,
  HACKNCCL_NVLS = 4,
  HACKNCCL_NVLS_TREE = 5,
  HACKNCCL_PAT = 6
};
enum { HACKNCCL_LL = 0, HACKNCCL_LL128 = 1, HACKNCCL_SIMPLE = 2 };

/* A collective on channels [channel_lo, channel_hi]. The first channel works on count_lo elements,
 * the last on count_hi, the others on count_mid each; a single channel works on count_lo. With
 * `even` (CollNet layouts) every channel strides over the whole buffer; count and chunk are in the
 * _lo fields. */
typedef struct hacknccl_collective {
  int32_t call; /* index of the call in the launch */
  int32_t function;
  int32_t algorithm;
  int32_t protocol;
  int32_t element_bytes; /* of the elements below: NCCL moves all-gather and broadcast as bytes */
  int32_t root;
  int32_t channel_lo;
  int32_t channel_hi;
  int32_t warps;
  int32_t even;
  uint64_t count; /* as in the call, in elements of element_bytes */
  uint64_t count_lo, count_mid, count_hi;
  uint64_t chunk_lo, chunk_mid, chunk_hi; /* bytes */
  int32_t chunk_steps;                    /* slots that a chunk takes in a connection's buffer */
  int32_t slice_steps; /* slots that a slice takes; a chunk moves slice by slice */
  int32_t direct;      /* HACKNCCL_DIRECT_* */
} hacknccl_collective;

/* One round of send/recv of the rank that launches: a send, a receive, or both at once. */
typedef struct hacknccl_exchange {
  int32_t send_peer; /* -1: none */
  int32_t recv_peer;
  uint64_t send_bytes, recv_bytes;
  int32_t send_channels, recv_channels; /* number of channels that share the message */
  int64_t send_chunk, recv_chunk;       /* bytes of payload */
  int32_t send_ll, recv_ll;             /* protocol LL, else Simple */
  int32_t channel_base; /* part p of a message runs on channel (base + p) mod p2p_channels */
  int32_t send_direct, recv_direct; /* HACKNCCL_DIRECT_PEER or _NET */
} hacknccl_exchange;

/* One channel's part of a broadcast. NCCL runs several broadcasts with different roots as one
 * kernel (AllGatherV): each goes down the ring from its root, and a thread block takes a chunk of
 * each in turn, nearest root upstream first. */
typedef struct hacknccl_broadcast {
  int32_t call; /* index of the call in the launch */
  int32_t root;
  int32_t channel;
  int32_t protocol;
  int32_t warps;
  uint64_t offset, bytes; /* of the part, in the call's buffer */
  int64_t chunk;          /* bytes; takes one slot of a connection's buffer */
} hacknccl_broadcast;

enum { HACKNCCL_COLLECTIVES = 0, HACKNCCL_EXCHANGES = 1, HACKNCCL_BROADCASTS = 2 };

/* The works that one channel's thread block runs together. Collectives of a batch run one after
 * another, exchanges side by side, broadcasts in turn. A batch begins when the one before it on its
 * channel has ended. */
typedef struct hacknccl_batch {
  int32_t kernel; /* index of the kernel in the plan */
  int32_t channel;
  int32_t works;         /* HACKNCCL_COLLECTIVES, ... */
  uint32_t first, count; /* in hacknccl_plan.batch_works */
} hacknccl_batch;

/* One step of the PAT algorithm (binomial trees that shift from loop to loop) on one rank and
 * channel. A step may take a piece of data out of a message, and may put it into another. A
 * reduce-scatter adds its own data when a piece of a message is first written; an all-gather stores
 * what it first reads. Messages are counted per peer and direction from 0. A message is sent when
 * it is full. */
typedef struct hacknccl_pat_step {
  int32_t recv_peer, send_peer;       /* -1: none */
  int32_t recv_message, send_message; /* number of the peer's message */
  uint64_t recv_at, send_at;          /* element within the message */
  uint64_t elements;
  uint64_t offset; /* of the piece in the larger buffer, in elements */
} hacknccl_pat_step;

typedef struct hacknccl_proxy_op {
  int32_t channel;
  int32_t protocol;
  int32_t steps;
  int32_t chunk_steps, slice_steps;
  int64_t chunk_bytes, slice_bytes, loop_bytes;
  int64_t bytes; /* of the largest message on the wire */
} hacknccl_proxy_op;

enum { HACKNCCL_ALGORITHMS = 7, HACKNCCL_PROTOCOLS = 3 };

/* NCCL's own prediction for one algorithm and protocol. */
typedef struct hacknccl_estimate {
  double time_us;        /* below 0: NCCL excludes it, for the reason `why_not` */
  double latency_us;     /* time = latency + bytes / bandwidth, with corrections for */
  double bandwidth_gbps; /* pipelining and medium sizes; GB/s, 0: not offered */
  const char* why_not;   /* static text; "" if NCCL considers it */
} hacknccl_estimate;

/* What NCCL's tuner weighed for one call, or for several calls of a group with the same function,
 * operation and data type whose sizes differ by at most a factor of four. The tuner takes the
 * fastest choice; registered buffers may still move the call to NVLS (NCCL_CTA_POLICY). */
typedef struct hacknccl_decision {
  int32_t function;
  int32_t calls_per_channel;   /* NCCL's estimate of how many calls of the group share a channel */
  uint64_t bytes;              /* of the larger of the two buffers, all calls together */
  int32_t algorithm, protocol; /* the fastest; -1: none is available */
  int32_t channels_at_most;    /* of the communicator, for this algorithm */
  int32_t threads_at_most;     /* of a channel's thread block, for this algorithm and protocol */
  hacknccl_estimate estimates[HACKNCCL_ALGORITHMS][HACKNCCL_PROTOCOLS];
} hacknccl_decision;

enum {
  HACKNCCL_PLAN_KERNEL = 0,
  HACKNCCL_PLAN_SYMMETRIC = 1,
  HACKNCCL_PLAN_COPY_ENGINE = 2,
  HACKNCCL_PLAN_RMA = 3,
  HACKNCCL_PLAN_LOCAL = 4 /* one rank: a copy, or nothing */
};

typedef struct hacknccl_plan {
  int32_t kind;
  int32_t kernels;              /* number of kernels */
  int32_t threads;              /* of a channel's thread block */
  const char* symmetric_kernel; /* NCCL's name of a SYMMETRIC plan's kernel; else "" */
  const hacknccl_collective* collectives;
  size_t collective_count;
  const hacknccl_exchange* exchanges;
  size_t exchange_count;
  const hacknccl_broadcast* broadcasts;
  size_t broadcast_count;
  const hacknccl_proxy_op* proxy_ops;
  size_t proxy_op_count;
  const hacknccl_batch* batches; /* by kernel, channel, and order on the channel */
  size_t batch_count;
  const uint32_t* batch_works; /* indices into collectives, exchanges or broadcasts */
  size_t batch_work_count;
  const hacknccl_decision* decisions; /* one per choice of the tuner; none for messages */
  size_t decision_count;
} hacknccl_plan;

#ifdef __cplusplus
}
#endif

#endif /* DRYDOCK_CORE_NCCL_HACKNCCL_PLAN_H_ */
