#include "capture/classes/class_tape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "capture/classes/role_names.h"
#include "capture/tape/tape_text.h"
#include "core/base/files.h"
#include "core/model/submodule.h"
#include "simccl/record/log/match.h"

namespace drydock::capture {
namespace {

bool UsesEvent(RecordKind kind) {
  return kind == RecordKind::kStreamWait || kind == RecordKind::kEventSync;
}

bool UsesStream(RecordKind kind) {
  return kind == RecordKind::kCall || kind == RecordKind::kEventRecord ||
         kind == RecordKind::kStreamWait || kind == RecordKind::kStreamSync ||
         kind == RecordKind::kWork;
}

bool HasRoot(const RecordEntry& entry) {
  return entry.function == RecordFunction::kBroadcast ||
         entry.function == RecordFunction::kReduce || entry.function == RecordFunction::kGather ||
         entry.function == RecordFunction::kScatter;
}

// Members of a communicator of this role.
int MembersOf(const ClassRole& role) {
  return role.offsets.empty() ? role.size : static_cast<int>(role.offsets.size());
}

// Makes one call of the messages of a launch, if the rank exchanges the same with every member.
std::optional<RecordEntry> ExchangeOf(std::span<const RecordEntry> calls, int members) {
  const RecordEntry& first = calls.front();
  std::set<int32_t> sent, received;
  for (const RecordEntry& call : calls) {
    if (!IsMessage(call) || call.count != first.count || call.type != first.type ||
        call.stream != first.stream || call.buffers != first.buffers) {
      return std::nullopt;
    }
    auto& peers = call.function == RecordFunction::kSend ? sent : received;
    if (!peers.insert(call.peer).second) return std::nullopt;
  }
  if (sent != received || first.count == 0 || members < 3) return std::nullopt;
  // To itself, NCCL only copies.
  const size_t others = sent.size() - sent.count(0);
  if (others + 1 != static_cast<size_t>(members)) return std::nullopt;
  RecordEntry exchange = first;
  exchange.function = RecordFunction::kAllToAll;
  exchange.peer = 0;
  return exchange;
}

// In a step, the host waits for norms of its tensors.
HostWait WaitsOf(const TapePlace& place) {
  return place.phase == Phase::kOptimizer ? HostWait::kNothing : place.host_waits;
}

class TapeMaker {
 public:
  TapeMaker(const RankTape& tape, const WorldGroups& groups) : tape_(tape), groups_(groups) {}

  Result<ClassTape> Make() {
    RETURN_IF_ERROR(FindKinds());
    FindUsedRecords();
    int64_t calls = tape_.start.calls;
    for (const RecordEntry& entry : tape_.entries) {
      calls_before_.push_back(calls);
      calls += entry.kind == RecordKind::kCall ? 1 : 0;
    }
    for (size_t i = 0; i < tape_.entries.size();) {
      if (tape_.entries[i].kind == RecordKind::kCall) {
        size_t end = i + 1;
        while (end < tape_.entries.size() && SameLaunch(tape_.entries[i], tape_.entries[end])) {
          ++end;
        }
        RETURN_IF_ERROR(AddLaunch(i, end));
        i = end;
      } else {
        AddOther(i++);
      }
    }
    out_.rank = tape_.rank;
    out_.world = tape_.world;
    out_.submodules = tape_.submodules;
    out_.blocks = tape_.blocks;
    out_.transfers = tape_.transfers;
    out_.attention_backend = tape_.attention_backend;
    out_.memory = tape_.memory;
    out_.host = tape_.host;
    out_.estimates = tape_.estimates;
    out_.reads = tape_.reads;
    SetKey();
    return std::move(out_);
  }

 private:
  static bool SameLaunch(const RecordEntry& a, const RecordEntry& b) {
    return b.kind == RecordKind::kCall && a.group == b.group && a.communicator == b.communicator;
  }

