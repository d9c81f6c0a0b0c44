/* C interface of libhacknccl.so: NCCL 2.29.7, built without a GPU, deciding for a cluster that does
 * not exist.
 *
 * What it gives: for a communicator over any list of (host, GPU) places, what the real NCCL builds
 * (rings, trees, NVLS heads, NICs) and, for a call, what it would launch (algorithm, protocol,
 * channels, chunk sizes). No byte is moved; no thread, socket or GPU is used.
 *
 * Units: bytes, elements where said; ranks are communicator ranks; NICs are indices into the host
 * class's list. Ownership: what a `create` returned belongs to the caller until `destroy`; arrays
 * inside a plan belong to the communicator and live until its next call. Thread safety: calls are
 * serialised by a lock inside; a communicator must not be destroyed while another thread uses it.
 * Errors: a function that can fail returns NULL or a non-zero status, and `last_error` of that
 * thread's most recent call tells why, NCCL's own words included.
 *
 * Nothing outside the arguments decides: not the environment, not /etc/nccl.conf, not /sys.
 */
#ifndef DRYDOCK_CORE_NCCL_HACKNCCL_H_
#define DRYDOCK_CORE_NCCL_HACKNCCL_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HACKNCCL_ABI_VERSION 6u
/* The one exported symbol: const hacknccl_api* hacknccl_get_api(uint32_t abi_version). */
#define HACKNCCL_ENTRY "hacknccl_get_api"

/* ---- The cluster ------------------------------------------------------------------------- */

typedef struct hacknccl_gpu {
  const char* bus_id; /* "0000:1b:00.0", as in the topology XML */
} hacknccl_gpu;

typedef struct hacknccl_nic {
  const char* name;   /* "mlx5_0", as in the topology XML */
  const char* bus_id; /* of its PCI function */
  int32_t speed_mbps;
} hacknccl_nic;

/* Hosts that are built alike. A host of several trays is a rack: one NVLink domain of machines with
 * an operating system each (multi-node NVLink). Its GPUs and NICs are listed tray by tray, in equal
 * parts; every tray has the same XML, and so the same bus ids. */
typedef struct hacknccl_host_class {
  const char* topology_xml; /* NCCL topology XML of a tray */
  size_t topology_xml_bytes;
  const hacknccl_gpu* gpus;
  size_t gpu_count;
  const hacknccl_nic* nics;
  size_t nic_count;
  int32_t compute_capability; /* 90 = 9.0 */
  int32_t sm_count;
  int64_t memory_bytes;
  int32_t multicast; /* NVLink SHARP available */
  int32_t collnet;   /* the NICs offer CollNet: switches reduce (InfiniBand SHARP) */
  int32_t trays;     /* 1: an ordinary host */
} hacknccl_host_class;

typedef struct hacknccl_setting {
  const char* name; /* "NCCL_ALGO" */
  const char* value;
} hacknccl_setting;

enum {
  HACKNCCL_SETTING_DECIDES = 0, /* handed to NCCL */
  HACKNCCL_SETTING_IDLE = 1,    /* NCCL has it; nothing that is rehearsed depends on it */
  HACKNCCL_SETTING_REFUSED = 2  /* NCCL has it, and it would change what cannot be followed here */
};

/* One of the settings that NCCL's own sources look up. */
typedef struct hacknccl_setting_info {
  const char* name;
  int32_t effect;
  const char* reason; /* of IDLE and REFUSED, else "" */
} hacknccl_setting_info;

typedef struct hacknccl_place {
  int32_t host;       /* any number; equal numbers are the same host */
  int32_t host_class; /* index into the world's classes; the same for every rank of a host */
  int32_t gpu;        /* index into the class's gpus */
} hacknccl_place;

/* Those fields of ncclConfig_t that may change a decision, by NCCL's names for them. */
#define HACKNCCL_UNSET INT32_MIN /* as NCCL likes, or as the parent has it */
typedef struct hacknccl_config {
  int32_t min_ctas, max_ctas;
  int32_t nvls_ctas;
  int32_t cga_cluster_size;
  int32_t cta_policy;
  int32_t collnet_enable;
  int32_t split_share, shrink_share; /* children share the parent's resources */
  int32_t channels_per_net_peer;
} hacknccl_config;

