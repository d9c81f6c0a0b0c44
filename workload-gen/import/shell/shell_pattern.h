// Patterns of bash: * ? [abc], as in case, ${NAME#pattern} and [[ a == pattern ]].
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_PATTERN_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_PATTERN_H_

#include <optional>
#include <string>
#include <vector>

namespace drydock {

struct ShellPatternChar {
  char c = 0;
  bool quoted = false;  // then it stands for itself
};
using ShellPattern = std::vector<ShellPatternChar>;

// False for forms that Matches does not know: +(...) and its like, [[:alpha:]], and sets of
// characters beyond ASCII.
bool IsPlainPattern(const ShellPattern& pattern);
// True if a character of the pattern is special.
bool HasWildcard(const ShellPattern& pattern);
bool Matches(const ShellPattern& pattern, const std::string& text);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_PATTERN_H_
