// Text of a fixed shape with whole numbers in it: "gen5 x16", "host3/nic0".
#ifndef DRYDOCK_CORE_BASE_SCAN_H_
#define DRYDOCK_CORE_BASE_SCAN_H_

#include <initializer_list>
#include <string_view>

namespace drydock {

// True if `text` is literals[0] number literals[1] number ..., nothing more: numbers of one to nine
// digits, no signs, no blanks of their own. *numbers are set only then.
bool ScanNumbers(std::string_view text, std::initializer_list<std::string_view> literals,
                 std::initializer_list<int*> numbers);

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_SCAN_H_
