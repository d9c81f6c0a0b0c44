#include "simccl/record/log/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace drydock {
namespace {

constexpr size_t kMaxMismatches = 8;
// Sums of larger sizes may overflow.
constexpr int64_t kMaxBytes = int64_t{1} << 53;

struct TypeInfo {
  const char* name;
  DataType type;
};
// By ncclDataType_t.
constexpr TypeInfo kTypes[kRecordTypes] = {
    {"int8", DataType::kInt8},      {"uint8", DataType::kUint8},
    {"int32", DataType::kInt32},    {"uint32", DataType::kUint32},
    {"int64", DataType::kInt64},    {"uint64", DataType::kUint64},
    {"float16", DataType::kFp16},   {"float32", DataType::kFp32},
    {"float64", DataType::kFp64},   {"bfloat16", DataType::kBf16},
    {"float8e4m3", DataType::kFp8}, {"float8e5m2", DataType::kFp8E5m2}};
// By ncclRedOp_t.
constexpr const char* kOps[] = {"sum", "prod", "max", "min", "avg", "pre-multiplied sum"};
// By RecordFunction.
struct FunctionInfo {
  const char* name;
  bool reduces, has_root;
};
constexpr FunctionInfo kFunctions[] = {
    {"all-reduce", true, false}, {"all-gather", false, false}, {"reduce-scatter", true, false},
    {"broadcast", false, true},  {"reduce", true, true},       {"all-to-all", false, false},
    {"gather", false, true},     {"scatter", false, true},     {"send", false, false},
    {"receive", false, false}};

const FunctionInfo& InfoOf(const RecordEntry& entry) {
  return kFunctions[static_cast<size_t>(entry.function)];
}

uint64_t BytesOf(const RecordEntry& entry) {
  return entry.count * static_cast<uint64_t>(ElementBytes(entry));
}

std::string Amount(const RecordEntry& entry) {
  return fmt::format("{} {}", entry.count, kTypes[entry.type].name);
}

bool MovesObject(const RecordEntry& entry, int64_t object_bytes) {
  return ElementBytes(entry) == 1 && entry.count <= static_cast<uint64_t>(object_bytes);
}

// Calls that only move data.
bool SameSize(const RecordEntry& a, const RecordEntry& b, int64_t object_bytes) {
  return BytesOf(a) == BytesOf(b) || (MovesObject(a, object_bytes) && MovesObject(b, object_bytes));
}

bool SameCollective(const RecordEntry& a, const RecordEntry& b, int64_t object_bytes) {
  if (a.function != b.function) return false;
  if (InfoOf(a).has_root && a.peer != b.peer) return false;
  if (InfoOf(a).reduces) return a.type == b.type && a.op == b.op && a.count == b.count;
  return SameSize(a, b, object_bytes);
}

// The calls of the members of one communicator.
struct Calls {
  std::vector<std::vector<RecordEntry*>> collectives;  // [member]
  // By (from, to), in order.
  std::map<std::pair<int, int>, std::vector<RecordEntry*>> sends, receives;
};

std::vector<Calls> Sort(Recording* all) {
  Recording& recording = *all;
  std::vector<Calls> sorted(recording.communicators.size());
  for (size_t c = 0; c < sorted.size(); ++c) {
    sorted[c].collectives.resize(recording.communicators[c].ranks.size());
  }
  for (RecordedRank& rank : recording.ranks) {
    for (RecordEntry& entry : rank.entries) {
      if (entry.kind != RecordKind::kCall) continue;
      Calls& calls = sorted[entry.communicator];
      if (entry.function == RecordFunction::kSend) {
        calls.sends[{entry.rank, entry.peer}].push_back(&entry);
      } else if (entry.function == RecordFunction::kRecv) {
        calls.receives[{entry.peer, entry.rank}].push_back(&entry);
      } else {
        calls.collectives[static_cast<size_t>(entry.rank)].push_back(&entry);
      }
    }
  }
  return sorted;
}

// Describes the ranks, the calls and their places in messages.
class CallNames {
 public:
  CallNames(const RecordedCommunicator& communicator, const PlaceOfCall& place)
      : communicator_(communicator), place_(place) {}

  std::string RankName(int member) const { return fmt::format("rank {}", RankOf(member)); }
  std::string CommunicatorPrefix() const {
    return "communicator of " + ListRanks(communicator_.ranks) + ": ";
  }
  // " in op 3 of class 0 (...)".
  std::string PlaceSuffix(const RecordEntry& call) const {
    const std::string place = place_ ? place_(RankOf(call.rank), call) : "";
    return place.empty() ? "" : " in " + place;
  }

