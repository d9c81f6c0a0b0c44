// Which layers a Megatron pattern picks: "([0]*3+[1]*58)", or a number.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_LAYER_PATTERN_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_LAYER_PATTERN_H_

#include <optional>
#include <string>
#include <vector>

namespace drydock {

// The list of whole numbers that a Python expression of lists, + and * makes; nothing if it is no
// such expression or longer than `limit`.
std::optional<std::vector<int>> ExpandPattern(const std::string& text, size_t limit);

// A list of 0 and 1 as "the first `first` are 0, of the rest every `every`th is 1, counted from
// layer 0"; nothing if it is none.
struct ExpertPattern {
  int first = 0;
  int every = 1;
};
std::optional<ExpertPattern> AsExpertPattern(const std::vector<int>& layers);

// A list of 1 (a window) and 0 as "the first `first` are 0, of the rest every `every`th is 0,
// counted from 1"; `every` is 0 if the rest is all 1. Nothing if it is none.
struct WindowPattern {
  int first = 0;
  int every = 0;
  bool operator==(const WindowPattern&) const = default;
};
std::optional<WindowPattern> AsWindowPattern(const std::vector<int>& layers);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_LAYER_PATTERN_H_
