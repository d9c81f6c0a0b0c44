#include "capture/classes/partition.h"

#include <algorithm>
#include <optional>

namespace drydock::capture {
namespace {

// Each class costs a run of a rank.
constexpr int kMaxClasses = 512;

// `cells`: by rank; ranks of one cell cannot be told apart. Returns the pairs of these that differ.
size_t Conflicts(const std::vector<int>& cells, const std::map<int, std::string>& keys) {
  std::map<int, std::map<std::string, size_t>> count;
  for (const auto& [rank, key] : keys) count[cells[static_cast<size_t>(rank)]][key]++;
  size_t conflicts = 0;
  for (const auto& [cell, of_cell] : count) {
    size_t all = 0, same = 0;
    for (const auto& [key, number] : of_cell) {
      all += number;
      same += number * number;
    }
    conflicts += (all * all - same) / 2;
  }
  return conflicts;
}

// Divides each cell by the value of its ranks.
std::vector<int> Divide(const std::vector<int>& cells, const std::vector<int>& values) {
  std::map<std::pair<int, int>, int> known;
  std::vector<int> divided;
  for (size_t rank = 0; rank < cells.size(); ++rank) {
    const auto number = static_cast<int>(known.size());
    divided.push_back(known.emplace(std::pair(cells[rank], values[rank]), number).first->second);
  }
  return divided;
}

int CountOf(const std::vector<int>& cells) {
  return *std::max_element(cells.begin(), cells.end()) + 1;
}

}  // namespace

bool Partition::Note(const PlacesThatMatter& places) {
  bool added = false;
  for (const GroupKind& kind : places.positions) added |= positions_.insert(kind).second;
  for (const auto& [kind, root] : places.roots) added |= roots_[kind].insert(root).second;
  return added;
}

std::vector<int64_t> Partition::SignatureOf(int rank, std::map<GroupKind, int>* numbers) const {
  std::vector<int64_t> signature = {hosts_[static_cast<size_t>(rank)].kind};
  for (const Membership& own : groups_.Of(rank)) {
    const auto number = static_cast<int>(numbers->size());
    signature.push_back(numbers->emplace(own.kind, number).first->second);
    signature.push_back(groups_.size_of(own.group));
    if (positions_.count(own.kind) > 0) signature.push_back(own.position);
    const auto roots = roots_.find(own.kind);
    if (roots == roots_.end()) continue;
    signature.push_back(roots->second.count(own.position) > 0 ? own.position : -1);
  }
  return signature;
}

int Partition::ValueOf(const Reason& reason, int rank) const {
  switch (reason.what) {
    case Reason::What::kRank:
      return rank == reason.from ? 1 : 0;
    case Reason::What::kLocal:
      return hosts_[static_cast<size_t>(rank)].local == 0 ? 1 : 0;
    case Reason::What::kFrom:
    case Reason::What::kPosition: {
      const Membership* own = groups_.Find(rank, reason.kind);
      if (own == nullptr) return -1;
      if (reason.what == Reason::What::kPosition) return own->position;
      return own->position >= reason.from ? 1 : 0;
    }
  }
  return 0;
}

std::vector<std::vector<int>> Partition::Classes() const {
  std::map<GroupKind, int> numbers;
  std::map<std::vector<int64_t>, size_t> known;
  std::vector<std::vector<int>> classes;
  for (int rank = 0; rank < static_cast<int>(hosts_.size()); ++rank) {
    std::vector<int64_t> signature = SignatureOf(rank, &numbers);
    for (const Reason& reason : reasons_) signature.push_back(ValueOf(reason, rank));
    const auto [index, added] = known.emplace(std::move(signature), classes.size());
    if (added) classes.emplace_back();
    classes[index->second].push_back(rank);
  }
  return classes;
}

std::vector<Partition::Reason> Partition::Candidates(const std::map<int, std::string>& keys,
                                                     bool positions_too) const {
  using What = Reason::What;
  const auto world = static_cast<int>(hosts_.size());
  std::vector<Reason> all = {{What::kRank, {}, 0}, {What::kRank, {}, world - 1}, {What::kLocal}};
  std::map<GroupKind, std::set<int>> positions;  // of ranks that have run
  std::map<GroupKind, int> sizes;
  for (const auto& [rank, key] : keys) {
    for (const Membership& own : groups_.Of(rank)) {
      positions[own.kind].insert(own.position);
      sizes[own.kind] = groups_.size_of(own.group);
    }
  }
  for (const auto& [kind, seen] : positions) {
    const int size = sizes[kind];
    if (size < 2) continue;
    std::set<int> from = {1, size - 1};
    for (auto at = seen.begin(), next = std::next(at); next != seen.end(); at = next++) {
      from.insert(*at + (*next - *at + 1) / 2);
    }
    for (const int first : from) all.push_back({What::kFrom, kind, first});
  }
  if (!positions_too) return all;
  for (const auto& [kind, seen] : positions) {
    if (sizes[kind] > 1) all.push_back({What::kPosition, kind, 0});
  }
  return all;
}

bool Partition::Explain(const std::map<int, std::string>& keys) {
  // Positions of their own explain much, at the price of many classes.
  return ExplainBy(keys, false) || ExplainBy(keys, true);
}

bool Partition::ExplainBy(const std::map<int, std::string>& keys, bool positions_too) {
  reasons_.clear();
  std::vector<int> cells(hosts_.size());
  const std::vector<std::vector<int>> classes = Classes();
  for (size_t i = 0; i < classes.size(); ++i) {
    for (const int rank : classes[i]) cells[static_cast<size_t>(rank)] = static_cast<int>(i);
  }
  const std::vector<Reason> candidates = Candidates(keys, positions_too);
  std::vector<std::vector<int>> values(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    for (int rank = 0; rank < static_cast<int>(hosts_.size()); ++rank) {
      values[i].push_back(ValueOf(candidates[i], rank));
    }
  }
  size_t conflicts = Conflicts(cells, keys);
  while (conflicts > 0) {
    // The reason that explains most, and of these, the one with the fewest classes.
    std::optional<size_t> best;
    std::pair<size_t, int> least = {conflicts, 0};
    for (size_t i = 0; i < candidates.size(); ++i) {
      const std::vector<int> divided = Divide(cells, values[i]);
      const std::pair<size_t, int> left = {Conflicts(divided, keys), CountOf(divided)};
      if (left.first == conflicts || left.second > kMaxClasses) continue;
      if (best.has_value() && left >= least) continue;
      best = i;
      least = left;
    }
    if (!best.has_value()) return false;
    reasons_.push_back(candidates[*best]);
    cells = Divide(cells, values[*best]);
    conflicts = least.first;
  }
  return true;
}

}  // namespace drydock::capture