typedef struct hacknccl_world hacknccl_world;
typedef struct hacknccl_communicator hacknccl_communicator;

/* ---- What NCCL built --------------------------------------------------------------------- */

typedef struct hacknccl_shape {
  int32_t ranks;
  int32_t hosts;
  int32_t ring_channels; /* of ring and tree */
  int32_t nvls_channels; /* 0: no NVLS */
  int32_t nvls_heads;
  int32_t collnet_heads; /* ranks of a host that are joined to CollNet; 0: no CollNet */
  int32_t p2p_channels;
  int32_t p2p_channels_per_peer;
  int64_t p2p_chunk_bytes;
  int64_t buffer_bytes[3];    /* per connection; by protocol LL, LL128, Simple */
  int32_t slots;              /* steps a connection's buffer is cut into */
  int32_t collnet;            /* in-network reduction between hosts */
  int32_t pxn;                /* a GPU's data may leave through a NIC beside another GPU */
  int32_t min_ctas, max_ctas; /* limits NCCL keeps to when it chooses channels */
} hacknccl_shape;

typedef struct hacknccl_tree {
  int32_t up;      /* -1: root */
  int32_t down[3]; /* -1: none */
} hacknccl_tree;

typedef struct hacknccl_nvls {
  int32_t head;    /* index of the head this rank is, -1: none */
  int32_t tree_up; /* rank on another host, -1: none */
  int32_t tree_down[2];
} hacknccl_nvls;

/* A rank's place in CollNet on one channel (one of the ring channels). */
typedef struct hacknccl_collnet {
  int32_t chain_up;   /* CollNetChain: the rank above, -1: the network */
  int32_t chain_down; /* -1: none */
  int32_t head;       /* CollNetDirect: index of the head this rank is, -1: none */
  int32_t shift;      /* which of the other heads it serves first */
  int32_t nic;        /* by which it is joined to the network, -1: it is not */
  int32_t rail;       /* which joined rank of its host it is: those of one rail are summed */
  int32_t gdr;        /* that NIC reads and writes GPU memory itself */
} hacknccl_collnet;

/* Which connections: each search graph of NCCL binds channels to NICs in its own way. */
enum {
  HACKNCCL_GRAPH_RING = 0,
  HACKNCCL_GRAPH_TREE = 1,
  HACKNCCL_GRAPH_NVLS = 2,
  HACKNCCL_GRAPH_P2P = 3,
  /* CollNetDirect and CollNetChain inside a host: data towards the network, and results from it. */
  HACKNCCL_GRAPH_COLLNET_UP = 4,
  HACKNCCL_GRAPH_COLLNET_DOWN = 5
};

enum {
  HACKNCCL_LINK_P2P_WRITE = 0,
  HACKNCCL_LINK_P2P_READ = 1,
  HACKNCCL_LINK_SHM = 2,
  HACKNCCL_LINK_NET = 3
};

typedef struct hacknccl_link {
  int32_t kind;
  int32_t send_nic; /* NET only, else -1 */
  int32_t recv_nic;
  int32_t send_gdr; /* the NIC reads GPU memory itself */
  int32_t recv_gdr;
  int32_t proxy; /* PXN: rank whose GPU hands the data to the NIC, else -1 */
  int32_t relay; /* P2P through another GPU: its rank, else -1 */
} hacknccl_link;

/* ---- Calls and plans --------------------------------------------------------------------- */

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
  HACKNCCL_PREMUL_SUM = 5 /* made with ncclRedOpCreatePreMulSum; the factor decides nothing */
};

typedef struct hacknccl_call {
  int32_t function;
  int32_t datatype;
  int32_t op;
  int32_t root;   /* of a send or receive: the peer */
  uint64_t count; /* elements, as the NCCL function counts: per rank for all-gather and gather (what
                     each contributes), reduce-scatter and scatter (what each receives) and
                     all-to-all (what each sends each) */
  int32_t in_place; /* the two buffers are one, the smaller at its place in the larger */
} hacknccl_call;

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
 * the last on count_hi, those between on count_mid each; with one channel count_lo is all. With
 * `even` (CollNet layouts) every channel strides over the whole buffer instead: count and chunk in
 * the _lo fields. */
