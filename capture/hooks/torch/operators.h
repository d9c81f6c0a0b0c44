// Facts about PyTorch's operators that its schemas do not state.
#ifndef DRYDOCK_CAPTURE_HOOKS_TORCH_OPERATORS_H_
#define DRYDOCK_CAPTURE_HOOKS_TORCH_OPERATORS_H_

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>

namespace drydock::torch_hooks {

struct Operator {
  const c10::OperatorHandle* handle = nullptr;  // null: the dispatcher does not know it
  std::string name;                             // "aten::topk"
  int64_t number = 0;                           // of the name, in the log
  // The CPU can run it in place of the GPU: it is one of PyTorch's, and not made of others.
  bool computes = false;
  bool is_foreign = false;  // not PyTorch's own: only a GPU can run the kernels that it launches
  // Of the values that it gets, the result depends on none, or not on those of the first argument,
  // which it overwrites.
  bool takes_shapes = false, overwrites = false;
  bool makes_zeros = false;
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
