// Whole numbers in text: alone, or in a fixed shape such as "gen5 x16" or "host3/nic0".
#ifndef DRYDOCK_CORE_BASE_SCAN_H_
#define DRYDOCK_CORE_BASE_SCAN_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace drydock {

// True if `text` is literals[0] number literals[1] number ..., nothing more: numbers of one to nine
// digits, no signs, no blanks of their own. *numbers are set only then.
bool ScanNumbers(std::string_view text, std::initializer_list<std::string_view> literals,
                 std::initializer_list<int*> numbers);

// The number `text` is, a minus sign allowed; nothing if it holds anything else or leaves 64 bits.
std::optional<int64_t> WholeNumber(std::string_view text);

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_SCAN_H_
