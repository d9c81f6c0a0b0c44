// PyTorch's operators, as traces name them, as kernels.
#ifndef DRYDOCK_COMPUTE_SIM_IMPORT_TRACED_OP_H_
#define DRYDOCK_COMPUTE_SIM_IMPORT_TRACED_OP_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute-sim/kernel/kernel.h"

namespace drydock {

using TensorShapes = std::vector<std::vector<int64_t>>;

// "aten::mm" of [[m, k], [k, n]]. Nullopt: it has no place in a profile, or its shapes are not
// those it takes, or it is attention and nobody says whether it is `causal`.
std::optional<Kernel> KernelOfOp(std::string_view name, const TensorShapes& shapes, DataType type,
                                 std::optional<bool> causal);
// Which of the operator's arguments says whether attention is causal; nullopt for other operators.
std::optional<size_t> CausalArgumentOf(std::string_view name);

// "[[8, 16], [], [16, 32]]" from the front of `text`; nullopt if that is no list of lists.
std::optional<TensorShapes> ParseShapes(std::string_view text);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_IMPORT_TRACED_OP_H_
