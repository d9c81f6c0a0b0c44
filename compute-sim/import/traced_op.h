// Translates PyTorch's operators, as traces name them, to kernels.
#ifndef DRYDOCK_COMPUTE_SIM_IMPORT_TRACED_OP_H_
#define DRYDOCK_COMPUTE_SIM_IMPORT_TRACED_OP_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute-sim/kernel/kernel.h"

namespace drydock {

using TensorShapes = std::vector<std::vector<int64_t>>;

// The kernel of "aten::mm" with [[m, k], [k, n]]. nullopt if a profile cannot hold the operator, if
// the shapes do not fit the operator, or if it is attention and `causal` is unknown.
std::optional<Kernel> KernelOfOp(std::string_view name, const TensorShapes& shapes, DataType type,
                                 std::optional<bool> causal);
// The index of the argument that says whether attention is causal; nullopt for other operators.
std::optional<size_t> CausalArgumentOf(std::string_view name);

// Parses "[[8, 16], [], [16, 32]]" at the front of `text`; nullopt if it is not a list of lists.
std::optional<TensorShapes> ParseShapes(std::string_view text);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_IMPORT_TRACED_OP_H_