  // The kind of each group of the tape that the rank is in.
  Status FindKinds() {
    kinds_ = MembershipsIn(tape_.groups, tape_.rank);
    for (const std::optional<Membership>& own : kinds_) {
      if (own.has_value() && groups_.Find(tape_.rank, own->kind) == nullptr) {
        return Error(fmt::format("rank {} is in a group '{}' that other ranks do not know",
                                 tape_.rank, own->kind.description));
      }
    }
    return OkStatus();
  }

  // Records of events that nobody waits for are left out: frameworks poll these from other threads,
  // from time to time.
  void FindUsedRecords() {
    used_.assign(tape_.entries.size(), false);
    std::map<uint64_t, size_t> record_of;  // by event
    for (size_t i = 0; i < tape_.entries.size(); ++i) {
      const RecordEntry& entry = tape_.entries[i];
      if (entry.kind == RecordKind::kEventRecord) record_of[entry.event] = i;
      const auto record = record_of.find(entry.event);
      if (UsesEvent(entry.kind) && record != record_of.end()) used_[record->second] = true;
    }
  }

  Result<uint64_t> RoleOf(const RecordEntry& entry) {
    if (entry.communicator >= tape_.communicators.size() ||
        tape_.communicators[entry.communicator].group < 0) {
      return Error(fmt::format("rank {} calls {} on a communicator of unknown ranks", tape_.rank,
                               DescribeCall(entry)));
    }
    const auto known = role_of_.find(entry.communicator);
    if (known != role_of_.end()) return known->second;
    const TapeCommunicator& communicator = tape_.communicators[entry.communicator];
    const auto group = static_cast<size_t>(communicator.group);
    if (group >= kinds_.size() || !kinds_[group].has_value()) {
      return Error(fmt::format("rank {} calls {} on a communicator of a group without it",
                               tape_.rank, DescribeCall(entry)));
    }
    ClassRole role;
    role.kind = kinds_[group]->kind;
    role.size = static_cast<int>(tape_.groups[group].ranks.size());
    bool whole = static_cast<int>(communicator.members.size()) == role.size;
    for (size_t i = 0; i < communicator.members.size(); ++i) {
      whole = whole && communicator.members[i] == static_cast<int>(i);
      role.offsets.push_back((communicator.members[i] - kinds_[group]->position + role.size) %
                             role.size);
    }
    if (whole) role.offsets.clear();
    // Two communicators of the same members are one role: their calls have one order.
    const auto same = std::find(out_.roles.begin(), out_.roles.end(), role);
    const auto index = static_cast<uint64_t>(same - out_.roles.begin());
    if (same == out_.roles.end()) out_.roles.push_back(std::move(role));
    role_of_[entry.communicator] = index;
    return index;
  }

  Status AddLaunch(size_t begin, size_t end) {
    std::vector<RecordEntry> calls;
    for (size_t i = begin; i < end; ++i) {
      RecordEntry call = tape_.entries[i];
      ASSIGN_OR_RETURN(call.communicator, RoleOf(call));
      const int members = MembersOf(out_.roles[call.communicator]);
      if (call.rank < 0 || call.rank >= members || call.peer < 0 || call.peer >= members) {
        return Error(fmt::format("rank {}: {} names a member that the communicator lacks",
                                 tape_.rank, DescribeCall(call)));
      }
      if (IsMessage(call)) {
        call.peer = (call.peer - call.rank + members) % members;
      } else if (!HasRoot(call)) {
        call.peer = 0;
      }
      call.rank = 0;
      calls.push_back(call);
    }
    const int members = MembersOf(out_.roles[calls.front().communicator]);
    if (std::optional<RecordEntry> exchange = ExchangeOf(calls, members)) {
      Push(*exchange, begin);
      return OkStatus();
    }
    for (const RecordEntry& call : calls) {
      Push(call, begin + static_cast<size_t>(&call - calls.data()));
    }
    return OkStatus();
  }

