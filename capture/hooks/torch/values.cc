#include "capture/hooks/torch/values.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <optional>
#include <string>

#include "capture/hackcuda/device/hooks.h"

namespace drydock::torch_hooks {
namespace {

// Above these sizes a tensor is large. Integers are indices and counts, which decide shapes.
constexpr size_t kSmall = size_t{64} << 10;
constexpr size_t kSmallIntegers = size_t{16} << 20;

constexpr uint64_t kSeed = 1;

// Bytes from the first element to the end of the last.
size_t Span(const at::Tensor& tensor) {
  size_t last = 0;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) == 0) return 0;
    last += static_cast<size_t>(tensor.size(i) - 1) * static_cast<size_t>(tensor.stride(i));
  }
  return (last + 1) * tensor.element_size();
}

// Calls `visit(address, bytes)` for each part of the tensor that has no gaps. A tensor of very many
// parts counts as one.
template <typename Visit>
void ForEachPart(const at::Tensor& tensor, const Visit& visit) {
  constexpr int64_t kMostParts = 1 << 14;
  if (tensor.numel() == 0) return;
  const auto* begin = static_cast<const char*>(tensor.const_data_ptr());
  if (tensor.is_non_overlapping_and_dense()) return visit(begin, tensor.nbytes());
  const auto element = static_cast<int64_t>(tensor.element_size());
  int64_t inner = 1;  // elements of a part
  int64_t dims = tensor.dim();
  while (dims > 0 && (tensor.stride(dims - 1) == inner || tensor.size(dims - 1) == 1)) {
    inner *= tensor.size(--dims);
  }
  if (tensor.numel() / inner > kMostParts) return visit(begin, Span(tensor));
  std::vector<int64_t> at(static_cast<size_t>(dims));
  while (true) {
    int64_t offset = 0;
    for (int64_t i = 0; i < dims; ++i) offset += at[static_cast<size_t>(i)] * tensor.stride(i);
    visit(begin + offset * element, static_cast<size_t>(inner * element));
    int64_t next = dims - 1;
    while (next >= 0 && ++at[static_cast<size_t>(next)] == tensor.size(next)) {
      at[static_cast<size_t>(next--)] = 0;
    }
    if (next < 0) return;
  }
}

constexpr int64_t kNoOrigin = -1;

void SetKnowledge(const at::Tensor& tensor, int knowledge, int64_t origin) {
  ForEachPart(tensor, [&](const void* at, size_t bytes) {
    hackcuda_set_values(at, bytes, knowledge, knowledge == HACKCUDA_COMPUTED ? kNoOrigin : origin);
  });
}

bool IsSmall(const at::Tensor& tensor) {
  const bool is_inexact = tensor.is_floating_point() || tensor.is_complex();
  return Span(tensor) <= (is_inexact ? kSmall : kSmallIntegers);
}

// The same memory as a tensor of the CPU.
at::Tensor OnCpu(const at::Tensor& tensor) {
  if (!tensor.is_cuda()) return tensor;
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(),
                       at::TensorOptions().dtype(tensor.dtype()).device(at::kCPU));
}

// Calls `visit` for each tensor of a value, also of those in lists.
template <typename Visit>
void ForEachTensor(const c10::IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) {
      if (tensor.defined()) visit(tensor);
    }
  } else if (value.isOptionalTensorList()) {
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      if (tensor && tensor->defined()) visit(*tensor);
    }
  }
}

c10::IValue OnCpu(const c10::IValue& value, const c10::Argument& argument) {
  if (value.isTensor()) return value.toTensor().defined() ? OnCpu(value.toTensor()) : value;
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(OnCpu(tensor));
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      list.push_back(tensor && tensor->defined() ? std::optional<at::Tensor>(OnCpu(*tensor))
                                                 : std::nullopt);
    }
    return list;
  }
  if (value.isDevice()) return c10::Device(c10::kCPU);
  if (argument.name() == "pin_memory") return false;
  if (argument.name() == "generator") {
    thread_local at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(kSeed);
    return generator;
  }
  return value;
}

