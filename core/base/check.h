// CHECK: for what can only be our own mistake. Prints the place and the broken condition, then
// aborts; tools report it as exit status 3 (see cli.h). A user's mistake is a Result, never a
// CHECK.
#ifndef DRYDOCK_CORE_BASE_CHECK_H_
#define DRYDOCK_CORE_BASE_CHECK_H_

#include <string_view>

namespace drydock {

[[noreturn]] void CheckFailed(const char* file, int line, std::string_view condition,
                              std::string_view note = {});

}  // namespace drydock

#define CHECK(condition)                                      \
  do {                                                        \
    if (!(condition)) [[unlikely]]                            \
      ::drydock::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (false)

#define CHECK_NOTE(condition, note)                                 \
  do {                                                              \
    if (!(condition)) [[unlikely]]                                  \
      ::drydock::CheckFailed(__FILE__, __LINE__, #condition, note); \
  } while (false)

#endif  // DRYDOCK_CORE_BASE_CHECK_H_
