// What compute-sim shall time for the GPU's work of a captured program.
//
// Products, fused attention, norms, embeddings and Adam have submodules of their own. Products of
// types that no model of kernels knows (fp64, complex numbers, integers) are FlopsAndBytes. All else
// is memory traffic: a kernel reads the inputs of its operator and writes its outputs, once.
// Nothing is counted twice: a submodule stands for exactly the launches of its operator.
#ifndef DRYDOCK_CAPTURE_KERNELS_SUBMODULES_H_
#define DRYDOCK_CAPTURE_KERNELS_SUBMODULES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/kernels/operator.h"
#include "core/model/submodule.h"

namespace drydock::capture {

// A product of cuBLAS: column-major matrices, types by cudaDataType, as in the log
// (hackcuda/products/product.h).
struct LoggedProduct {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  bool transpose_a = false, transpose_b = false;
  int type_a = 0, type_b = 0, type_d = 0;
  int compute = 0, epilogue = 1, scales = 0;
};
// Reads the words of a kProduct entry.
LoggedProduct ProductOf(std::span<const int64_t> words);

// `is_backward`: a node of autograd computes it, and does not repeat the forward pass. A product of
// a batch is a grouped linear in one kernel. Its name is empty. REQUIRES: no extent is 0.
Submodule ProductSubmodule(const LoggedProduct& product, bool is_backward);

// Reads the words of a kAttention entry: fused attention of cuDNN's.
Submodule LoggedAttention(std::span<const int64_t> words);
// Reads the words of a kConvolution entry. A convolution is the product that its kernel computes
// implicitly, or traffic if its groups are too narrow for tensor cores.
Submodule LoggedConvolution(std::span<const int64_t> words);

// True for operators whose kernels are known as a whole.
bool IsKnownOperator(std::string_view name);
// Returns the submodules that stand for all launches of a known operator, in order, without names;
// none if the operator has arguments that are not understood.
std::vector<Submodule> KnownSubmodules(const OperatorRange& range);

// Returns which library's kernels an operator of fused attention runs
// (core/model/attention_backend.h), or null for another operator.
const char* AttentionBackendOf(std::string_view name);

// What all launches of an operator read and write.
Bytes TrafficOf(const OperatorRange& range, const OperatorValues& outputs);
// Deals an operator's traffic out to its launches, of which `blocks` has the thread blocks. Where
// several tensors are worked on, each launch has its part. Otherwise each launch of the largest
// grid goes over all tensors.
std::vector<Bytes> DealOut(const OperatorRange& range, Bytes traffic,
                           std::span<const int64_t> blocks);
// A kernel that moves this many bytes; of none, it only starts.
Submodule TrafficSubmodule(Bytes traffic, bool is_backward);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_KERNELS_SUBMODULES_H_
