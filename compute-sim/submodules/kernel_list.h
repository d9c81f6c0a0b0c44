// The kernels of one submodule while they are listed, and the functions that list them: one for
// each kind of submodule.
#ifndef DRYDOCK_COMPUTE_SIM_SUBMODULES_KERNEL_LIST_H_
#define DRYDOCK_COMPUTE_SIM_SUBMODULES_KERNEL_LIST_H_

#include <vector>

#include "compute-sim/kernel/kernel.h"
#include "compute-sim/submodules/kernel_assumptions.h"
#include "compute-sim/submodules/submodule_kernels.h"
#include "core/model/submodule.h"

namespace drydock {

struct KernelList {
  KernelList(const Submodule& submodule, const KernelAssumptions& kernel_assumptions,
             Fp8Layouts fp8_layouts)
      : assumptions(kernel_assumptions),
        layouts(fp8_layouts),
        pass(submodule.pass),
        gemm_type(submodule.type),
        type(IsQuantized(submodule.type) ? DataType::kBf16 : submodule.type),
        e(OperandBytes(type)) {}

  void Add(Kernel kernel) { kernels.push_back(kernel); }
  // A memory-bound kernel that moves what its kind usually moves (UsualBytesPerElement).
  void Memory(KernelKind kind, int64_t rows, int64_t columns) {
    kernels.push_back(UsualMemoryKernel(kind, type, rows, columns));
  }
  // The same kernel on fp32 elements.
  void Fp32(KernelKind kind, int64_t rows, int64_t columns) {
    Memory(kind, rows, columns, *UsualBytesPerElement(kind, DataType::kFp32));
  }
  // `bytes`: per element of rows x columns, all operands together.
  void Memory(KernelKind kind, int64_t rows, int64_t columns, double bytes) {
    kernels.push_back(MemoryKernel(kind, type, rows, columns, bytes));
  }
  // What the kernel listed last does besides: its traffic, and no launch of its own.
  void Epilogue(KernelKind kind, int64_t rows, int64_t columns, double bytes) {
    Memory(kind, rows, columns, bytes);
    kernels.back().launches = 0;
  }
  // Quantizes 16 bits to the type of the GEMMs. `searched`: finds the largest value first.
  // `transpose`: along both dimensions, for the GEMMs of both gradients, if these need it.
  void Quantize(int64_t rows, int64_t columns, bool searched, bool transpose = true);
  // Turns an operand that other kernels quantized along its rows alone, for the weight's gradient.
  // Both directions of MXFP8 arrive; only their scales are brought into the order of the GEMM.
  void Turn(int64_t rows, int64_t columns);

  // `count` operators of PyTorch, each a kernel that reads and writes rows x columns.
  void Operators(int count, int64_t rows, int64_t columns) {
    Kernel kernel = UsualMemoryKernel(KernelKind::kElementwise, type, rows, columns);
    kernel.bytes *= count;
    kernel.launches = count;
    kernels.push_back(kernel);
  }
  // Launches the last `count` kernels once for each expert.
  void Loop(int64_t experts, size_t count) {
    for (size_t i = kernels.size() - count; i < kernels.size(); ++i) {
      kernels[i].looped = static_cast<int>(experts) - 1;
    }
  }

  bool forward() const { return pass == Pass::kForward; }
  // The pass computes the gradient of the input; kBackward computes both gradients.
  bool activation_gradient() const {
    return pass == Pass::kBackward || pass == Pass::kBackwardActivation;
  }
  bool weight_gradient() const { return pass == Pass::kBackward || pass == Pass::kBackwardWeight; }

  // True if the products of the gradients need operands of the type in a second copy. Blocks of
  // scales follow the inner dimension of a product, so they differ between both copies.
  bool NeedsTranspose(DataType operand) const {
    return operand != DataType::kFp8 || layouts == Fp8Layouts::kOne;
  }

  const KernelAssumptions& assumptions;
  const Fp8Layouts layouts;
  Pass pass;
  DataType gemm_type;  // of the GEMMs of linear layers
  DataType type;       // of all other kernels: bf16 if the GEMMs are quantized
  double e;            // bytes of an element of `type`
  std::vector<Kernel> kernels;
};

// Bytes of an element of the main gradient that a weight's gradient is added into; 0: none.
template <typename Linear>
int64_t MainGradientElement(const Linear& linear) {
  return linear.accumulate_fp32 ? 4 : linear.accumulate_half ? 2 : 0;
}
// As Transformer Engine and torchao run a GEMM of the backward pass
// (docs/reference/submodules.md).
inline Kernel OfBackward(Kernel gemm) {
  gemm.promoted = gemm.type == DataType::kFp8;
  return gemm;
}

// submodule_kernels.cc
void ListKernels(const submodule::Linear& s, KernelList* list);
void ListKernels(const submodule::Attention& s, KernelList* list);
void ListKernels(const submodule::Norm& s, KernelList* list);
void ListKernels(const submodule::BiasDropoutAdd& s, KernelList* list);
void ListKernels(const submodule::Activation& s, KernelList* list);
void ListKernels(const submodule::Rotary& s, KernelList* list);
void ListKernels(const submodule::Embedding& s, KernelList* list);
void ListKernels(const submodule::CrossEntropy& s, KernelList* list);
void ListKernels(const submodule::Optimizer& s, KernelList* list);
void ListKernels(const submodule::GradientScale& s, KernelList* list);
void ListKernels(const submodule::GradientNorm& s, KernelList* list);
void ListKernels(const submodule::ZeroCount& s, KernelList* list);
void ListKernels(const submodule::Cast& s, KernelList* list);
void ListKernels(const submodule::Add& s, KernelList* list);
void ListKernels(const submodule::Quantize& s, KernelList* list);
// expert_kernels.cc
void ListKernels(const submodule::Router& s, KernelList* list);
void ListKernels(const submodule::TopK& s, KernelList* list);
void ListKernels(const submodule::Permute& s, KernelList* list);
void ListKernels(const submodule::Unpermute& s, KernelList* list);
void ListKernels(const submodule::GroupedLinear& s, KernelList* list);
// state_space_kernels.cc
void ListKernels(const submodule::StateSpace& s, KernelList* list);
// delta_rule_kernels.cc
void ListKernels(const submodule::DeltaRule& s, KernelList* list);
// sparse_kernels.cc
void ListKernels(const submodule::SparseIndex& s, KernelList* list);
void ListKernels(const submodule::SparseTarget& s, KernelList* list);
void ListKernels(const submodule::SparseAttention& s, KernelList* list);
// An imported workload states the time or the costs of these, so they have no kernels.
inline void ListKernels(const submodule::FixedDuration&, KernelList*) {}
inline void ListKernels(const submodule::FlopsAndBytes&, KernelList*) {}

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_SUBMODULES_KERNEL_LIST_H_