// Some kernels of the CPU, such as the one of histc, take fewer types than those of a GPU.
c10::IValue InDouble(const c10::IValue& value) {
  const auto convert = [](const at::Tensor& tensor) {
    return tensor.defined() && tensor.scalar_type() != at::kBool && !tensor.is_complex()
               ? tensor.to(at::kDouble)
               : tensor;
  };
  if (value.isTensor()) return convert(value.toTensor());
  if (!value.isTensorList()) return value;
  c10::List<at::Tensor> list;
  for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(convert(tensor));
  return list;
}

// Runs the CPU's kernel. Returns nothing if it has none, or does not take these inputs.
std::optional<std::vector<c10::IValue>> Run(const Operator& op,
                                            c10::ArrayRef<const c10::IValue> inputs) {
  const std::vector<c10::Argument>& arguments = op.handle->schema().arguments();
  if (arguments.size() != inputs.size()) return std::nullopt;
  const at::DisableRecordFunctionGuard unobserved;
  const at::AutoDispatchBelowADInplaceOrView without_gradients;
  const c10::impl::ExcludeDispatchKeyGuard without_modes(
      c10::DispatchKeySet({c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot,
                           c10::DispatchKey::PythonDispatcher, c10::DispatchKey::AutocastCPU,
                           c10::DispatchKey::AutocastCUDA, c10::DispatchKey::Functionalize}));
  for (const bool in_double : {false, true}) {
    try {
      std::vector<c10::IValue> stack;
      for (size_t i = 0; i < inputs.size(); ++i) {
        const c10::IValue value = OnCpu(inputs[i], arguments[i]);
        stack.push_back(in_double ? InDouble(value) : value);
      }
      op.handle->redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
      return stack;
    } catch (const std::exception&) {
    }
  }
  return std::nullopt;
}

// What is known of the values that an operator depends on.
struct Inputs {
  bool are_small = true;
  int knowledge = HACKCUDA_COMPUTED;  // of the least known
  int64_t origin = kNoOrigin;         // of these
  // The first that is large, or, without one, the first of the least known.
  at::Tensor cause;
};
Inputs InputsOf(const Operator& op, c10::ArrayRef<const c10::IValue> values) {
  Inputs inputs;
  if (op.takes_shapes) return inputs;
  const std::vector<c10::Argument>& arguments = op.handle->schema().arguments();
  for (size_t i = op.overwrites ? 1 : 0; i < values.size(); ++i) {
    if (i < arguments.size() && arguments[i].is_out()) continue;
    ForEachTensor(values[i], [&inputs](const at::Tensor& tensor) {
      if (!IsSmall(tensor)) {
        if (inputs.are_small) inputs.cause = tensor;
        inputs.are_small = false;
      } else if (tensor.is_cuda()) {
        ForEachPart(tensor, [&](const void* at, size_t bytes) {
          int64_t origin = kNoOrigin;
          const int knowledge = hackcuda_values(at, bytes, &origin);
          if (knowledge <= inputs.knowledge) return;
          inputs.knowledge = knowledge;
          inputs.origin = origin;
          if (inputs.are_small) inputs.cause = tensor;
        });
      }
    });
  }
  return inputs;
}

// The number of "aten::nll_loss_forward of Float[8192,32000]": the operator that makes unknown
// values, or, if it only passes them on, the one that made them.
int64_t OriginOf(const Operator& op, const Inputs& inputs, bool passes_on) {
  if (passes_on && inputs.origin != kNoOrigin) return inputs.origin;
  std::string text = op.name;
  if (inputs.cause.defined()) {
    text += std::string(" of ") + c10::toString(inputs.cause.scalar_type()) + '[';
    for (int64_t i = 0; i < inputs.cause.dim(); ++i) {
      if (i > 0) text += ',';
      text += std::to_string(inputs.cause.size(i));
    }
    text += ']';
  }
  return hackcuda_name(text.data(), text.size());
}

