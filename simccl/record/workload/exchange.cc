#include "simccl/record/workload/exchange.h"

#include <algorithm>
#include <utility>

#include "simccl/record/log/match.h"
#include "simccl/record/workload/launches.h"

namespace drydock {
namespace {

// An exchange is stored as a table of pairs.
constexpr size_t kMaxMembers = 512;

// Returns elements by pair, at [sender * members + receiver], or nullopt if a pair has several
// messages.
std::optional<std::vector<int64_t>> TableOf(std::span<const RecordEntry* const> sends,
                                            size_t members, bool in_bytes) {
  std::vector<int64_t> sent(members * members, 0);
  for (const RecordEntry* send : sends) {
    int64_t& cell =
        sent[static_cast<size_t>(send->rank) * members + static_cast<size_t>(send->peer)];
    if (cell != 0) return std::nullopt;
    cell = static_cast<int64_t>(send->count) * (in_bytes ? ElementBytes(*send) : 1);
  }
  return sent;
}

// Returns true if all pairs of different members exchange the same amount.
bool IsUniform(const std::vector<int64_t>& table, size_t members) {
  if (members < 2) return false;
  for (size_t pair = 0; pair < table.size(); ++pair) {
    if (pair / members != pair % members && table[pair] != table[1]) return false;
  }
  return true;
}

CommCall ExchangeCall(std::vector<int64_t> table, size_t members, DataType type) {
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

}  // namespace

std::optional<CommCall> ExchangeOf(std::span<const RecordEntry* const> sends, int members) {
  const auto n = static_cast<size_t>(members);
  if (sends.empty() || n > kMaxMembers) return std::nullopt;
  const bool in_bytes = std::any_of(sends.begin(), sends.end(), [&](const RecordEntry* send) {
    return send->type != sends.front()->type;
  });
  std::optional<std::vector<int64_t>> table = TableOf(sends, n, in_bytes);
  if (!table.has_value()) return std::nullopt;
  CommCall call =
      ExchangeCall(std::move(*table), n, in_bytes ? DataType::kUint8 : TypeOf(*sends.front()));
  auto least = RecordBuffers::kSymmetric;
  for (const RecordEntry* send : sends) least = std::min(least, send->buffers);
  call.buffers = static_cast<BufferKind>(least);
  return call;
}

}  // namespace drydock