typedef struct hacknccl_collective {
  int32_t call; /* which of the launch's calls it is */
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
  int32_t chunk_steps;                    /* steps (slots) a chunk takes in a connection's buffer */
  int32_t slice_steps;                    /* steps a slice takes: a chunk moves slice by slice */
} hacknccl_collective;

/* One round of send/recv of the asked rank: a send, a receive, or both at once. */
typedef struct hacknccl_exchange {
  int32_t send_peer; /* -1: none */
  int32_t recv_peer;
  uint64_t send_bytes, recv_bytes;
  int32_t send_channels, recv_channels; /* over how many channels the message is cut */
  int64_t send_chunk, recv_chunk;       /* bytes of payload */
  int32_t send_ll, recv_ll;             /* protocol LL, else Simple */
  int32_t channel_base; /* part p of a message runs on channel (base + p) mod p2p_channels */
} hacknccl_exchange;

/* One channel's part of one of several broadcasts with different roots, which NCCL runs as one
 * kernel (AllGatherV): each goes down the ring from its root, and a thread block takes a chunk of
 * each in turn, nearest root upstream first. */
typedef struct hacknccl_broadcast {
  int32_t call; /* which of the launch's calls it is */
  int32_t root;
  int32_t channel;
  int32_t protocol;
  int32_t warps;
  uint64_t offset, bytes; /* the part, in the call's buffer */
  int64_t chunk;          /* bytes; takes one step (slot) of a connection's buffer */
} hacknccl_broadcast;

enum { HACKNCCL_COLLECTIVES = 0, HACKNCCL_EXCHANGES = 1, HACKNCCL_BROADCASTS = 2 };

/* What one channel's thread block works on in one go, in this order. Collectives of a batch run one
 * after another; exchanges of a batch run side by side, broadcasts in turns; a batch begins when
 * the one before it on its channel has ended. */
typedef struct hacknccl_batch {
  int32_t kernel; /* which launch of the plan, from 0 */
  int32_t channel;
  int32_t works;         /* HACKNCCL_COLLECTIVES, ... */
  uint32_t first, count; /* in hacknccl_plan.batch_works */
} hacknccl_batch;

/* One step of the PAT algorithm (binomial trees that shift from loop to loop) on one rank and
 * channel: a piece of data comes out of a message, or not, and goes into one, or not. A
 * reduce-scatter adds its own data where a piece of a message is first written; an all-gather keeps
 * what it first reads. Messages are counted per peer and direction from 0; a message travels when
 * it is full. */
typedef struct hacknccl_pat_step {
  int32_t recv_peer, send_peer;       /* -1: none */
  int32_t recv_message, send_message; /* which of that peer's */
  uint64_t recv_at, send_at;          /* element within the message */
  uint64_t elements;
  uint64_t offset; /* of the piece in the larger of the two buffers, in elements */
} hacknccl_pat_step;

typedef struct hacknccl_proxy_op {
  int32_t channel;
  int32_t protocol;
  int32_t steps;
  int32_t chunk_steps, slice_steps;
  int64_t chunk_bytes, slice_bytes, loop_bytes;
  int64_t bytes; /* largest one message on the wire */
} hacknccl_proxy_op;

enum { HACKNCCL_ALGORITHMS = 7, HACKNCCL_PROTOCOLS = 3 };

/* NCCL's own prediction for one algorithm and protocol. */
typedef struct hacknccl_estimate {
  double time_us;        /* below 0: NCCL does not consider it, `why_not` tells why */
  double latency_us;     /* the model's two numbers: time = latency + bytes / bandwidth, with */
  double bandwidth_gbps; /* corrections for pipelining and medium sizes; GB/s, 0: not offered */
  const char* why_not;   /* static text; "" if NCCL considers it */
} hacknccl_estimate;

/* What NCCL's tuner weighed for one call, or for several of a group that are alike in function,
 * operation and data type and within four times of each other's size. It takes the fastest;
 * registered buffers may still move the call to NVLS (NCCL_CTA_POLICY). */
typedef struct hacknccl_decision {
  int32_t function;
  int32_t calls_per_channel;   /* NCCL's guess at how many calls of the group share a channel */
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
  int32_t kernels; /* launches the call takes */
  int32_t threads; /* of a channel's thread block */
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
  const hacknccl_decision* decisions; /* one per choice the tuner made; none for messages */
  size_t decision_count;
} hacknccl_plan;

