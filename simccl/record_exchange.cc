#include "simccl/record_exchange.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "simccl/record_match.h"

namespace drydock {
namespace {

// An exchange is written down as a table of pairs; larger communicators' messages stay messages.
constexpr size_t kMostMembers = 512;

using Group = std::vector<const RecordEntry*>;
using Groups = std::vector<std::vector<Group>>;  // [member][number]

// The messages of each communicator's members, group by group.
std::map<uint64_t, Groups> CollectGroups(const Recording& recording) {
  std::map<uint64_t, Groups> all;
  for (const RecordedRank& rank : recording.ranks) {
    std::map<uint64_t, uint64_t> last;  // group, by communicator
    for (const RecordEntry& entry : rank.entries) {
      if (entry.kind != RecordKind::kCall || !IsMessage(entry)) continue;
      Groups& groups = all[entry.communicator];
      groups.resize(recording.communicators[entry.communicator].ranks.size());
      std::vector<Group>& own = groups[static_cast<size_t>(entry.rank)];
      const auto [known, added] = last.emplace(entry.communicator, entry.group);
      if (added || std::exchange(known->second, entry.group) != entry.group) own.emplace_back();
      own.back().push_back(&entry);
    }
  }
  return all;
}

// Elements by pair, at [sender * members + receiver]; nullopt if it is no exchange.
std::optional<std::vector<int64_t>> TableOf(const Groups& groups, size_t number, bool in_bytes) {
  const size_t n = groups.size();
  std::vector<int64_t> sent(n * n, 0), received(n * n, 0);
  for (size_t member = 0; member < n; ++member) {
    for (const RecordEntry* entry : groups[member][number]) {
      const auto peer = static_cast<size_t>(entry->peer);
      const bool sends = entry->function == RecordFunction::kSend;
      int64_t& cell = sends ? sent[member * n + peer] : received[peer * n + member];
      if (cell != 0) return std::nullopt;
      cell = static_cast<int64_t>(entry->count) * (in_bytes ? ElementBytes(*entry) : 1);
    }
  }
  return sent == received ? std::optional(std::move(sent)) : std::nullopt;
}

// All pairs of different members exchange the same amount.
bool IsUniform(const std::vector<int64_t>& table, size_t members) {
  if (members < 2) return false;
  for (size_t pair = 0; pair < table.size(); ++pair) {
    if (pair / members != pair % members && table[pair] != table[1]) return false;
  }
  return true;
}

CommCall CallOf(std::vector<int64_t> table, size_t members, DataType type) {
  CommCall call;
  call.type = type;
  call.group_size = static_cast<int>(members);
  if (IsUniform(table, members)) {
    call.collective = CollectiveType::kAllToAll;
    call.count = table[1] * static_cast<int64_t>(members);
    return call;
  }
  call.collective = CollectiveType::kAllToAllV;
  std::vector<int64_t> sent(members), received(members);
  for (size_t pair = 0; pair < table.size(); ++pair) {
    sent[pair / members] += table[pair];
    received[pair % members] += table[pair];
  }
  call.count = std::max(*std::max_element(sent.begin(), sent.end()),
                        *std::max_element(received.begin(), received.end()));
  call.pair_counts = std::move(table);
  return call;
}

std::optional<CommCall> ExchangeOf(const Groups& groups, size_t number) {
  const RecordEntry& first = *groups.front()[number].front();
  bool in_bytes = false;
  for (const std::vector<Group>& own : groups) {
    for (const RecordEntry* entry : own[number]) in_bytes |= entry->type != first.type;
  }
  std::optional<std::vector<int64_t>> table = TableOf(groups, number, in_bytes);
  if (!table.has_value()) return std::nullopt;
  CommCall call =
      CallOf(std::move(*table), groups.size(), in_bytes ? DataType::kUint8 : TypeOf(first));
  if (call.count == 0) return std::nullopt;
  return call;
}

std::optional<std::vector<CommCall>> ExchangesOf(const Groups& groups) {
  const size_t count = groups.front().size();
  bool gathers = false;
  for (const std::vector<Group>& own : groups) {
    if (own.size() != count) return std::nullopt;
    for (const Group& group : own) gathers |= group.size() > 1;
  }
  if (!gathers || groups.size() > kMostMembers) return std::nullopt;
  std::vector<CommCall> exchanges;
  for (size_t number = 0; number < count; ++number) {
    std::optional<CommCall> exchange = ExchangeOf(groups, number);
    if (!exchange.has_value()) return std::nullopt;
    exchanges.push_back(std::move(*exchange));
  }
  return exchanges;
}

}  // namespace

RecordExchanges FindExchanges(const Recording& recording) {
  RecordExchanges found;
  for (const auto& [communicator, groups] : CollectGroups(recording)) {
    std::optional<std::vector<CommCall>> exchanges = ExchangesOf(groups);
    if (exchanges.has_value()) found.emplace(communicator, std::move(*exchanges));
  }
  return found;
}

DataType TypeOf(const RecordEntry& entry) {
  constexpr DataType kByNcclType[kRecordTypes] = {
      DataType::kInt8,  DataType::kUint8,  DataType::kInt32, DataType::kUint32,
      DataType::kInt64, DataType::kUint64, DataType::kFp16,  DataType::kFp32,
      DataType::kFp64,  DataType::kBf16,   DataType::kFp8,   DataType::kFp8E5m2};
  return kByNcclType[entry.type];
}

}  // namespace drydock
