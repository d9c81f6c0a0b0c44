// A GPU as its specification and its measured communication costs describe it. Read from
// configs/gpus/<name>.yaml (core/schema/gpu_file.h); plain data, immutable once read.
#ifndef DRYDOCK_CORE_MODEL_GPU_H_
#define DRYDOCK_CORE_MODEL_GPU_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"

namespace drydock {

enum class DataType : uint8_t { kFp32, kTf32, kFp16, kBf16, kFp8, kInt8, kInt32, kInt64 };
inline constexpr int kDataTypeCount = 8;

const std::vector<std::string>& DataTypeNames();  // "fp32", "tf32", ... in enum order
std::string_view ToString(DataType type);
Bytes SizeOf(DataType type);

// What an NCCL kernel's steps cost inside a host, beyond the bytes on the link. One set per GPU
// generation, each value with its source in the GPU's file. `rate`s are per channel (one thread
// block), at the GPU's usual number of warps.
struct CollectiveCosts {
  struct Protocol {
    Time base;             // kernel launch to first byte, and last byte to completion
    Time step;             // synchronisation with a neighbour, each primitive
    Bandwidth send;        // local buffer -> peer
    Bandwidth copy_send;   // received data kept and passed on
    Bandwidth reduce_send; // received data reduced and passed on (kept or not)
    Bandwidth receive;     // received data copied out (reduced or not)
  };
  Protocol simple, ll, ll128;
  Time p2p_base;              // grouped send/recv kernel
  Bandwidth p2p_send;         // per channel
  Bandwidth link;             // achievable NVLink rate per GPU and direction
  Time nvls_base;             // multicast kernels
  Time nvls_step;             // one chunk through the switch
  Bandwidth nvls;             // per GPU: multicast write and in-switch reduce together
  Time net_step;              // proxy: post a chunk, see its completion
  double net_efficiency = 0;  // share of a NIC's line rate that NCCL's proxy reaches
};

struct GpuSpec {
  std::string name;          // "a100-sxm-80g"
  std::string architecture;  // "ampere"
  int compute_capability = 0;  // 80, 90, ...
  int sms = 0;
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
  std::string file_name;  // where it was read from
  std::string file_text;  // the whole file: compute-sim reads the kernel model from it
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_GPU_H_
