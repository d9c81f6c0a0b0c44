#include "workload-gen/import/tree/layer_pattern.h"

#include <algorithm>

#include "core/base/scan.h"

namespace drydock {
namespace {

constexpr int kMaxNesting = 32;

// sum: product ('+' product)*; product: item ('*' number)*; item: '[' numbers ']' or '(' sum ')'.
class PatternReader {
 public:
  PatternReader(const std::string& text, size_t limit) : limit_(limit) {
    for (const char c : text) {
      if (c != ' ') text_ += c;
    }
  }

  std::optional<std::vector<int>> Read() {
    std::vector<int> list;
    if (!Sum(&list) || at_ != text_.size()) return std::nullopt;
    return list;
  }

 private:
  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool Number(int64_t* out) {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    const std::optional<int64_t> number = WholeNumber(text_.substr(begin, at_ - begin));
    if (!number.has_value()) return false;
    *out = *number;
    return true;
  }

  bool Sum(std::vector<int>* out) {
    do {
      std::vector<int> part;
      if (!Product(&part)) return false;
      out->insert(out->end(), part.begin(), part.end());
      if (out->size() > limit_) return false;
    } while (Take('+'));
    return true;
  }

  bool Product(std::vector<int>* out) {
    if (!Item(out)) return false;
    while (Take('*')) {
      int64_t times = 0;
      if (!Number(&times) || times > static_cast<int64_t>(limit_)) return false;
      const std::vector<int> once = *out;
      if (once.size() * static_cast<size_t>(times) > limit_) return false;
      out->clear();
      for (int64_t i = 0; i < times; ++i) out->insert(out->end(), once.begin(), once.end());
    }
    return true;
  }

  bool Item(std::vector<int>* out) {
    if (Take('(')) {
      if (++depth_ > kMaxNesting || !Sum(out)) return false;
      --depth_;
      return Take(')');
    }
    if (!Take('[')) return false;
    do {
      int64_t value = 0;
      if (!Number(&value) || value > 1 || out->size() >= limit_) return false;
      out->push_back(static_cast<int>(value));
    } while (Take(','));
    return Take(']');
  }

  std::string text_;
  const size_t limit_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<std::vector<int>> ExpandPattern(const std::string& text, size_t limit) {
  return PatternReader(text, limit).Read();
}

std::optional<ExpertPattern> AsExpertPattern(const std::vector<int>& layers) {
  const auto first_one = std::find(layers.begin(), layers.end(), 1);
  if (first_one == layers.end()) return std::nullopt;
  const int first = static_cast<int>(first_one - layers.begin());
  const auto second = std::find(first_one + 1, layers.end(), 1);
  const int size = static_cast<int>(layers.size());
  int every = static_cast<int>(second - first_one);
  if (second == layers.end()) every = first + 1 == size ? 1 : size;
  for (int i = 0; i < size; ++i) {
    const int expected = i >= first && i % every == 0 ? 1 : 0;
    if (layers[static_cast<size_t>(i)] != expected) return std::nullopt;
  }
  return ExpertPattern{first, every};
}

namespace {

bool Follows(const std::vector<int>& layers, const WindowPattern& pattern) {
  for (int i = pattern.first; i < static_cast<int>(layers.size()); ++i) {
    const bool full = pattern.every > 0 && (i + 1) % pattern.every == 0;
    if (layers[static_cast<size_t>(i)] != (full ? 0 : 1)) return false;
  }
  return true;
}

}  // namespace

std::optional<WindowPattern> AsWindowPattern(const std::vector<int>& layers) {
  const auto window = std::find(layers.begin(), layers.end(), 1);
  const int first = static_cast<int>(window - layers.begin());
  const auto zero = std::find(window, layers.end(), 0);
  if (zero == layers.end()) return WindowPattern{first, 0};
  const int number = static_cast<int>(zero - layers.begin()) + 1;
  for (int every = 2; every <= number; ++every) {
    if (number % every == 0 && Follows(layers, {first, every})) return WindowPattern{first, every};
  }
  return std::nullopt;
}

}  // namespace drydock
