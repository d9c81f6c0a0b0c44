#include "core/base/check.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/base/files.h"

namespace drydock {

void CheckFailed(const char* file, int line, std::string_view condition, std::string_view note) {
  const std::string text = fmt::format("internal error: {}:{}: {} does not hold{}{}\n", file, line,
                                       condition, note.empty() ? "" : ": ", note);
  std::fwrite(text.data(), 1, text.size(), stderr);
  RemoveUnfinishedFiles();
  std::_Exit(3);
}

}  // namespace drydock
