// The nearest valid spelling, for messages about unknown names.
#ifndef DRYDOCK_CORE_BASE_SPELLING_H_
#define DRYDOCK_CORE_BASE_SPELLING_H_

#include <string>
#include <string_view>
#include <vector>

namespace drydock {

// Returns the first candidate that begins with `word`, else the first one with the smallest edit
// distance. Returns "" if all distances exceed a third of the longer word, at least 2.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

// Returns "; did you mean 'x'?", or "" if no candidate is near.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates);

// Returns "a, b, c".
std::string Join(const std::vector<std::string>& words, std::string_view separator = ", ");

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_SPELLING_H_
