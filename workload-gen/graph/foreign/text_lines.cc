#include "workload-gen/graph/foreign/text_lines.h"

#include <algorithm>
#include <utility>

namespace drydock {
namespace {

constexpr size_t kMaxShownBytes = 4096;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

bool TextLines::Next() {
  words_.clear();
  if (next_ >= text_.size()) return false;
  ++line_;
  const size_t end = std::min(text_.find('\n', next_), text_.size());
  current_ = std::string_view(text_).substr(next_, end - next_);
  next_ = end + 1;
  for (size_t i = 0; i < current_.size();) {
    if (IsBlank(current_[i])) {
      ++i;
      continue;
    }
    if (current_[i] == '#' || current_.substr(i, 2) == "//") break;
    size_t stop = i;
    while (stop < current_.size() && !IsBlank(current_[stop])) ++stop;
    words_.push_back({current_.substr(i, stop - i), static_cast<int>(i) + 1});
    i = stop;
  }
  return true;
}

Error TextLines::ErrorHere(std::string message, size_t word) const {
  const int column = word < words_.size() ? words_[word].column : 0;
  std::string shown;
  for (const char c : current_.substr(0, kMaxShownBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    shown += (byte >= 0x20 && byte < 0x7f) || c == '\t' ? c : '?';
  }
  return Error(std::move(message), {path_, line_, column}, std::move(shown));
}

}  // namespace drydock