// The tensors that an operator writes but does not return.
std::vector<at::Tensor> Written(const Operator& op, c10::ArrayRef<const c10::IValue> inputs,
                                c10::ArrayRef<const c10::IValue> outputs) {
  std::vector<at::Tensor> written;
  const std::vector<c10::Argument>& arguments = op.handle->schema().arguments();
  for (size_t i = 0; i < inputs.size() && i < arguments.size(); ++i) {
    if (arguments[i].alias_info() == nullptr || !arguments[i].alias_info()->isWrite()) continue;
    ForEachTensor(inputs[i], [&written](const at::Tensor& tensor) { written.push_back(tensor); });
  }
  for (const c10::IValue& output : outputs) {
    ForEachTensor(output, [&written](const at::Tensor& returned) {
      written.erase(std::remove_if(written.begin(), written.end(),
                                   [&](const at::Tensor& own) { return own.is_same(returned); }),
                    written.end());
    });
  }
  return written;
}

bool AreSmall(c10::ArrayRef<const c10::IValue> values) {
  bool are_small = true;
  for (const c10::IValue& value : values) {
    ForEachTensor(value, [&are_small](const at::Tensor& tensor) { are_small &= IsSmall(tensor); });
  }
  return are_small;
}

// Zeros that stand for unknown values may give others that no healthy program has: log(0), 0 / 0.
void MakeFinite(const at::Tensor& tensor) {
  const at::ScalarType type = tensor.scalar_type();
  if (type == at::kFloat || type == at::kDouble || type == at::kHalf || type == at::kBFloat16) {
    tensor.nan_to_num_(0, 0, 0);
  }
}

// Every place as often as the others.
void PickAll(const at::Tensor& picks, int64_t places) {
  at::Tensor own = OnCpu(picks);
  own.copy_(at::arange(own.numel(), own.options())
                .remainder(std::max<int64_t>(places, 1))
                .view(own.sizes()));
}

}  // namespace

bool ArePlain(c10::ArrayRef<const c10::IValue> values) {
  bool are_plain = true;
  for (const c10::IValue& value : values) {
    ForEachTensor(value, [&are_plain](const at::Tensor& tensor) {
      const c10::DispatchKeySet keys = tensor.key_set();
      are_plain &= tensor.layout() == at::kStrided && !tensor.is_meta() && !tensor.is_conj() &&
                   !tensor.is_neg() && !keys.has(c10::DispatchKey::Python) &&
                   !keys.has(c10::DispatchKey::Functionalize);
    });
  }
  return are_plain;
}

bool AreOnGpu(c10::ArrayRef<const c10::IValue> values) {
  bool on_gpu = false;
  for (const c10::IValue& value : values) {
    ForEachTensor(value, [&on_gpu](const at::Tensor& tensor) { on_gpu |= tensor.is_cuda(); });
  }
  return on_gpu;
}

void AnswerCount(const Operator& op, c10::ArrayRef<const c10::IValue> inputs) {
  if (!inputs.empty() && inputs[0].isTensor() && inputs[0].toTensor().is_sparse()) {
    // As if no index came twice.
    return hackcuda_answer(inputs[0].toTensor()._nnz(), HACKCUDA_ASSUMED, op.number);
  }
  const Inputs in = InputsOf(op, inputs);
  if (op.computes && in.are_small && in.knowledge != HACKCUDA_UNKNOWN && ArePlain(inputs) &&
      AreOnGpu(inputs)) {
    if (const auto found = Run(op, inputs); found && found->front().isTensor()) {
      const at::Tensor& result = found->front().toTensor();
      hackcuda_answer((result.dim() > 0 ? result.size(0) : 0) + op.count_offset, in.knowledge,
                      in.origin);
      return;
    }
  }
  hackcuda_answer(0, HACKCUDA_UNKNOWN, OriginOf(op, in, false));
}

