// CHECK states a condition that only a mistake in Drydock can break. A broken CHECK prints the
// place and the condition and ends the tool with exit status 3. A user's mistake is a Result
// (result.h), never a CHECK.
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
