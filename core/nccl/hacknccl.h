/* C interface of libhacknccl.so: NCCL 2.29.7, built without a GPU, deciding for a cluster that does
 * not exist.
 *
 * For a communicator over any list of (host, GPU) places it tells what the real NCCL builds (rings,
 * trees, NVLS heads, NICs), and for a call what NCCL would launch (algorithm, protocol, channels,
 * chunk sizes). It moves no byte and uses no thread, socket or GPU.
 *
 * Units: bytes unless a comment says elements. Ranks are communicator ranks; NICs are indices into
 * the host class's list. Ownership: the caller owns what a `create` function returns until the
 * `destroy` function; arrays inside a plan belong to the communicator and live until its next call.
 * Thread safety: a lock serializes all calls; do not destroy a communicator while another thread
 * uses it. Errors: a function that can fail returns NULL or a non-zero status. `last_error` then
 * tells the reason of the thread's most recent failure, in NCCL's own words if NCCL failed.
 *
 * Only the arguments decide: the library reads neither the environment nor /etc/nccl.conf nor /sys.
 */
#ifndef DRYDOCK_CORE_NCCL_HACKNCCL_H_
#define DRYDOCK_CORE_NCCL_HACKNCCL_H_

#include <stddef.h>
#include <stdint.h>

#include "core/nccl/hacknccl_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HACKNCCL_ABI_VERSION 7u
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

/* Hosts of the same kind. A host of several trays is a rack: one NVLink domain of machines that
 * each run an operating system (multi-node NVLink). Its GPUs and NICs are listed tray by tray, in
 * equal parts. Every tray has the same XML, and so the same bus ids. */
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
  HACKNCCL_SETTING_DECIDES = 0, /* passed to NCCL */
  HACKNCCL_SETTING_IDLE = 1,    /* NCCL has it; it has no effect here */
  HACKNCCL_SETTING_REFUSED = 2  /* NCCL has it; its effect cannot be modeled */
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

/* The fields of ncclConfig_t that may change a decision, under NCCL's names. */
#define HACKNCCL_UNSET INT32_MIN /* NCCL's default, or the parent's value */
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
  int32_t collnet_heads; /* ranks per host that are joined to CollNet; 0: no CollNet */
  int32_t p2p_channels;
  int32_t p2p_channels_per_peer;
  int64_t p2p_chunk_bytes;
  int64_t buffer_bytes[3];    /* per connection; by protocol LL, LL128, Simple */
  int32_t slots;              /* steps a connection's buffer is cut into */
  int32_t collnet;            /* in-network reduction between hosts */
  int32_t pxn;                /* a GPU's data may leave through another GPU's NIC */
  int32_t min_ctas, max_ctas; /* NCCL's limits when it chooses channels */
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

/* A rank's place in CollNet on one of the ring channels. */
typedef struct hacknccl_collnet {
  int32_t chain_up;   /* CollNetChain: the rank above, -1: the network */
  int32_t chain_down; /* -1: none */
  int32_t head;       /* CollNetDirect: index of the head this rank is, -1: none */
  int32_t shift;      /* index, among the other heads, of the head that it serves first */
  int32_t nic;        /* NIC that joins it to the network, -1: none */
  int32_t rail;       /* its index among the joined ranks of its host; each rail is summed */
  int32_t gdr;        /* the NIC reads and writes GPU memory directly */
} hacknccl_collnet;

/* Kinds of connections: each search graph of NCCL assigns its own NICs to channels. */
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
  int32_t send_gdr; /* the NIC reads GPU memory directly */
  int32_t recv_gdr;
  int32_t proxy; /* PXN: rank whose GPU passes the data to the NIC, else -1 */
  int32_t relay; /* P2P through another GPU: its rank, else -1 */
} hacknccl_link;

/* ---- Functions --------------------------------------------------------------------------- */

