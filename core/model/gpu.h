// A GPU as its specification and its measured communication costs describe it. Read from
// configs/gpus/<name>.yaml (core/schema/cluster/gpu_file.h); plain data, immutable once read.
#ifndef DRYDOCK_CORE_MODEL_GPU_H_
#define DRYDOCK_CORE_MODEL_GPU_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"

namespace drydock {

enum class DataType : uint8_t {
  kFp32,
  kTf32,
  kFp16,
  kBf16,
  kFp8,  // e4m3
  kInt8,
  kInt32,
  kInt64,
  kFp64,
  kFp8E5m2,
  kUint8,
  kUint32,
  kUint64
};
inline constexpr int kDataTypeCount = 13;

const std::vector<std::string>& DataTypeNames();  // "fp32", "tf32", ... in enum order
std::string_view ToString(DataType type);
Bytes SizeOf(DataType type);

// What NCCL kernels cost inside a host, beyond the bytes on the link. One set per GPU generation,
// with its source in the GPU's file. How exec-engine uses each value:
// docs/explanation/collectives.md.
struct CollectiveCosts {
  // One kind of kernel. Rates are per channel (one thread block), at the usual number of warps.
  struct Protocol {
    Time base;              // kernel start to first step, and last step to end, together
    Time base_per_warp;     // on top of it, for each warp of a channel
    Time step;              // each primitive: synchronisation with its neighbours
    Bytes pass;             // a warp moves this much at once; 0 = rates apply, not passes
    Time pass_time;         // each pass of a channel's warps after a slice's first
    Time pass_store;        // each pass of a primitive that also stores locally
    Bandwidth send;         // local buffer -> peer
    Bandwidth copy_send;    // kept here and passed on
    Bandwidth reduce_send;  // received data reduced and passed on (kept or not)
    Bandwidth receive;      // received data copied out (reduced or not)
    Time net_slice;         // each slice that the thread block exchanges with a proxy
    Time proxy;             // a proxy sees a slice and acts on it: once at each end of a net hop
  };
  Protocol simple, ll, ll128;
  Protocol nvls;                // multicast kernels
  Protocol nvls_registered;     // ... on the users' own buffers
  Protocol p2p_simple, p2p_ll;  // send/recv kernels
  // Past NCCL, not known of every GPU: a copy engine's messages; Transformer Engine's kernels, a
  // channel an SM.
  Protocol copy_engine, userbuffers;
  double link_efficiency = 0;  // reachable share of the scale-up bandwidth, each direction
  double several_peers = 1;    // share of that left where several peers send to one GPU at once
  Bytes clear_to_send;         // a receiver's message that it has room for a slice
  std::string source;
};

struct GpuSpec {
  std::string name;            // "a100-sxm-80g"
  std::string architecture;    // "ampere"
  int compute_capability = 0;  // 80, 90, ...
  int sms = 0;
  int clock_mhz = 0;  // that the dense rates are stated at; 0 = its source does not say
  FlopRate dense_rate[kDataTypeCount];  // 0 = not supported
  Bytes memory;
  Bandwidth memory_bandwidth;
  Bytes l2;
  Bandwidth nvlink;  // all links, one direction; 0 = none
  Bandwidth pcie;    // one direction
  std::string source;
  std::string reference;  // the calibrated GPU to scale from; empty if it has its own kernels
  bool has_collective_costs = false;
  CollectiveCosts collectives;
  std::string file_name;       // where it was read from
  std::string file_text;       // the whole file: compute-sim reads the kernel model from it
  std::string reference_text;  // the reference's whole file; empty if there is no reference
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_GPU_H_
