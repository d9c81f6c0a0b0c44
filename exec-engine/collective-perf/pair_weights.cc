#include "exec-engine/collective-perf/pair_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>

namespace drydock {
namespace {

constexpr int64_t kMaxWeight = 1000000;  // sums over any number of members fit into 64 bits
constexpr std::string_view kBetween = " \t\r,";

Status ParseLine(const std::string& line, const Location& at, std::vector<int64_t>* weights) {
  const std::string_view text = std::string_view(line).substr(0, line.find('#'));
  size_t begin = text.find_first_not_of(kBetween);
  while (begin != std::string_view::npos) {
    const size_t end = std::min(text.find_first_of(kBetween, begin), text.size());
    int64_t weight = -1;
    const auto [rest, error] = std::from_chars(text.data() + begin, text.data() + end, weight);
    if (error != std::errc() || rest != text.data() + end || weight < 0 || weight > kMaxWeight) {
      return Error(fmt::format("'{}' is not a whole number from 0 to {}",
                               text.substr(begin, end - begin), kMaxWeight),
                   {at.file, at.line, static_cast<int>(begin) + 1}, line);
    }
    weights->push_back(weight);
    begin = text.find_first_not_of(kBetween, end);
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<int64_t>> ParsePairWeights(const std::string& file, const std::string& text,
                                              int members) {
  const auto n = static_cast<size_t>(members);
  std::vector<int64_t> weights;
  std::istringstream lines(text);
  std::string line;
  for (Location at{file, 1, 0}; std::getline(lines, line); ++at.line) {
    const size_t before = weights.size();
    RETURN_IF_ERROR(ParseLine(line, at, &weights));
    const size_t here = weights.size() - before;
    if (here != 0 && here != n) {
      return Error(fmt::format("{} numbers, but the group has {} members", here, n), at, line);
    }
  }
  if (weights.size() != n * n) {
    return Error(
        fmt::format("{} lines of numbers, but the group has {} members", weights.size() / n, n),
        {file, 0, 0});
  }
  if (std::all_of(weights.begin(), weights.end(), [](int64_t w) { return w == 0; })) {
    return Error("no member sends anything", {file, 0, 0});
  }
  return weights;
}

}  // namespace drydock