typedef struct hacknccl_api {
  uint32_t abi_version;
  const char* nccl_version; /* "2.29.7" */

  /* Returns the reason of the last failure in this thread; "" if its last call succeeded. */
  const char* (*last_error)(void);

  /* Sorted by name. */
  const hacknccl_setting_info* settings;
  size_t setting_count;
  /* Returns 0 if the setting is valid. Errors: an unknown or refused name, a value that NCCL would
   * reject or silently replace. */
  int32_t (*check_setting)(const char* name, const char* value);

  /* Copies its arguments. NCCL keeps many settings for the life of the library, so the first world
   * fixes them. Refuses other settings afterwards, and settings that check_setting refuses. */
  hacknccl_world* (*world_create)(const hacknccl_host_class* classes, size_t class_count,
                                  const hacknccl_setting* settings, size_t setting_count);
  void (*world_destroy)(hacknccl_world*);

  /* ncclCommInitRankConfig. `ranks` are in communicator order; `config` may be NULL. The world must
   * outlive the communicator. */
  hacknccl_communicator* (*communicator_create)(hacknccl_world*, const hacknccl_place* ranks,
                                                size_t rank_count, const hacknccl_config* config);
  /* ncclCommSplit, as if every rank of the parent called it with its entry of `colors` and `keys`.
   * Returns the part whose color is `color`. If `config` is NULL, the part has the parent's
   * configuration. The parent's resources live until its last child is destroyed. */
  hacknccl_communicator* (*communicator_split)(hacknccl_communicator* parent, const int32_t* colors,
                                               const int32_t* keys, int32_t color,
                                               const hacknccl_config* config);
  /* ncclCommShrink: returns the parent without these ranks. Otherwise like communicator_split. */
  hacknccl_communicator* (*communicator_shrink)(hacknccl_communicator* parent,
                                                const int32_t* excluded, size_t excluded_count,
                                                const hacknccl_config* config);
  void (*communicator_destroy)(hacknccl_communicator*);

  int32_t (*shape)(hacknccl_communicator*, hacknccl_shape* out);
  /* Sets out[rank] to the rank's host. A host is what NCCL calls a node: GPUs that reach each other
   * better than through the network. A machine may be several hosts, a rack may be one. Hosts are
   * numbered from 0 by their first ranks. */
  int32_t (*hosts)(hacknccl_communicator*, int32_t* out);
  /* Sets out to all ranks along the ring, starting with rank 0. */
  int32_t (*ring)(hacknccl_communicator*, int32_t channel, int32_t* out);
  /* Set out[rank] for all ranks. */
  int32_t (*tree)(hacknccl_communicator*, int32_t channel, hacknccl_tree* out);
  int32_t (*nvls)(hacknccl_communicator*, int32_t channel, hacknccl_nvls* out);
  int32_t (*collnet)(hacknccl_communicator*, int32_t channel, hacknccl_collnet* out);
  int32_t (*link)(hacknccl_communicator*, int32_t graph, int32_t channel, int32_t from, int32_t to,
                  hacknccl_link* out);

  /* Tells what `rank` would launch for calls that it makes in one group (ncclGroupStart to
   * ncclGroupEnd), in this order. A single call is a group of one. */
  int32_t (*launch)(hacknccl_communicator*, int32_t rank, const hacknccl_call* calls,
                    size_t call_count, hacknccl_plan* out);

  /* Lists the steps of `rank` for a collective whose algorithm is HACKNCCL_PAT, in order. The array
   * lives until the communicator's next call. */
  int32_t (*pat)(hacknccl_communicator*, const hacknccl_collective*, int32_t rank, int32_t channel,
                 const hacknccl_pat_step** out, size_t* count);

  /* Returns the bytes of fake device and pinned memory in use; 0 when nothing is alive. */
  int64_t (*memory_in_use)(void);
} hacknccl_api;

typedef const hacknccl_api* (*hacknccl_get_api_function)(uint32_t abi_version);

#ifdef __cplusplus
}
#endif

#endif /* DRYDOCK_CORE_NCCL_HACKNCCL_H_ */
