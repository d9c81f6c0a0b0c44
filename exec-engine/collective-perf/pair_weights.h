// Who sends how much to whom in an all-to-all-v, as a text file has it.
#ifndef DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_PAIR_WEIGHTS_H_
#define DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_PAIR_WEIGHTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

// For a group of `members`: as many lines of as many whole numbers, in line i what member i sends
// to each, relative to all others; blanks or commas between them, '#' before a comment, empty lines
// do not count. The answer is by sender, then receiver, and not all 0. `file` is for messages.
Result<std::vector<int64_t>> ParsePairWeights(const std::string& file, const std::string& text,
                                              int members);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_PAIR_WEIGHTS_H_
