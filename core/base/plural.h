// Counts in messages: "1 rank", "2 ranks", "1 class", "2 classes".
#ifndef DRYDOCK_CORE_BASE_PLURAL_H_
#define DRYDOCK_CORE_BASE_PLURAL_H_

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace drydock {

// `noun` is in the singular.
template <typename Count>
std::string Plural(Count count, std::string_view noun) {
  const bool hisses = noun.ends_with("ss") || noun.ends_with("x") || noun.ends_with("ch");
  return fmt::format("{} {}{}", count, noun, count == Count(1) ? "" : hisses ? "es" : "s");
}

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_PLURAL_H_