  void AddOther(size_t at) {
    RecordEntry entry = tape_.entries[at];
    if (entry.kind == RecordKind::kEventRecord) {
      if (!used_[at]) return;
      events_[entry.event] = ++records_;
    }
    if (entry.kind == RecordKind::kEventRecord || UsesEvent(entry.kind)) {
      const auto known = events_.find(entry.event);
      if (known == events_.end()) return;  // recorded before the iteration
      entry.event = known->second;
    }
    Push(entry, at);
  }

  void Push(RecordEntry entry, size_t at) {
    entry.device = 0;
    if (UsesStream(entry.kind)) entry.stream = Number(&streams_, entry.stream);
    if (entry.kind == RecordKind::kCall) {
      entry.group = Number(&launches_, entry.group);
      entry.event = 0;
    }
    out_.entries.push_back(entry);
    out_.calls.push_back(entry.kind == RecordKind::kCall ? calls_before_[at] : -1);
    out_.places.push_back(at < tape_.places.size() ? tape_.places[at] : TapePlace());
  }

  // Numbers things by their first use, from 1 on; 0 stays: the default stream.
  static uint64_t Number(std::map<uint64_t, uint64_t>* numbers, uint64_t thing) {
    if (thing == 0) return 0;
    return numbers->emplace(thing, numbers->size() + 1).first->second;
  }

  // Finds the entries that ranks of a class share. What orders work belongs to the op behind it.
  void FindSame() {
    bool differs = false;
    std::vector<bool> may_differ(out_.entries.size());
    for (size_t i = out_.entries.size(); i-- > 0;) {
      const RecordEntry& entry = out_.entries[i];
      if (entry.kind == RecordKind::kCall) differs = false;
      if (entry.kind == RecordKind::kWork) {
        differs = out_.places[i].phase == Phase::kOptimizer;
        if (differs) out_.optimizer += BytesOfWork(i);
      }
      may_differ[i] = differs;
    }
    std::map<uint64_t, uint64_t> records;
    for (size_t i = 0; i < out_.entries.size(); ++i) {
      if (may_differ[i]) continue;
      RecordEntry entry = out_.entries[i];
      if (entry.kind == RecordKind::kEventRecord) {
        const uint64_t number = records.size() + 1;
        records[entry.event] = number;
      }
      if (entry.kind == RecordKind::kEventRecord || UsesEvent(entry.kind)) {
        const auto record = records.find(entry.event);
        entry.event = record == records.end() ? 0 : record->second;
      }
      out_.same.push_back(entry);
      out_.same_at.push_back(i);
    }
  }

  Bytes BytesOfWork(size_t at) const {
    if (out_.places[at].transfer >= 0) return Bytes();
    Bytes bytes;
    for (const uint32_t index : out_.blocks[out_.entries[at].count].submodules) {
      bytes += out_.submodules[index].bytes;
    }
    return bytes;
  }

  void SetKey() {
    FindSame();
    std::vector<std::string> blocks;  // their content
    std::vector<std::string> facts;
    for (const Submodule& submodule : out_.submodules) facts.push_back(FactsOfWork(submodule));
    for (const ComputeBlock& block : out_.blocks) {
      std::string text = block.name;
      for (const uint32_t index : block.submodules) text += "\n" + facts[index];
      blocks.push_back(Sha256(text));
    }
    std::string text;
    for (const ClassRole& role : out_.roles) {
      text += fmt::format("{}:{}:{}", role.kind.description, role.kind.ordinal, role.size);
      for (const int offset : role.offsets) text += fmt::format(",{}", offset);
      text += '\n';
    }
    const auto add = [&text](auto... values) {
      const int64_t words[] = {static_cast<int64_t>(values)...};
      text.append(reinterpret_cast<const char*>(words), sizeof words);
    };
    for (size_t i = 0; i < out_.same.size(); ++i) {
      const RecordEntry& e = out_.same[i];
      const TapePlace& place = out_.places[out_.same_at[i]];
      add(e.kind, e.function, e.type, e.op, e.stream_blocks, e.buffers, e.peer, e.communicator,
          e.stream, e.event, e.group, place.phase, place.layer, place.microbatch, WaitsOf(place),
          place.graph, place.stores);
      if (place.transfer >= 0) {
        add(out_.transfers[static_cast<size_t>(place.transfer)].bytes.count());
      } else if (e.kind == RecordKind::kWork) {
        text += blocks[e.count];
      } else {
        add(e.count);
      }
    }
    out_.key = Sha256(text);
  }

