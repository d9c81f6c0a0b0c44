// The arithmetic of $((...)) in a launch script: whole numbers, + - * / %, comparisons,
// a ? b : c, and parentheses.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_ARITHMETIC_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_ARITHMETIC_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace drydock {

// Returns nothing if `expression` has another form, a name has no value, or a result exceeds 63
// bits. `value_of` returns the value of a name (also written $NAME or ${NAME}).
std::optional<int64_t> EvaluateArithmetic(
    const std::string& expression,
    const std::function<std::optional<int64_t>(const std::string& name)>& value_of);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_ARITHMETIC_H_
