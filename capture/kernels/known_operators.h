// Operators whose kernels are known as a whole: fused attention, norms, embeddings, Adam. A
// submodule stands for exactly the launches of its operator, so that nothing counts twice.
#ifndef DRYDOCK_CAPTURE_KERNELS_KNOWN_OPERATORS_H_
#define DRYDOCK_CAPTURE_KERNELS_KNOWN_OPERATORS_H_

#include <string_view>
#include <vector>

#include "capture/kernels/operator.h"
#include "core/model/submodule.h"

namespace drydock::capture {

bool IsKnownOperator(std::string_view name);
// Returns the submodules that stand for all launches of a known operator, in order, without names;
// none if the operator has arguments that are not understood.
std::vector<Submodule> KnownSubmodules(const OperatorRange& range);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_KERNELS_KNOWN_OPERATORS_H_