  const RankTape& tape_;
  const WorldGroups& groups_;
  ClassTape out_;
  std::vector<std::optional<Membership>> kinds_;  // by group of the tape
  std::vector<int64_t> calls_before_;             // by entry of the tape
  std::vector<bool> used_;                        // by entry: records that something waits for
  std::map<uint64_t, uint64_t> role_of_, streams_, events_, launches_;
  uint64_t records_ = 0;
};

// Returns true if what a rank sends and receives in one launch is the same seen from any member: a
// ring, a shift.
bool IsShift(std::span<const RecordEntry> calls, int members) {
  std::multiset<std::tuple<int, int64_t>> sent, received;
  for (const RecordEntry& call : calls) {
    const int64_t bytes = static_cast<int64_t>(call.count) * ElementBytes(call);
    if (call.function == RecordFunction::kSend) sent.insert({call.peer, bytes});
    if (call.function == RecordFunction::kRecv) {
      received.insert({(members - call.peer) % members, bytes});
    }
  }
  return sent == received;
}

// The content of an entry apart from the tables that it refers to.
auto OwnFacts(const RecordEntry& e) {
  return std::tuple(e.kind, e.function, e.type, e.op, e.stream_blocks, e.buffers, e.peer, e.stream,
                    e.event, e.group, e.kind == RecordKind::kWork ? 0 : e.count);
}

auto OwnFacts(const TapePlace& p) {
  return std::tuple(p.phase, p.layer, p.microbatch, WaitsOf(p), p.graph, p.stores, p.transfer >= 0);
}

// REQUIRES: the entry is kWork.
std::string WorkText(const ClassTape& tape, size_t at) {
  const TapePlace& place = tape.places[at];
  if (place.transfer >= 0) {
    const MemoryTransfer& transfer = tape.transfers[static_cast<size_t>(place.transfer)];
    return fmt::format("{} ({})", transfer.name, ToString(transfer.bytes));
  }
  const ComputeBlock& block = tape.blocks[tape.entries[at].count];
  std::string text = block.name;
  for (const uint32_t index : block.submodules) {
    text += fmt::format(" ({})", FactsOfWork(tape.submodules[index]));
  }
  return text;
}

// Compares the i-th entries that ranks share.
bool SameEntry(const ClassTape& a, const ClassTape& b, size_t i) {
  const RecordEntry &x = a.same[i], &y = b.same[i];
  if (OwnFacts(x) != OwnFacts(y)) return false;
  if (x.kind == RecordKind::kCall && a.roles[x.communicator] != b.roles[y.communicator]) {
    return false;
  }
  const size_t at_a = a.same_at[i], at_b = b.same_at[i];
  if (OwnFacts(a.places[at_a]) != OwnFacts(b.places[at_b])) return false;
  return x.kind != RecordKind::kWork || WorkText(a, at_a) == WorkText(b, at_b);
}

bool DoStepsDiffer(const ClassTape& a, const ClassTape& b) {
  const auto x = static_cast<double>(a.optimizer.count());
  const auto y = static_cast<double>(b.optimizer.count());
  return std::abs(x - y) > std::max(StepTolerance::kShare * std::max(x, y),
                                    static_cast<double>(StepTolerance::kFew.count()));
}

}  // namespace

std::string FactsOfWork(Submodule submodule) {
  submodule.host = Time();
  return FactsOf(submodule);
}

Result<ClassTape> MakeClassTape(const RankTape& tape, const WorldGroups& groups) {
  return TapeMaker(tape, groups).Make();
}

PlacesThatMatter FindPlaces(const ClassTape& tape) {
  std::set<GroupKind> positions;
  std::set<std::pair<GroupKind, int>> roots;
  const std::vector<RecordEntry>& entries = tape.entries;
  for (size_t i = 0; i < entries.size();) {
    const RecordEntry& first = entries[i];
    size_t end = i + 1;
    if (first.kind == RecordKind::kCall) {
      const ClassRole& role = tape.roles[first.communicator];
      while (end < entries.size() && entries[end].kind == RecordKind::kCall &&
             entries[end].group == first.group && entries[end].communicator == first.communicator) {
        ++end;
      }
      const auto calls = std::span(entries).subspan(i, end - i);
      const bool messages = std::any_of(calls.begin(), calls.end(), IsMessage);
      if (messages && (!role.offsets.empty() || !IsShift(calls, role.size))) {
        positions.insert(role.kind);
      }
      for (const RecordEntry& call : calls) {
        // Roots of a part of a group are known by distance only: the position matters.
        if (HasRoot(call) && role.offsets.empty()) roots.insert({role.kind, call.peer});
        if (HasRoot(call) && !role.offsets.empty()) positions.insert(role.kind);
      }
    }
    i = end;
  }
  return {{positions.begin(), positions.end()}, {roots.begin(), roots.end()}};
}

std::string DescribeEntry(const ClassTape& tape, size_t at) {
  if (at >= tape.entries.size()) return "nothing more";
  const RecordEntry& entry = tape.entries[at];
  switch (entry.kind) {
    case RecordKind::kCall: {
      const std::string role = RoleOf(tape.roles[entry.communicator]).name;
      if (!IsMessage(entry)) return fmt::format("{} on {}", DescribeCall(entry), role);
      const bool sends = entry.function == RecordFunction::kSend;
      return fmt::format("{} {} member {:+} of {}", DescribeCall(entry), sends ? "to" : "from",
                         entry.peer, role);
    }
    case RecordKind::kWork:
      return WorkText(tape, at);
    case RecordKind::kEventRecord:
      return "a record of an event";
    case RecordKind::kStreamWait:
      return "a wait of a stream for an event";
    case RecordKind::kStreamSync:
      return "a wait of the host for a stream";
    case RecordKind::kEventSync:
      return "a wait of the host for an event";
    case RecordKind::kDeviceSync:
      return "a wait of the host for the GPU";
    default:
      return "another entry";
  }
}

bool AreAlike(const ClassTape& a, const ClassTape& b) {
  return a.key == b.key && !DoStepsDiffer(a, b);
}

std::optional<std::string> FirstDifference(const ClassTape& a, const std::string& a_name,
                                           const ClassTape& b, const std::string& b_name,
                                           size_t* a_entry, size_t* b_entry) {
  const size_t both = std::min(a.same.size(), b.same.size());
  size_t i = 0;
  while (i < both && SameEntry(a, b, i)) ++i;
  const auto entry_of = [i](const ClassTape& tape) {
    return i < tape.same.size() ? tape.same_at[i] : tape.entries.size();
  };
  const size_t at_a = entry_of(a), at_b = entry_of(b);
  if (a_entry != nullptr) *a_entry = at_a;
  if (b_entry != nullptr) *b_entry = at_b;
  if (i < std::max(a.same.size(), b.same.size())) {
    std::string one = DescribeEntry(a, at_a), other = DescribeEntry(b, at_b);
    if (one == other) {
      one += " in " + PlaceText(a.places[at_a]);
      other += " in " + PlaceText(b.places[at_b]);
    }
    if (one == other) other += ", on another stream or in another launch";
    const bool has_a = at_a < a.entries.size();
    return fmt::format(
        "entry {} of the iteration ({}): {} has {}, {} has {}", (has_a ? at_a : at_b) + 1,
        PlaceText(has_a ? a.places[at_a] : b.places[at_b]), a_name, one, b_name, other);
  }
  if (!DoStepsDiffer(a, b)) return std::nullopt;
  return fmt::format("the optimizer's step: {} moves {}, {} moves {}", a_name,
                     ToString(a.optimizer), b_name, ToString(b.optimizer));
}

}  // namespace drydock::capture
