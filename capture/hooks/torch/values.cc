#include "capture/hooks/torch/values.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <mutex>
#include <optional>
#include <unordered_set>

#include "capture/hackcuda/device/hooks.h"

namespace drydock::torch_hooks {
namespace {

// Above these sizes a tensor is large. Integers are indices and counts, which decide shapes.
constexpr size_t kSmall = size_t{64} << 10;
constexpr size_t kSmallIntegers = size_t{16} << 20;

constexpr uint64_t kSeed = 1;

// Where unknown values lie. Never destroyed.
struct Unknown {
  std::mutex mutex;
  std::unordered_set<const void*> places;
};
Unknown& All() {
  static Unknown& unknown = *new Unknown;
  return unknown;
}
bool IsUnknown(const at::Tensor& tensor) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  return All().places.count(tensor.const_data_ptr()) != 0;
}
void SetUnknown(const at::Tensor& tensor, bool is_unknown) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  if (is_unknown) {
    All().places.insert(tensor.const_data_ptr());
  } else {
    All().places.erase(tensor.const_data_ptr());
  }
}

// Bytes from the first element to the end of the last.
size_t Span(const at::Tensor& tensor) {
  size_t last = 0;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) == 0) return 0;
    last += static_cast<size_t>(tensor.size(i) - 1) * static_cast<size_t>(tensor.stride(i));
  }
  return (last + 1) * tensor.element_size();
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

struct Sizes {
  bool are_small = true, are_known = true;
};
Sizes SizesOf(c10::ArrayRef<const c10::IValue> values) {
  Sizes sizes;
  for (const c10::IValue& value : values) {
    ForEachTensor(value, [&sizes](const at::Tensor& tensor) {
      sizes.are_small &= IsSmall(tensor);
      if (tensor.is_cuda()) sizes.are_known &= !IsUnknown(tensor);
    });
  }
  return sizes;
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
  int64_t count = 0;
  if (!inputs.empty() && inputs[0].isTensor() && inputs[0].toTensor().is_sparse()) {
    hackcuda_answer(inputs[0].toTensor()._nnz());  // as if no index came twice
    return;
  }
  const Sizes sizes = SizesOf(inputs);
  if (op.handle != nullptr && sizes.are_small && sizes.are_known && ArePlain(inputs) &&
      AreOnGpu(inputs)) {
    if (const auto found = Run(op, inputs); found && found->front().isTensor()) {
      const at::Tensor& result = found->front().toTensor();
      count = (result.dim() > 0 ? result.size(0) : 0) + op.count_offset;
    }
  }
  hackcuda_answer(count);
}

void Compute(const Operator& op, c10::ArrayRef<const c10::IValue> inputs,
             c10::ArrayRef<const c10::IValue> outputs) {
  const at::DisableRecordFunctionGuard unobserved;
  const Sizes in = SizesOf(inputs), out = SizesOf(outputs);
  const bool computes = in.are_small && out.are_small;
  const auto results = computes ? Run(op, inputs) : std::nullopt;
  const bool are_known = results && in.are_known;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<at::Tensor> found;
    if (results && i < results->size()) {
      ForEachTensor((*results)[i], [&found](const at::Tensor& tensor) { found.push_back(tensor); });
    }
    size_t number = 0;
    ForEachTensor(outputs[i], [&](const at::Tensor& tensor) {
      const size_t own = number++;
      if (!tensor.is_cuda() || tensor.numel() == 0) return;
      SetUnknown(tensor, !are_known && tensor.is_floating_point());
      if (!IsSmall(tensor)) return;
      const at::Tensor target = OnCpu(tensor);
      if (own < found.size() && found[own].sizes() == tensor.sizes()) {
        if (found[own].const_data_ptr() != target.const_data_ptr()) target.copy_(found[own]);
      } else if (!results) {
        target.zero_();
      }
      if (!are_known) MakeFinite(target);
      if (!are_known && op.picks && tensor.scalar_type() == at::kLong && inputs[0].isTensor()) {
        const at::Tensor& from = inputs[0].toTensor();
        PickAll(tensor, from.dim() > 0 ? from.size(-1) : 1);
      }
    });
  }
}

}  // namespace drydock::torch_hooks
