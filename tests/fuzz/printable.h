// Checks that a message about hostile bytes is printable text.
#ifndef DRYDOCK_TESTS_FUZZ_PRINTABLE_H_
#define DRYDOCK_TESTS_FUZZ_PRINTABLE_H_

#include "core/base/check.h"
#include "core/base/result.h"

namespace drydock::fuzz {

template <typename T>
void CheckPrintable(const Result<T>& result) {
  if (result.ok()) return;
  for (const char c : result.error().ToString()) {
    CHECK(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t');
  }
}

}  // namespace drydock::fuzz

#endif  // DRYDOCK_TESTS_FUZZ_PRINTABLE_H_
