// Evaluates the conditions [ ... ] and [[ ... ]] of a shell as far as the text of a script
// determines them.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_CONDITION_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_CONDITION_H_

#include <cstdint>
#include <vector>

#include "workload-gen/import/shell/shell_words.h"

namespace drydock {

enum class ShellTruth : uint8_t { kFalse, kTrue, kUnknown };
ShellTruth Not(ShellTruth value);
ShellTruth And(ShellTruth a, ShellTruth b);
ShellTruth Or(ShellTruth a, ShellTruth b);

// True for words that begin with [, [[ or test.
bool IsShellCondition(const std::vector<ShellText>& words);
// Supports comparisons of strings and of whole numbers, -z, -n, !, && and ||. Tests of files,
// patterns and comparisons with an unknown value are kUnknown. For -z and -n, an unset variable is
// empty.
ShellTruth EvaluateShellCondition(const std::vector<ShellText>& words,
                                  const ShellVariables& variables);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_CONDITION_H_