void Compute(const Operator& op, c10::ArrayRef<const c10::IValue> inputs,
             c10::ArrayRef<const c10::IValue> outputs) {
  const at::DisableRecordFunctionGuard unobserved;
  const Inputs in = InputsOf(op, inputs);
  const auto results = in.are_small && AreSmall(outputs) ? Run(op, inputs) : std::nullopt;
  const bool are_unknown = !results || in.knowledge == HACKCUDA_UNKNOWN;
  const int knowledge = results ? in.knowledge : HACKCUDA_UNKNOWN;
  int64_t origin = kNoOrigin;
  const auto set_knowledge = [&](const at::Tensor& tensor) {
    if (!IsSmall(tensor) && op.makes_zeros && tensor.is_non_overlapping_and_dense()) {
      return hackcuda_clear(tensor.data_ptr(), tensor.nbytes());
    }
    // Counts and choices are balanced, and decide shapes: what follows from them is computed.
    const bool is_inexact = tensor.is_floating_point() || tensor.is_complex();
    const int own = is_inexact ? knowledge : std::min<int>(knowledge, HACKCUDA_ASSUMED);
    // The name is enough for what is large: there is much of it, and few of its values are read.
    if (own == HACKCUDA_COMPUTED || !IsSmall(tensor)) return SetKnowledge(tensor, own, op.number);
    if (origin == kNoOrigin) origin = OriginOf(op, in, results.has_value());
    SetKnowledge(tensor, own, origin);
  };
  for (const at::Tensor& tensor : Written(op, inputs, outputs)) {
    if (tensor.is_cuda()) set_knowledge(tensor);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<at::Tensor> found;
    if (results && i < results->size()) {
      ForEachTensor((*results)[i], [&found](const at::Tensor& tensor) { found.push_back(tensor); });
    }
    size_t number = 0;
    ForEachTensor(outputs[i], [&](const at::Tensor& tensor) {
      const size_t own = number++;
      if (!tensor.is_cuda() || tensor.numel() == 0) return;
      set_knowledge(tensor);
      if (!IsSmall(tensor)) return;
      const at::Tensor target = OnCpu(tensor);
      if (own < found.size() && found[own].sizes() == tensor.sizes()) {
        if (found[own].const_data_ptr() != target.const_data_ptr()) target.copy_(found[own]);
      } else if (!results) {
        target.zero_();
      }
      if (are_unknown) MakeFinite(target);
      if (are_unknown && op.picks && tensor.scalar_type() == at::kLong && inputs[0].isTensor()) {
        const at::Tensor& from = inputs[0].toTensor();
        PickAll(tensor, from.dim() > 0 ? from.size(-1) : 1);
      }
    });
  }
}

void ComputeCopies(c10::ArrayRef<const c10::IValue> inputs) {
  static const Operator& copy = OperatorOf({"aten::copy_", ""});
  const std::vector<at::Tensor> to = inputs[0].toTensorVector(), from = inputs[1].toTensorVector();
  for (size_t i = 0; i < std::min(to.size(), from.size()); ++i) {
    const c10::IValue one[] = {to[i], from[i], false};
    Compute(copy, one, {one, 1});
  }
}

void MakeUnknown(const Operator& op, c10::ArrayRef<const c10::IValue> inputs,
                 c10::ArrayRef<const c10::IValue> outputs) {
  const int64_t origin = op.number;
  std::vector<at::Tensor> all = Written(op, inputs, {});
  for (const c10::IValue& output : outputs) {
    ForEachTensor(output, [&all](const at::Tensor& tensor) { all.push_back(tensor); });
  }
  for (const at::Tensor& tensor : all) {
    if (!tensor.is_cuda()) continue;
    ForEachPart(tensor, [origin](const void* at, size_t bytes) {
      hackcuda_forget(const_cast<void*>(at), bytes, origin);
    });
  }
}

}  // namespace drydock::torch_hooks
