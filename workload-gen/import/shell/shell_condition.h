// What a shell's [ ... ] and [[ ... ]] find, as far as the text of a script tells.
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

// True of words that begin with [, [[ or test.
bool IsShellTest(const std::vector<ShellText>& words);
// Comparisons of strings and of whole numbers, -z and -n, !, && and ||. Unknown: files, patterns,
// what compares a value that is not known. To -z and -n, a variable that is not set is empty.
ShellTruth EvaluateShellTest(const std::vector<ShellText>& words, const ShellVariables& variables);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_CONDITION_H_
