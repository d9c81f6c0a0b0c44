#include "core/base/check.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "core/base/files.h"

namespace drydock {

void CheckFailed(const char* file, int line, std::string_view condition, std::string_view note) {
  fmt::print(stderr, "internal error: {}:{}: {} does not hold{}{}\n", file, line, condition,
             note.empty() ? "" : ": ", note);
  RemoveUnfinishedFiles();
  std::_Exit(3);
}

}  // namespace drydock
