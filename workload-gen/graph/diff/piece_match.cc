#include "workload-gen/graph/diff/piece_match.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

#include "workload-gen/graph/diff/sequence_diff.h"

namespace drydock {
namespace {

// Beyond, sequences have little in common, and pieces are found by their keys.
constexpr size_t kMaxEdits = 600;

// What has to be equal: a meaning or a sort, and as much of the place as asked for.
using Key = std::tuple<uint32_t, int, int32_t, int32_t>;
enum class Depth : uint8_t { kPlace, kPhase, kMeaning, kSortInPhase };

Key KeyOf(const Piece& piece, const PlaceKeys& of, Depth depth) {
  Key key(depth == Depth::kSortInPhase ? piece.sort : piece.meaning, -1, -1, -1);
  if (of.program == nullptr || depth == Depth::kMeaning) return key;
  const Op& op = of.program->ops[piece.op];
  if (of.phases) std::get<1>(key) = static_cast<int>(op.phase);
  if (depth != Depth::kPlace) return key;
  if (of.layers) std::get<2>(key) = op.layer;
  if (of.microbatches) std::get<3>(key) = op.microbatch;
  return key;
}

class Matcher {
 public:
  Matcher(const std::vector<Piece>& a, const PlaceKeys& of_a, const std::vector<Piece>& b,
          const PlaceKeys& of_b)
      : a_(a), b_(b), of_a_(of_a), of_b_(of_b), left_(a.size()), right_(b.size()) {
    for (uint32_t i = 0; i < a.size(); ++i) left_[i] = i;
    for (uint32_t i = 0; i < b.size(); ++i) right_[i] = i;
  }

  PieceMatch Match() {
    InOrder(Depth::kPlace);
    InOrder(Depth::kPhase);
    AnyOrder(Depth::kPlace, &match_.same);
    AnyOrder(Depth::kPhase, &match_.same);
    AnyOrder(Depth::kMeaning, &match_.same);
    AnyOrder(Depth::kSortInPhase, &match_.changed);
    std::sort(match_.same.begin(), match_.same.end());
    std::sort(match_.changed.begin(), match_.changed.end());
    match_.only_a = std::move(left_);
    match_.only_b = std::move(right_);
    FindMoved();
    return std::move(match_);
  }

 private:
  // Pairs of what is left.
  void InOrder(Depth depth) {
    if (left_.empty() || right_.empty()) return;
    std::map<Key, uint32_t> numbers;
    const auto number = [&numbers, depth](const std::vector<Piece>& pieces, const PlaceKeys& of,
                                          const std::vector<uint32_t>& indices) {
      std::vector<uint32_t> out;
      out.reserve(indices.size());
      for (const uint32_t i : indices) {
        out.push_back(
            numbers.emplace(KeyOf(pieces[i], of, depth), static_cast<uint32_t>(numbers.size()))
                .first->second);
      }
      return out;
    };
    const std::vector<uint32_t> x = number(a_, of_a_, left_), y = number(b_, of_b_, right_);
    Take(MatchSequences(x, y, kMaxEdits), &match_.same);
  }

  // Pairs the n-th of a key with the n-th.
  void AnyOrder(Depth depth, std::vector<std::pair<uint32_t, uint32_t>>* out) {
    if (left_.empty() || right_.empty()) return;
    std::map<Key, std::vector<uint32_t>> waiting;  // positions in left_, the first last
    for (size_t i = left_.size(); i-- > 0;) {
      waiting[KeyOf(a_[left_[i]], of_a_, depth)].push_back(static_cast<uint32_t>(i));
    }
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    for (uint32_t i = 0; i < right_.size(); ++i) {
      const auto found = waiting.find(KeyOf(b_[right_[i]], of_b_, depth));
      if (found == waiting.end() || found->second.empty()) continue;
      pairs.emplace_back(found->second.back(), i);
      found->second.pop_back();
    }
    Take(pairs, out);
  }

  // Moves pairs of positions in left_ and right_ out of them.
  void Take(const std::vector<std::pair<uint32_t, uint32_t>>& pairs,
            std::vector<std::pair<uint32_t, uint32_t>>* out) {
    std::vector<bool> taken_left(left_.size()), taken_right(right_.size());
    for (const auto& [x, y] : pairs) {
      out->emplace_back(left_[x], right_[y]);
      taken_left[x] = true;
      taken_right[y] = true;
    }
    Drop(taken_left, &left_);
    Drop(taken_right, &right_);
  }
  static void Drop(const std::vector<bool>& taken, std::vector<uint32_t>* indices) {
    size_t kept = 0;
    for (size_t i = 0; i < indices->size(); ++i) {
      if (!taken[i]) (*indices)[kept++] = (*indices)[i];
    }
    indices->resize(kept);
  }

  // All pairs but a longest increasing subsequence have moved.
  void FindMoved() {
    const size_t count = match_.same.size();
    std::vector<size_t> tails, before(count, SIZE_MAX);  // tails: by length, its last pair
    for (size_t i = 0; i < count; ++i) {
      const auto at = std::lower_bound(tails.begin(), tails.end(), i, [this](size_t x, size_t y) {
        return match_.same[x].second < match_.same[y].second;
      });
      if (at != tails.begin()) before[i] = *std::prev(at);
      if (at == tails.end()) {
        tails.push_back(i);
      } else {
        *at = i;
      }
    }
    match_.moved.assign(count, true);
    for (size_t i = tails.empty() ? SIZE_MAX : tails.back(); i != SIZE_MAX; i = before[i]) {
      match_.moved[i] = false;
    }
  }

  const std::vector<Piece>&a_, &b_;
  const PlaceKeys &of_a_, &of_b_;
  std::vector<uint32_t> left_, right_;  // indices of pieces without a partner, ascending
  PieceMatch match_;
};

}  // namespace

PieceMatch MatchPieces(const std::vector<Piece>& a, const PlaceKeys& of_a,
                       const std::vector<Piece>& b, const PlaceKeys& of_b) {
  return Matcher(a, of_a, b, of_b).Match();
}

}  // namespace drydock
