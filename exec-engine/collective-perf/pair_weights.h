// The sizes of an all-to-all-v, from a text file.
#ifndef DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_PAIR_WEIGHTS_H_
#define DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_PAIR_WEIGHTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

// Parses one line for each of `members` members. Line i has a whole number for each member: what
// member i sends to that member, relative to all other numbers. Blanks or commas separate numbers,
// '#' begins a comment, empty lines do not count. The result is ordered by sender, then receiver,
// and not all numbers are 0. `file` is for messages.
Result<std::vector<int64_t>> ParsePairWeights(const std::string& file, const std::string& text,
                                              int members);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_PAIR_WEIGHTS_H_
