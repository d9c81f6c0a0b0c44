#include "workload-gen/job/pipeline_layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace drydock {
namespace {

constexpr size_t kMaxLetters = 20000;  // letters of an expanded layout
constexpr const char* kLetters = "EtmL|";

// Expands the text of a layout to letters and bars.
class Unroller {
 public:
  explicit Unroller(const std::string& text) : text_(text) {}

  LayoutText Run() {
    while (mistake_.empty() && Peek() != '\0') Item();
    LayoutText result;
    result.mistake = std::move(mistake_);
    result.stages.emplace_back();
    for (const char c : flat_) {
      if (c == '|')
        result.stages.emplace_back();
      else
        result.stages.back() += c;
    }
    return result;
  }

 private:
  // Skips commas and returns the next character; '\0' at the end.
  char Peek() {
    while (at_ < text_.size() && text_[at_] == ',') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void Fail(const std::string& what) {
    if (mistake_.empty()) mistake_ = fmt::format("{} (character {})", what, at_ + 1);
  }

  static bool IsLetter(char c) {
    return c != '\0' && std::string_view(kLetters).find(c) != std::string_view::npos;
  }

  void Item() {
    if (Peek() == '(') return Group();
    Append(Letter());
  }

  // Reads a letter and its repetition.
  std::string Letter() {
    const char c = Peek();
    if (!IsLetter(c)) {
      Fail(c == '\0' ? "a ')' is missing"
                     : fmt::format("'{}' is not one of E, t, m, L, | and (...)*n", c));
      return "";
    }
    ++at_;
    return Times(std::string(1, c));
  }

  void Group() {
    ++at_;
    std::string inside;
    while (mistake_.empty() && Peek() != ')') {
      inside += Letter();
      if (inside.size() > kMaxLetters) Fail("the layout is too long");
    }
    if (!mistake_.empty()) return;
    ++at_;
    if (inside.empty()) return Fail("there is nothing between the parentheses");
    if (Peek() != '*') return Fail("'*' and a number must follow ')'");
    Append(Times(inside));
  }

  // Returns `what` repeated by the number after "*", if there is one.
  std::string Times(const std::string& what) {
    if (Peek() != '*') return what;
    ++at_;
    size_t times = 0, digits = 0;
    for (; Peek() >= '0' && Peek() <= '9' && times <= kMaxLetters; ++at_, ++digits) {
      times = 10 * times + static_cast<size_t>(text_[at_] - '0');
    }
    if (digits == 0) Fail("a number must follow '*'");
    if (times > kMaxLetters || what.size() * times > kMaxLetters) {
      Fail("the layout is too long");
      return "";
    }
    std::string all;
    for (size_t i = 0; i < times; ++i) all += what;
    return all;
  }

  void Append(const std::string& letters) {
    flat_ += letters;
    if (flat_.size() > kMaxLetters) Fail("the layout is too long");
  }

  const std::string& text_;
  size_t at_ = 0;
  std::string flat_;
  std::string mistake_;
};

int Count(const LayoutStages& stages, char letter) {
  int64_t count = 0;
  for (const std::string& stage : stages) count += std::count(stage.begin(), stage.end(), letter);
  return static_cast<int>(count);
}

int LayersOfPair(const std::vector<int>& layers, size_t first) {
  return layers[first] + layers[first + 1];
}

// SplitLargest halves the largest stage; JoinSmallest joins the two adjacent stages with the fewest
// layers.
void SplitLargest(std::vector<int>* layers) {
  const auto largest = std::max_element(layers->begin(), layers->end());
  const int rest = *largest / 2;
  *largest -= rest;
  layers->insert(largest + 1, rest);
}
void JoinSmallest(std::vector<int>* layers) {
  size_t best = 0;
  for (size_t i = 1; i + 1 < layers->size(); ++i) {
    if (LayersOfPair(*layers, i) < LayersOfPair(*layers, best)) best = i;
  }
  (*layers)[best] = LayersOfPair(*layers, best);
  layers->erase(layers->begin() + static_cast<std::ptrdiff_t>(best) + 1);
}

// "ttt", "t*12"
std::string StageText(const std::string& stage) {
  std::string text;
  for (size_t begin = 0, end = 0; begin < stage.size(); begin = end) {
    while (end < stage.size() && stage[end] == stage[begin]) ++end;
    const size_t count = end - begin;
    text += count > 3 ? fmt::format("{}*{}", stage[begin], count) : stage.substr(begin, count);
  }
  return text;
}

}  // namespace

LayoutText ExpandPipelineLayout(const std::string& text) { return Unroller(text).Run(); }

int LayersOf(const std::string& stage) {
  return static_cast<int>(std::count(stage.begin(), stage.end(), 't'));
}

std::vector<int> MtpLayersOf(const LayoutStages& stages) {
  std::vector<int> mtp;
  for (const std::string& stage : stages) {
    mtp.push_back(static_cast<int>(std::count(stage.begin(), stage.end(), 'm')));
  }
  return mtp;
}

namespace {

// Returns Megatron's rule for the places of MTP layers that the stages break; "" if they break
// none.
std::string MtpMistake(const LayoutStages& stages, int pipeline) {
  std::string all;
  for (const std::string& stage : stages) all += stage;
  const size_t first = all.find('m');
  if (first == std::string::npos) return "";
  if (all.find('t', first) != std::string::npos) return "every m must follow the last t";
  const std::vector<int> mtp = MtpLayersOf(stages);
  const auto chunks = static_cast<int>(stages.size()) / pipeline;
  for (int s = 0; s < static_cast<int>(stages.size()); ++s) {
    if (mtp[static_cast<size_t>(s)] == 0) continue;
    if (s / pipeline != chunks - 1) return "m must be on the last virtual stage of its ranks";
    if (pipeline > 1 && s % pipeline == 0) return "m cannot be on the first pipeline stage";
  }
  return "";
}

}  // namespace

std::string LayoutMistake(const LayoutStages& stages, const LayoutDemand& demand) {
  if (stages.size() % static_cast<size_t>(demand.pipeline) != 0) {
    return fmt::format("it has {} stages, which pipeline {} does not divide", stages.size(),
                       demand.pipeline);
  }
  if (Count(stages, 'E') != 1 || !stages.front().starts_with('E')) {
    return "it must have one E, before everything else";
  }
  if (Count(stages, 'L') != 1 || !stages.back().ends_with('L')) {
    return "it must have one L, after everything else";
  }
  if (Count(stages, 't') != demand.layers) {
    return fmt::format("it has {} t, but layers is {}", Count(stages, 't'), demand.layers);
  }
  if (Count(stages, 'm') != demand.mtp_layers) {
    return fmt::format("it has {} m, but mtp_layers is {}", Count(stages, 'm'), demand.mtp_layers);
  }
  return MtpMistake(stages, demand.pipeline);
}

std::string NearestPipelineLayout(const LayoutStages& stages, const LayoutDemand& demand) {
  const auto pipeline = static_cast<size_t>(demand.pipeline);
  const size_t count = std::max<size_t>(1, (stages.size() + (pipeline - 1) / 2) / pipeline);
  std::vector<int> layers;
  for (const std::string& stage : stages) layers.push_back(LayersOf(stage));
  while (layers.size() < count * pipeline) SplitLargest(&layers);
  while (layers.size() > count * pipeline) JoinSmallest(&layers);
  int missing = demand.layers - Count(stages, 't');
  for (; missing > 0; --missing) ++*std::min_element(layers.begin(), layers.end());
  for (; missing < 0; ++missing) --*std::max_element(layers.begin(), layers.end());
  LayoutStages nearest;
  for (const int t : layers) nearest.emplace_back(static_cast<size_t>(t), 't');
  nearest.front().insert(0, 1, 'E');
  if (stages.size() == nearest.size()) {  // m stays in its stages if the rules allow it
    LayoutStages kept = nearest;
    const std::vector<int> mtp = MtpLayersOf(stages);
    for (size_t s = 0; s < kept.size(); ++s)
      kept[s] += std::string(static_cast<size_t>(mtp[s]), 'm');
    kept.back() += "L";
    if (LayoutMistake(kept, demand).empty()) return ToLayoutText(kept);
  }
  nearest.back() += std::string(static_cast<size_t>(demand.mtp_layers), 'm') + "L";
  return ToLayoutText(nearest);
}

std::string ToLayoutText(const LayoutStages& stages) {
  std::string text;
  for (size_t begin = 0, end = 0; begin < stages.size(); begin = end) {
    while (end < stages.size() && stages[end] == stages[begin]) ++end;
    // No bar follows the last stage.
    const size_t barred = end == stages.size() ? end - 1 : end;
    const std::string one = StageText(stages[begin]) + "|";
    if (barred - begin > 2) {
      text += one == "|" ? fmt::format("|*{}", barred - begin)
                         : fmt::format("({})*{}", one, barred - begin);
    } else {
      for (size_t i = begin; i < barred; ++i) text += one;
    }
    if (barred < end) text += StageText(stages[begin]);
  }
  return text;
}

}  // namespace drydock
