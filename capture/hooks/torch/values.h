// Computes the values of small tensors. Programs branch on such values: losses, norms, counts of
// tokens, numbers of steps. The memory of a pretended GPU is memory of this process, so the CPU can
// run an operator on it once more.
//
// What depends on something large is unknown: zeros. Where an operator picks places by unknown
// values, each place is picked as often as the others. libhackcuda is told which values are known.
#ifndef DRYDOCK_CAPTURE_HOOKS_TORCH_VALUES_H_
#define DRYDOCK_CAPTURE_HOOKS_TORCH_VALUES_H_

#include <ATen/core/ivalue.h>

#include <vector>

#include "capture/hooks/torch/operators.h"

namespace drydock::torch_hooks {

// True if no tensor belongs to a compiler or a mode, or wraps others. What an operator does with
// such tensors, it does by other operators.
bool ArePlain(c10::ArrayRef<const c10::IValue> values);
// True if any of them is a tensor of a GPU.
bool AreOnGpu(c10::ArrayRef<const c10::IValue> values);

// Finds what the host will read in the middle of the operator, and tells libhackcuda.
void AnswerCount(const Operator& op, c10::ArrayRef<const c10::IValue> inputs);

// Runs the operator on the CPU, after it ran on the pretended GPU. REQUIRES: op.computes.
void Compute(const Operator& op, c10::ArrayRef<const c10::IValue> inputs,
             c10::ArrayRef<const c10::IValue> outputs);
// The same for aten::_foreach_copy_, whose tensors have nothing to do with each other.
void ComputeCopies(c10::ArrayRef<const c10::IValue> inputs);

// The operator has launched kernels that only a GPU can run.
void MakeUnknown(const Operator& op, c10::ArrayRef<const c10::IValue> inputs,
                 c10::ArrayRef<const c10::IValue> outputs);

}  // namespace drydock::torch_hooks

#endif  // DRYDOCK_CAPTURE_HOOKS_TORCH_VALUES_H_
