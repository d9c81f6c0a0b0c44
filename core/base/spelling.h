// The nearest valid spelling, for messages about names we do not know.
#ifndef DRYDOCK_CORE_BASE_SPELLING_H_
#define DRYDOCK_CORE_BASE_SPELLING_H_

#include <string>
#include <string_view>
#include <vector>

namespace drydock {

// The first candidate that begins with the word, else the one with the smallest edit distance
// (the earlier of equals), or "" if none is near (a third of the longer word, at least 2).
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

// "; did you mean 'x'?" or "".
std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates);

// "a, b, c".
std::string Join(const std::vector<std::string>& words, std::string_view separator = ", ");

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_SPELLING_H_