 private:
  int RankOf(int member) const { return communicator_.ranks[static_cast<size_t>(member)]; }
  const RecordedCommunicator& communicator_;
  const PlaceOfCall& place_;
};

std::optional<std::string> CollectiveMismatch(const CallNames& names, const Calls& calls,
                                              int64_t object_bytes) {
  const auto& first = calls.collectives.front();
  for (size_t member = 1; member < calls.collectives.size(); ++member) {
    const auto& own = calls.collectives[member];
    const auto same = [object_bytes](const RecordEntry* a, const RecordEntry* b) {
      return SameCollective(*a, *b, object_bytes);
    };
    const auto [a, b] = std::mismatch(first.begin(), first.end(), own.begin(), own.end(), same);
    if (a == first.end() && b == own.end()) continue;
    const auto describe = [&](auto at, auto end, size_t caller) {
      return names.RankName(static_cast<int>(caller)) +
             (at == end ? " makes no further collective"
                        : " calls " + DescribeCall(**at) + names.PlaceSuffix(**at));
    };
    return fmt::format("collective {}: {}, {}", a - first.begin() + 1,
                       describe(b, own.end(), member), describe(a, first.end(), 0));
  }
  return std::nullopt;
}

std::optional<std::string> MessageMismatch(const CallNames& names, const Calls& calls,
                                           int64_t object_bytes) {
  const auto of = [](const auto& all, const std::pair<int, int>& pair) {
    const auto found = all.find(pair);
    return found == all.end() ? std::vector<RecordEntry*>() : found->second;
  };
  std::vector<std::pair<int, int>> pairs;
  for (const auto& [pair, entries] : calls.sends) pairs.push_back(pair);
  for (const auto& [pair, entries] : calls.receives) pairs.push_back(pair);
  std::sort(pairs.begin(), pairs.end());
  for (const std::pair<int, int>& pair : pairs) {
    const auto sends = of(calls.sends, pair), receives = of(calls.receives, pair);
    const std::string from = names.RankName(pair.first), to = names.RankName(pair.second);
    const auto describe = [&names](const char* does, const RecordEntry& call) {
      return does + Amount(call) + names.PlaceSuffix(call);
    };
    for (size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
      const bool sent = i < sends.size(), received = i < receives.size();
      if (sent && received && SameSize(*sends[i], *receives[i], object_bytes)) continue;
      return fmt::format("message {} from {} to {}: {} {}, {} {}", i + 1, from, to, from,
                         sent ? describe("sends ", *sends[i]) : "does not send it", to,
                         received ? describe("receives ", *receives[i]) : "does not receive it");
    }
  }
  return std::nullopt;
}

std::optional<std::string> Overflow(const RecordedCommunicator& communicator, const Calls& calls) {
  const auto too_large = [&](const RecordEntry& entry) {
    const auto most = static_cast<uint64_t>(kMaxBytes) /
                      static_cast<uint64_t>(ElementBytes(entry)) /
                      static_cast<uint64_t>(communicator.members());
    return entry.count > most;
  };
  for (const auto& own : calls.collectives) {
    for (const RecordEntry* entry : own) {
      if (too_large(*entry)) return DescribeCall(*entry) + ": the buffer's size overflows";
    }
  }
  for (const auto& [pair, sends] : calls.sends) {
    for (const RecordEntry* entry : sends) {
      if (too_large(*entry)) return DescribeCall(*entry) + ": the message's size overflows";
    }
  }
  return std::nullopt;
}

// NCCL uses registered buffers only if all members registered theirs.
void UnifyBuffers(const Calls& calls) {
  const auto& collectives = calls.collectives;
  for (size_t i = 0; i < collectives.front().size(); ++i) {
    auto least = RecordBuffers::kSymmetric;
    for (const auto& own : collectives) least = std::min(least, own[i]->buffers);
    for (const auto& own : collectives) own[i]->buffers = least;
  }
  for (const auto& [pair, receives] : calls.receives) {
    const std::vector<RecordEntry*>& sends = calls.sends.at(pair);
    for (size_t i = 0; i < receives.size(); ++i) {
      sends[i]->buffers = receives[i]->buffers = std::min(sends[i]->buffers, receives[i]->buffers);
    }
  }
}

void UnifyTypes(const Calls& calls) {
  const auto adopt = [](const RecordEntry& from, RecordEntry* to) {
    to->type = from.type;
    to->count = from.count;
  };
  for (const std::vector<RecordEntry*>& own : calls.collectives) {
    for (size_t i = 0; i < own.size(); ++i) adopt(*calls.collectives.front()[i], own[i]);
  }
  for (const auto& [pair, receives] : calls.receives) {
    const std::vector<RecordEntry*>& sends = calls.sends.at(pair);
    for (size_t i = 0; i < receives.size(); ++i) adopt(*sends[i], receives[i]);
  }
}

}  // namespace

bool IsMessage(const RecordEntry& entry) {
  return entry.function == RecordFunction::kSend || entry.function == RecordFunction::kRecv;
}

DataType TypeOf(const RecordEntry& entry) { return kTypes[entry.type].type; }

int64_t ElementBytes(const RecordEntry& entry) { return SizeOf(TypeOf(entry)).count(); }

std::string DescribeCall(const RecordEntry& entry) {
  const FunctionInfo& function = InfoOf(entry);
  std::string text = fmt::format("{} of {}", function.name, Amount(entry));
  if (function.reduces) text += fmt::format(" ({})", kOps[entry.op]);
  if (function.has_root) text += fmt::format(", root {}", entry.peer);
  return text;
}

Status MatchCalls(Recording* recording, const PlaceOfCall& place, int64_t object_bytes) {
  const std::vector<Calls> sorted = Sort(recording);
  std::vector<Diagnostic> mismatches;
  for (size_t c = 0; c < sorted.size() && mismatches.size() < kMaxMismatches; ++c) {
    const RecordedCommunicator& communicator = recording->communicators[c];
    const CallNames names(communicator, place);
    const std::string prefix = names.CommunicatorPrefix();
    if (const auto overflow = Overflow(communicator, sorted[c])) {
      mismatches.push_back({prefix + *overflow, {}, {}});
      continue;
    }
    std::optional<std::string> mismatch = CollectiveMismatch(names, sorted[c], object_bytes);
    if (!mismatch.has_value()) mismatch = MessageMismatch(names, sorted[c], object_bytes);
    if (mismatch.has_value()) {
      mismatches.push_back({prefix + *mismatch + "; NCCL would hang or mix up data", {}, {}});
    }
  }
  if (!mismatches.empty()) return Error(std::move(mismatches));
  for (const Calls& calls : sorted) {
    UnifyTypes(calls);
    UnifyBuffers(calls);
  }
  return OkStatus();
}

}  // namespace drydock
