// Tells libhackcuda which operator of PyTorch a kernel belongs to, with the types and shapes of its
// tensors, and lets small values be computed. Loaded into the program after PyTorch. It stands
// behind the dispatcher, where neither torch.compile nor a mode of the program sees it.
#include <ATen/record_function.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "capture/hackcuda/device/hooks.h"
#include "capture/hooks/torch/operators.h"
#include "capture/hooks/torch/values.h"

namespace drydock::torch_hooks {
namespace {

// "BFloat16[512,1024:1,512]": strides where a tensor is not contiguous.
void AppendTensor(const at::Tensor& tensor, std::string* text) {
  *text += c10::toString(tensor.scalar_type());
  *text += tensor.is_cuda() ? "[" : "@host[";
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    if (i > 0) *text += ',';
    *text += std::to_string(tensor.size(i));
  }
  if (!tensor.is_contiguous()) {
    for (int64_t i = 0; i < tensor.dim(); ++i) {
      *text += i > 0 ? ',' : ':';
      *text += std::to_string(tensor.stride(i));
    }
  }
  *text += ']';
}

bool IsPlain(const at::Tensor& tensor) {
  return tensor.defined() && tensor.layout() == at::kStrided &&
         !tensor.key_set().has(c10::DispatchKey::Python) && !tensor.is_meta();
}

// "(BFloat16[512,512],BFloat16[512,1024],false,0.1,[1,2])"
void AppendValues(c10::ArrayRef<const c10::IValue> values, std::string* text) {
  *text += '(';
  bool is_first = true;
  for (const c10::IValue& value : values) {
    if (!is_first) *text += ',';
    is_first = false;
    if (value.isTensor()) {
      if (IsPlain(value.toTensor())) AppendTensor(value.toTensor(), text);
    } else if (value.isTensorList()) {
      *text += '{';
      for (const at::Tensor& tensor : value.toTensorVector()) {
        if (IsPlain(tensor)) AppendTensor(tensor, text);
      }
      *text += '}';
    } else if (value.isInt()) {
      *text += std::to_string(value.toInt());
    } else if (value.isBool()) {
      *text += value.toBool() ? "true" : "false";
    } else if (value.isDouble()) {
      char number[32];
      snprintf(number, sizeof number, "%g", value.toDouble());
      *text += number;
    } else if (value.isString()) {
      *text += '"' + value.toStringRef() + '"';
    } else if (value.isIntList()) {
      *text += '[';
      const c10::List<int64_t> list = value.toIntList();
      for (size_t i = 0; i < list.size(); ++i) {
        if (i > 0) *text += ',';
        *text += std::to_string(list.get(i));
      }
      *text += ']';
    }
  }
  *text += ')';
}

struct Observed : at::ObserverContext {
  // To compute, or to make unknown; null: neither.
  const Operator* op = nullptr;
  bool computes = false;  // operators inside this one do not
  bool answers = false;
  int64_t works = 0;                // of the thread, before the operator
  std::vector<c10::IValue> inputs;  // of `op`; PyTorch forgets them once the operator runs
};

thread_local int computing = 0;        // operators that run inside others do not compute
thread_local int64_t known_works = 0;  // of operators that compute

constexpr const char* kCopies = "aten::_foreach_copy_";

// The host may read a value in the middle of an operator. The program sees nothing of it, but what
// it reads by copies.
bool IsCopy(const Operator& op) { return op.name == "aten::copy_" || op.name == kCopies; }

// The log's times leave out what the capture itself does while this exists.
struct PausedClock {
  explicit PausedClock(bool is_long) { hackcuda_pause_clock(is_long ? 1 : 0); }
  ~PausedClock() { hackcuda_resume_clock(); }
};

// The number that an operator and its node of autograd share: " #12". Each thread counts by itself,
// so those of others than the first name it: " #12@3".
void AppendSequence(const at::RecordFunction& fn, std::string* text) {
  static const uint64_t first = at::RecordFunction::currentThreadId();
  const bool is_node = fn.scope() == at::RecordScope::BACKWARD_FUNCTION;
  const uint64_t thread = is_node ? fn.forwardThreadId() : at::RecordFunction::currentThreadId();
  *text += " #" + std::to_string(fn.seqNr());
  if (thread != first && thread != 0) *text += '@' + std::to_string(thread);
}

std::unique_ptr<at::ObserverContext> Begin(const at::RecordFunction& fn) {
  const PausedClock paused(false);
  auto observed = std::make_unique<Observed>();
  thread_local std::string text;
  text.clear();
  if (fn.scope() == at::RecordScope::BACKWARD_FUNCTION) text = "backward ";
  if (fn.scope() == at::RecordScope::USER_SCOPE) text = "scope ";
  if (fn.scope() == at::RecordScope::FUNCTION) {
    text += fn.name();
    AppendValues(fn.inputs(), &text);
  } else {
    text += fn.name();
  }
  if (fn.seqNr() >= 0) AppendSequence(fn, &text);
  hackcuda_begin_op(text.data(), text.size());
  const auto name = fn.operator_name();
  if (fn.scope() != at::RecordScope::FUNCTION || !name) return observed;
  const Operator& op = OperatorOf(*name);
  if (op.counts) {
    observed->answers = true;
    const PausedClock computes(true);
    AnswerCount(op, fn.inputs());
  }
  observed->computes = op.computes && ArePlain(fn.inputs());
  if (observed->computes && computing++ == 0) hackcuda_ignore_reads(IsCopy(op) ? 0 : 1);
  if ((observed->computes && computing == 1) || (op.is_foreign && computing == 0)) {
    observed->op = &op;
    observed->inputs.assign(fn.inputs().begin(), fn.inputs().end());
    observed->works = hackcuda_works() - (op.is_foreign ? known_works : 0);
  }
  return observed;
}

void FindValues(const Observed& observed, c10::ArrayRef<const c10::IValue> inputs,
                c10::ArrayRef<const c10::IValue> outputs) {
  const Operator& op = *observed.op;
  if (op.is_foreign) {
    const bool has_worked = hackcuda_works() - known_works > observed.works;
    if (has_worked && ArePlain(inputs) && ArePlain(outputs)) MakeUnknown(op, inputs, outputs);
    return;
  }
  known_works += hackcuda_works() - observed.works;
  if (!ArePlain(outputs) || (!AreOnGpu(inputs) && !AreOnGpu(outputs))) return;
  const PausedClock computes(true);
  if (op.name == kCopies) return ComputeCopies(inputs);
  Compute(op, inputs, outputs);
}

void End(const at::RecordFunction& fn, at::ObserverContext* context) {
  const PausedClock paused(false);
  auto* observed = static_cast<Observed*>(context);
  if (observed->answers) hackcuda_forget_answer();
  if (observed->computes && --computing == 0) hackcuda_ignore_reads(0);
  const c10::ArrayRef<const c10::IValue> outputs(fn.outputs().data(), fn.outputs().size());
  const c10::ArrayRef<const c10::IValue> inputs(observed->inputs.data(), observed->inputs.size());
  if (observed->op != nullptr) FindValues(*observed, inputs, outputs);
  thread_local std::string text;
  text.clear();
  if (fn.scope() == at::RecordScope::FUNCTION) AppendValues(outputs, &text);
  hackcuda_end_op(text.data(), text.size());
}

struct Registration {
  Registration() {
    at::addGlobalCallback(
        at::RecordFunctionCallback(&Begin, &End)
            .needsInputs(true)
            .needsOutputs(true)
            .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION,
                     at::RecordScope::USER_SCOPE}));
  }
} registration;

}  // namespace
}  // namespace drydock::torch_hooks
