#include "core/base/spelling.h"

#include <algorithm>
#include <cctype>

namespace drydock {
namespace {

char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// A difference in case settles ties: 'GB' is nearer to 'GB/s' than to 'Gbps'.
constexpr size_t kEdit = 1000;
constexpr size_t kCase = 1;

size_t Difference(char a, char b) {
  if (a == b) return 0;
  return Lower(a) == Lower(b) ? kCase : kEdit;
}

// Returns the Levenshtein distance in thousandths of an edit, one row at a time.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j * kEdit;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i * kEdit;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitution = diagonal + Difference(a[i - 1], b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + kEdit, row[j - 1] + kEdit, substitution});
    }
  }
  return row[b.size()];
}

// Returns true if `candidate` begins with `word` and `word` has at least three letters: too many
// candidates begin with a shorter word.
bool BeginsWith(std::string_view candidate, std::string_view word) {
  if (word.size() < 3 || word.size() > candidate.size()) return false;
  return std::equal(word.begin(), word.end(), candidate.begin(),
                    [](char a, char b) { return Lower(a) == Lower(b); });
}

}  // namespace

std::string Nearest(std::string_view word, const std::vector<std::string>& candidates) {
  for (const std::string& candidate : candidates) {
    if (BeginsWith(candidate, word)) return candidate;
  }
  std::string best;
  size_t best_distance = SIZE_MAX;
  for (const std::string& candidate : candidates) {
    const size_t longer = std::max(word.size(), candidate.size());
    const size_t shorter = std::min(word.size(), candidate.size());
    const size_t allowed = std::max<size_t>(2, longer / 3);
    if (longer - shorter > allowed) continue;  // the distance is at least the difference in length
    const size_t distance = EditDistance(word, candidate);
    const size_t edits = distance / kEdit;
    if (edits <= allowed && distance < best_distance && edits < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string nearest = Nearest(word, candidates);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

std::string Join(const std::vector<std::string>& words, std::string_view separator) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += separator;
    out += word;
  }
  return out;
}

}  // namespace drydock
