// The ranges that surround the GPU's work in a log: operators of PyTorch with their tensors, nodes
// of autograd, scopes and modules of the program. hooks/torch/observer.cc writes them as text.
#ifndef DRYDOCK_CAPTURE_KERNELS_OPERATOR_H_
#define DRYDOCK_CAPTURE_KERNELS_OPERATOR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/gpu.h"

namespace drydock::capture {

struct TensorShape {
  DataType type = DataType::kUint8;  // the nearest: a bool is a byte
  int64_t element_bytes = 0;
  bool on_host = false;
  std::vector<int64_t> sizes, strides;  // no strides: contiguous

  int64_t elements() const;
  // That lie in memory: a dimension without a stride repeats the same ones.
  int64_t stored() const;
  Bytes bytes() const { return Bytes(stored() * element_bytes); }
};

// An argument or result.
struct OperatorValue {
  enum class Kind : uint8_t { kOther, kTensor, kTensors, kNumber, kBool, kNumbers, kText };
  Kind kind = Kind::kOther;
  std::vector<TensorShape> tensors;  // one, or those of a list
  double number = 0;                 // also of a bool
  std::vector<int64_t> numbers;
  std::string text;

  bool is_tensor() const { return kind == Kind::kTensor; }
  Bytes bytes() const;  // of its tensors on the GPU
};
using OperatorValues = std::vector<OperatorValue>;

enum class RangeKind : uint8_t { kOperator, kBackward, kScope, kModule };

struct OperatorRange {
  RangeKind kind = RangeKind::kOperator;
  std::string name;  // "aten::mm", "MmBackward0", "Optimizer.step#AdamW.step"
  OperatorValues arguments;
  // Joins an operator and its node of autograd; -1: no gradients.
  int64_t sequence = -1;
  // Modules: "0:layers.3.mlp" is a part of the root 0.
  int root = -1;
  std::string path, type;
  int layer = -1;  // -1: outside layers
};

// Reads what begin-op and end-op have. Takes any text: what it does not understand is kOther.
OperatorRange ParseRange(std::string_view text);
OperatorValues ParseValues(std::string_view text);

// Returns the first tensor of the GPU in values from `from` on, or null.
const TensorShape* FirstTensor(const OperatorValues& values, size_t from = 0);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_KERNELS_OPERATOR_H_
