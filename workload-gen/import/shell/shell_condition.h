// Evaluates the conditions [ ... ] and [[ ... ]] of a shell as far as the text of a script
// determines them.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_CONDITION_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_CONDITION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "workload-gen/import/shell/shell_expansion.h"

namespace drydock {

enum class ShellTruth : uint8_t { kFalse, kTrue, kUnknown };
ShellTruth Not(ShellTruth value);
ShellTruth And(ShellTruth a, ShellTruth b);
ShellTruth Or(ShellTruth a, ShellTruth b);

struct ShellAnswer {
  ShellTruth truth = ShellTruth::kUnknown;
  bool assumed = false;  // it holds if a variable that the script does not assign is empty
  std::string needs;     // "$NODES": what a condition depends on that is not known; may be ""
};

// `words` begin with [ or test. Supports comparisons of strings and of whole numbers, -z, -n, !,
// -a and -o. Tests of files and comparisons with an unknown value are kUnknown. For -z and -n, a
// variable that is not assigned is empty; the script has no arguments but the given ones.
ShellAnswer EvaluateTest(const std::vector<ShellText>& words, const ShellSession& session);
// `tokens` stand between [[ and ]].
ShellAnswer EvaluateDoubleTest(const std::vector<ShellTestToken>& tokens, ShellState* state,
                               ShellExpander* expander);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_CONDITION_H_
