// Whole numbers in text: alone, or in a fixed shape such as "gen5 x16" or "host3/nic0".
#ifndef DRYDOCK_CORE_BASE_SCAN_H_
#define DRYDOCK_CORE_BASE_SCAN_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace drydock {

// Returns true and sets *numbers if `text` is literals[0] number literals[1] number ... and nothing
// more. Numbers have one to nine digits, no sign and no blanks around them.
bool ScanNumbers(std::string_view text, std::initializer_list<std::string_view> literals,
                 std::initializer_list<int*> numbers);

// Returns the number that `text` is, with an optional minus sign; nothing if `text` is not a number
// or exceeds 64 bits.
std::optional<int64_t> WholeNumber(std::string_view text);

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_SCAN_H_
