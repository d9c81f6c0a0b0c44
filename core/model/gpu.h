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
  kUint64,
  // Formats of the operands of products. An operand carries the scales of its blocks. Messages
  // carry these operands as bytes.
  kFp8Block,  // e4m3 with an fp32 scale for 128 elements
  kMxfp8,     // e4m3 with a scale of one byte for 32 elements
  kNvfp4      // e2m1 with a scale of one byte for 16 elements
};
inline constexpr int kDataTypeCount = 16;
inline constexpr int kMessageTypeCount = 13;  // the first of them; calls have these

const std::vector<std::string>& DataTypeNames();  // "fp32", "tf32", ... in enum order
const std::vector<std::string>& MessageTypeNames();
std::string_view ToString(DataType type);
// REQUIRES: type is one of the first kMessageTypeCount.
Bytes SizeOf(DataType type);
// The bytes of an element of an operand, with its share of the scales.
double OperandBytes(DataType type);
// True for the types of 8 and fewer bits to which operands of products are quantized.
bool IsQuantized(DataType type);

// What NCCL kernels cost inside a host, beyond the bytes on the link. One set per GPU generation,
// with its source in the GPU's file. How exec-engine uses each value:
// docs/explanation/collectives.md.
struct CollectiveCosts {
  // One kind of kernel. Rates are per channel (one thread block), at the usual number of warps.
  struct Protocol {
    Time base;              // kernel start to first step, and last step to end, together
    Time base_per_warp;     // in addition to `base`, for each warp of a channel
    Time step;              // each primitive: synchronization with its neighbors
    Bytes pass;             // what a warp moves at once; 0: rates apply in place of passes
    Time pass_time;         // each pass of a channel's warps, except the first of a slice
    Time pass_store;        // each pass of a primitive that also stores locally
    Bandwidth send;         // local buffer -> peer
    Bandwidth copy_send;    // data stored locally and sent on
    Bandwidth reduce_send;  // received data reduced and sent on (stored or not)
    Bandwidth receive;      // received data stored locally (reduced or not)
    Time net_slice;         // each slice that the thread block exchanges with a proxy
    Time proxy;             // a proxy sees a slice and acts on it: once at each end of a net hop
    Time hop;  // inside a host, in addition to the link's latency, until a peer sees it
    bool operator==(const Protocol&) const = default;
  };
  Protocol simple, ll, ll128;
  Protocol nvls;                // multicast kernels
  Protocol nvls_registered;     // multicast kernels on registered buffers
  Protocol p2p_simple, p2p_ll;  // send/recv kernels
  // Transfers without NCCL, which a GPU's file may omit: messages by copy engines, and Transformer
  // Engine's kernels, whose channels are SMs.
  Protocol copy_engine, userbuffers;
  double link_efficiency = 0;  // reachable share of the scale-up bandwidth, each direction
  double several_peers = 1;    // factor of this share while several peers send to one GPU
  Bytes clear_to_send;         // size of the message by which a receiver says that a slot is free
  std::string source;
  bool operator==(const CollectiveCosts&) const = default;
};

struct GpuSpec {
  std::string name;            // "a100-sxm-80g"
  std::string architecture;    // "ampere"
  int compute_capability = 0;  // 80, 90, ...
  int sms = 0;
  int clock_mhz = 0;  // at which the dense rates are stated; 0: the source does not state it
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

  // As documents name it: "gpus/h100-sxm-80g.yaml".
  std::string file() const { return "gpus/" + file_name.substr(file_name.rfind('/') + 1); }

  // The dense rate of products of the type. Fp8 with scales of blocks has the rate of fp8.
  FlopRate RateOf(DataType type) const {
    return dense_rate[static_cast<size_t>(type == DataType::kFp8Block ? DataType::kFp8 : type)];
  }
  // True if products take fp8 operands with one scale for a tensor in any layout, so that no kernel
  // has to transpose an operand for the products of the gradients (Transformer Engine,
  // nvte_is_non_tn_fp8_gemm_supported).
  bool takes_any_fp8_layout() const {
    return (compute_capability >= 100 && compute_capability < 120) || compute_capability >= 130;
  }
  bool operator==(const GpuSpec&) const = default;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_GPU_H_