/* ---- Functions --------------------------------------------------------------------------- */

typedef struct hacknccl_api {
  uint32_t abi_version;
  const char* nccl_version; /* "2.29.7" */

  /* Reason of the last failure in this thread; "" if its last call succeeded. */
  const char* (*last_error)(void);

  /* Sorted by name. */
  const hacknccl_setting_info* settings;
  size_t setting_count;
  /* 0, or last_error tells what is wrong with this setting: an unknown name, one that is refused, a
   * value that NCCL would reject or silently replace. */
  int32_t (*check_setting)(const char* name, const char* value);

  /* NCCL keeps much of its settings for the life of the library: the first world fixes them, and
   * a world with other settings is refused, as is one with settings that check_setting refuses.
   * Copies its arguments. */
  hacknccl_world* (*world_create)(const hacknccl_host_class* classes, size_t class_count,
                                  const hacknccl_setting* settings, size_t setting_count);
  void (*world_destroy)(hacknccl_world*);

  /* ncclCommInitRankConfig. ranks in communicator order; config may be NULL. The world must outlive
   * the communicator. */
  hacknccl_communicator* (*communicator_create)(hacknccl_world*, const hacknccl_place* ranks,
                                                size_t rank_count, const hacknccl_config* config);
  /* ncclCommSplit, called by every rank of the parent with its entry of `colors` and `keys`: the
   * part whose color is `color`. config NULL: the parent's. What the parent holds lives on until
   * its last child is destroyed. */
  hacknccl_communicator* (*communicator_split)(hacknccl_communicator* parent, const int32_t* colors,
                                               const int32_t* keys, int32_t color,
                                               const hacknccl_config* config);
  /* ncclCommShrink: the parent without these ranks. As communicator_split otherwise. */
  hacknccl_communicator* (*communicator_shrink)(hacknccl_communicator* parent,
                                                const int32_t* excluded, size_t excluded_count,
                                                const hacknccl_config* config);
  void (*communicator_destroy)(hacknccl_communicator*);

  int32_t (*shape)(hacknccl_communicator*, hacknccl_shape* out);
  /* out: ranks entries: which host each is on, in NCCL's sense (a node: GPUs that reach each other
   * better than through the network), counted from 0 in order of their first ranks. A machine may
   * be several, a rack one. */
  int32_t (*hosts)(hacknccl_communicator*, int32_t* out);
  /* out: ranks entries, from rank 0 along the ring. */
  int32_t (*ring)(hacknccl_communicator*, int32_t channel, int32_t* out);
  /* out: ranks entries. */
  int32_t (*tree)(hacknccl_communicator*, int32_t channel, hacknccl_tree* out);
  int32_t (*nvls)(hacknccl_communicator*, int32_t channel, hacknccl_nvls* out);
  int32_t (*collnet)(hacknccl_communicator*, int32_t channel, hacknccl_collnet* out);
  int32_t (*link)(hacknccl_communicator*, int32_t graph, int32_t channel, int32_t from, int32_t to,
                  hacknccl_link* out);

  /* What `rank` would launch for calls that it makes in one group (ncclGroupStart to
   * ncclGroupEnd), in this order. A single call is a group of one. */
  int32_t (*launch)(hacknccl_communicator*, int32_t rank, const hacknccl_call* calls,
                    size_t call_count, hacknccl_plan* out);

  /* The steps of `rank` for a collective whose algorithm is HACKNCCL_PAT, in order. The array lives
   * until the communicator's next call. */
  int32_t (*pat)(hacknccl_communicator*, const hacknccl_collective*, int32_t rank, int32_t channel,
                 const hacknccl_pat_step** out, size_t* count);

  /* Fake device and pinned memory that is handed out now, in bytes. 0 when nothing is alive. */
  int64_t (*memory_in_use)(void);
} hacknccl_api;

typedef const hacknccl_api* (*hacknccl_get_api_function)(uint32_t abi_version);

#ifdef __cplusplus
}
#endif

#endif /* DRYDOCK_CORE_NCCL_HACKNCCL_H_ */
