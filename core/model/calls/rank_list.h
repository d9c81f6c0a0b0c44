// Groups of ranks as people write them: "0-15", "0,8,16", "0-63:8" (every eighth of 0 to 63), and
// any of these joined by commas. The order written is the order of the communicator.
#ifndef DRYDOCK_CORE_MODEL_CALLS_RANK_LIST_H_
#define DRYDOCK_CORE_MODEL_CALLS_RANK_LIST_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace drydock {

// The ranks, each once. The error quotes `text` and says what is wrong with it.
Result<std::vector<int>> ParseRanks(std::string_view text);

// Says which rank of `ranks` a cluster of `rank_count` GPUs does not have.
Status CheckRanks(const std::vector<int>& ranks, int rank_count);

// The shortest way to write them: "0-15", "0-56:8", "0-3, 8-11". Lists beyond `pieces` ranges end
// in "...".
std::string RanksText(const std::vector<int>& ranks, size_t pieces = 4);

// As a message names a group: "0, 8, 16, 24, ...".
std::string FirstRanksText(const std::vector<int>& ranks);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_RANK_LIST_H_
