// The layers that a Megatron pattern selects: "([0]*3+[1]*58)", or a number.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_TREE_LAYER_PATTERN_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_TREE_LAYER_PATTERN_H_

#include <optional>
#include <string>
#include <vector>

namespace drydock {

// Evaluates a Python expression of lists, + and *. Returns nothing if `text` is another expression
// or if the list is longer than `limit`.
std::optional<std::vector<int>> ExpandPattern(const std::string& text, size_t limit);

// A list of 0 and 1 in which the first `first` entries are 0 and an entry after them is 1 if its
// number, counted from 0, is divisible by `every`. AsExpertPattern returns nothing for other lists.
struct ExpertPattern {
  int first = 0;
  int every = 1;
};
std::optional<ExpertPattern> AsExpertPattern(const std::vector<int>& layers);

// A list of 1 (a window) and 0 in which the first `first` entries are 0, and a later entry is 0 if
// its number, counted from 1, is divisible by `every`. `every` is 0 if all later entries are 1.
// AsWindowPattern returns nothing for other lists.
struct WindowPattern {
  int first = 0;
  int every = 0;
  bool operator==(const WindowPattern&) const = default;
};
std::optional<WindowPattern> AsWindowPattern(const std::vector<int>& layers);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_TREE_LAYER_PATTERN_H_
