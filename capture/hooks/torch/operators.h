// Facts about PyTorch's operators that its schemas do not state.
#ifndef DRYDOCK_CAPTURE_HOOKS_TORCH_OPERATORS_H_
#define DRYDOCK_CAPTURE_HOOKS_TORCH_OPERATORS_H_

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>

namespace drydock::torch_hooks {

struct Operator {
  const c10::OperatorHandle* handle = nullptr;  // null: no operator of PyTorch, or a composite one
  std::string name;                             // "aten::topk"
  // The result says where values lie. If these are not known, every place is as likely.
  bool picks = false;
  // The host reads a number in the middle of the operator, from which the result gets its size.
  bool counts = false;
  int count_offset = 0;  // what the host reads, less the size of the result
};

// Returns what is known of the operator. Cached by the calling thread; valid as long as it lives.
const Operator& OperatorOf(const c10::OperatorName& name);

}  // namespace drydock::torch_hooks

#endif  // DRYDOCK_CAPTURE_HOOKS_TORCH_OPERATORS_H_
