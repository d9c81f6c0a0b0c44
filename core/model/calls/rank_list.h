// Lists of ranks as text: "0-15", "0,8,16", "0-63:8" (every eighth of 0 to 63), and any of these
// joined by commas. The order of the text is the order of the communicator.
#ifndef DRYDOCK_CORE_MODEL_CALLS_RANK_LIST_H_
#define DRYDOCK_CORE_MODEL_CALLS_RANK_LIST_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace drydock {

// Parses a list without duplicates. The error quotes `text`.
Result<std::vector<int>> ParseRanks(std::string_view text);

// Returns an error that names the first rank that a cluster of `rank_count` GPUs does not have.
Status CheckRanks(const std::vector<int>& ranks, int rank_count);

// Returns the shortest text: "0-15", "0-56:8", "0-3, 8-11". Lists of more than `pieces` ranges end
// in "...".
std::string RanksText(const std::vector<int>& ranks, size_t pieces = 4);

// Returns the first ranks, to name a group: "0, 8, 16, 24, ...".
std::string FirstRanksText(const std::vector<int>& ranks);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_RANK_LIST_H_
