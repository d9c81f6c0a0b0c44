// The kernels of one submodule while they are put together, and what the files that do so share.
#ifndef DRYDOCK_COMPUTE_SIM_KERNEL_KERNEL_LIST_H_
#define DRYDOCK_COMPUTE_SIM_KERNEL_KERNEL_LIST_H_

#include <vector>

#include "compute-sim/kernel/kernel.h"
#include "core/model/workload.h"

namespace drydock {

// `e` is the size of an element. fp8 changes how the products of linear layers run; everything
// around them stays in 16 bits, which is `type`.
struct KernelList {
  explicit KernelList(const Submodule& submodule)
      : type(submodule.type == DataType::kFp8 ? DataType::kBf16 : submodule.type),
        e(static_cast<double>(SizeOf(type).count())) {}

  void Add(Kernel kernel) { kernels.push_back(kernel); }
  // bytes: per element of rows x columns, all operands together.
  void Memory(KernelKind kind, int64_t rows, int64_t columns, double bytes) {
    kernels.push_back(MemoryKernel(kind, type, rows, columns, bytes));
  }

  DataType type;
  double e;
  std::vector<Kernel> kernels;
};

// Bytes of an element of the main gradient that a weight's gradient is added into; 0: into none.
inline int64_t MainGradientElement(const Submodule& s) {
  return s.accumulate_fp32 ? 4 : s.accumulate_half ? 2 : 0;
}
// As Transformer Engine and torchao run a product of the backward pass
// (docs/reference/submodules.md).
inline Kernel OfBackward(Kernel product) {
  product.promoted = product.type == DataType::kFp8;
  return product;
}

inline bool Is(const Submodule& s, Pass pass) { return s.pass == pass; }
inline bool IsForward(const Submodule& s) { return Is(s, Pass::kForward); }
// 16-bit read; fp8 and its transpose written.
inline constexpr double kQuantiseBytes = 4;
inline constexpr double kUnturnedBytes = 3;  // without the transpose
inline constexpr double kTurnBytes = 2;      // fp8 read and written, transposed

// A layer of experts, and quantisation on its own (expert_kernels.cc).
void RouterKernels(const Submodule& s, KernelList* list);
void TopKKernels(const Submodule& s, KernelList* list);
void PermuteKernels(const Submodule& s, KernelList* list);
void UnpermuteKernels(const Submodule& s, KernelList* list);
void GroupedLinearKernels(const Submodule& s, KernelList* list);
void QuantiseKernels(const Submodule& s, KernelList* list);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_KERNEL_KERNEL_LIST_H_
