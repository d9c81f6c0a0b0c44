// 4-timeline.pb.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/containers/hash.h"
#include "core/schema/artefacts/protocol.h"

namespace drydock {
namespace {

constexpr const char* kKind = "timeline";

void Encode(const RankTimeline& from, proto::Timeline::Rank* to) {
  CHECK(from.ready.size() == from.start.size() && from.end.size() == from.start.size());
  const auto ops = static_cast<int>(from.start.size());
  to->mutable_start_delta_ps()->Reserve(ops);
  to->mutable_ready_after_ps()->Reserve(ops);
  to->mutable_end_after_ps()->Reserve(ops);
  Time before;
  for (size_t i = 0; i < from.start.size(); ++i) {
    to->add_start_delta_ps((from.start[i] - before).ps());
    to->add_ready_after_ps((from.ready[i] - from.start[i]).ps());
    to->add_end_after_ps((from.end[i] - from.ready[i]).ps());
    before = from.start[i];
  }
}

bool SameTimes(const RankTimeline& a, const RankTimeline& b) {
  return a.start == b.start && a.ready == b.ready && a.end == b.end;
}

uint64_t HashOf(const RankTimeline& rank) {
  uint64_t hash = 0;
  for (size_t i = 0; i < rank.start.size(); ++i) {
    for (const Time time : {rank.start[i], rank.ready[i], rank.end[i]}) {
      hash = HashCombine(hash, static_cast<uint64_t>(time.ps()));
    }
  }
  return hash;
}

bool ShareTimes(const RankTimeline& a, const RankTimeline& b) {
  return a.start.SharesWith(b.start) && a.ready.SharesWith(b.ready) && a.end.SharesWith(b.end);
}

// About the size of the ranks in the file, so that the text need not be copied while it grows.
size_t SizeOfRanks(const std::vector<RankTimeline>& ranks) {
  constexpr size_t kOfOp = 12;  // three numbers of 3 to 5 bytes
  std::unordered_set<const std::vector<Time>*> seen;
  size_t ops = 0;
  for (const RankTimeline& rank : ranks) {
    if (seen.insert(&rank.start.get()).second) ops += rank.start.size();
  }
  return std::min<size_t>(ops * kOfOp, INT32_MAX);
}

// Appends the ranks to a serialized timeline, one by one: the messages of all ranks together would
// need as much memory as the timeline. Writes ranks with equal times, such as replicas, once.
// Returns false if the text becomes larger than a file may be.
bool AppendRanks(const std::vector<RankTimeline>& ranks, std::string* to) {
  to->reserve(to->size() + SizeOfRanks(ranks));
  std::vector<int32_t> same_as;  // by rank
  proto::Timeline part;          // with one rank
  const auto append = [&](const proto::Timeline::Rank& rank) {
    same_as.push_back(rank.same_as());
    const bool fits = part.AppendToString(to) && to->size() <= INT32_MAX;
    part.Clear();
    return fits;
  };
  std::unordered_multimap<uint64_t, int> written;                   // for lookup alone
  std::unordered_map<const std::vector<Time>*, int> first_sharing;  // by starts; the same
  for (size_t r = 0; r < ranks.size(); ++r) {
    proto::Timeline::Rank* rank = part.add_ranks();
    const auto [sharing, unseen] =
        first_sharing.try_emplace(&ranks[r].start.get(), static_cast<int>(r));
    if (!unseen && ShareTimes(ranks[r], ranks[static_cast<size_t>(sharing->second)])) {
      const int32_t earlier = same_as[static_cast<size_t>(sharing->second)];
      rank->set_same_as(earlier != 0 ? earlier : sharing->second + 1);
      if (!append(*rank)) return false;
      continue;
    }
    const uint64_t hash = HashOf(ranks[r]);
    int same = -1;
    const auto [first, last] = written.equal_range(hash);
    for (auto it = first; it != last && same < 0; ++it) {
      if (SameTimes(ranks[r], ranks[static_cast<size_t>(it->second)])) same = it->second;
    }
    if (same >= 0) {
      rank->set_same_as(same + 1);
    } else {
      Encode(ranks[r], rank);
      written.emplace(hash, static_cast<int>(r));
    }
    if (!append(*rank)) return false;
  }
  return true;
}

// A timeline file without its ranks, which are parsed one by one for the same reason.
struct Parts {
  proto::Timeline rest;
  std::vector<std::string_view> ranks;  // into the content of the file
};

// Returns no value if the content is no message.
std::optional<Parts> Split(const std::string& content) {
  using google::protobuf::internal::WireFormatLite;
  if (content.size() > INT32_MAX) return std::nullopt;
  const auto* bytes = reinterpret_cast<const uint8_t*>(content.data());
  google::protobuf::io::CodedInputStream in(bytes, static_cast<int>(content.size()));
  constexpr uint32_t kRank = WireFormatLite::MakeTag(proto::Timeline::kRanksFieldNumber,
                                                     WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  Parts out;
  std::string rest;
  for (int begin = 0; const uint32_t tag = in.ReadTag(); begin = in.CurrentPosition()) {
    uint32_t size = 0;
    if (tag != kRank) {
      if (!WireFormatLite::SkipField(&in, tag)) return std::nullopt;
      rest.append(content, static_cast<size_t>(begin),
                  static_cast<size_t>(in.CurrentPosition() - begin));
      continue;
    }
    if (!in.ReadVarint32(&size) || size > INT32_MAX) return std::nullopt;
    const auto from = static_cast<size_t>(in.CurrentPosition());
    if (!in.Skip(static_cast<int>(size))) return std::nullopt;
    out.ranks.push_back(std::string_view(content).substr(from, size));
  }
  if (!in.ConsumedEntireMessage() || !out.rest.ParseFromString(rest)) return std::nullopt;
  return out;
}

bool Later(int64_t time, int64_t by, int64_t* later) {
  return by >= 0 && !__builtin_add_overflow(time, by, later);
}

// `ops`: the required number of ops, if known; `earlier`: the ranks before this one.
bool Decode(const proto::Timeline::Rank& from, std::optional<size_t> ops,
            const std::vector<RankTimeline>& earlier, RankTimeline* to) {
  if (from.same_as() != 0) {
    const int64_t same = int64_t{from.same_as()} - 1;
    if (same < 0 || same >= static_cast<int64_t>(earlier.size()) ||
        from.start_delta_ps_size() + from.ready_after_ps_size() + from.end_after_ps_size() > 0) {
      return false;
    }
    *to = earlier[static_cast<size_t>(same)];
    return !ops || to->start.size() == *ops;
  }
  const int n = from.start_delta_ps_size();
  if ((ops && n != static_cast<int>(*ops)) || from.ready_after_ps_size() != n ||
      from.end_after_ps_size() != n) {
    return false;
  }
  int64_t start = 0;
  for (SharedTimes* each : {&to->start, &to->ready, &to->end}) {
    each->own().reserve(static_cast<size_t>(n));
  }
  for (int i = 0; i < n; ++i) {
    int64_t ready = 0, end = 0;
    if (__builtin_add_overflow(start, from.start_delta_ps(i), &start) || start < 0 ||
        !Later(start, from.ready_after_ps(i), &ready) ||
        !Later(ready, from.end_after_ps(i), &end)) {
      return false;
    }
    to->start.push_back(Time::Ps(start));
    to->ready.push_back(Time::Ps(ready));
    to->end.push_back(Time::Ps(end));
  }
  return true;
}

void Encode(const TimeAccount& from, proto::Timeline::Account* to) {
  to->set_compute_ps(from.compute.ps());
  for (const Time exposed : from.exposed) to->add_exposed_ps(exposed.ps());
  to->set_bubble_ps(from.bubble.ps());
  to->set_idle_ps(from.idle.ps());
  to->set_host_ps(from.host.ps());
  to->set_memory_ps(from.memory.ps());
  to->set_straggler_ps(from.straggler.ps());
  for (const Time each : from.host_time.by_cause) to->add_host_by_cause_ps(each.ps());
}

bool Decode(const proto::Timeline::Account& from, TimeAccount* to) {
  if (from.exposed_ps_size() != kDimensionCount) return false;
  to->compute = Time::Ps(from.compute_ps());
  for (int i = 0; i < kDimensionCount; ++i) to->exposed[i] = Time::Ps(from.exposed_ps(i));
  to->bubble = Time::Ps(from.bubble_ps());
  to->idle = Time::Ps(from.idle_ps());
  to->host = Time::Ps(from.host_ps());
  to->memory = Time::Ps(from.memory_ps());
  to->straggler = Time::Ps(from.straggler_ps());
  return true;
}

// Returns false unless the causes add up to the host's part.
bool DecodeHost(const proto::Timeline::Account& from, TimeAccount* to) {
  if (from.host_by_cause_ps_size() != kHostCauseCount) return false;
  int64_t sum = 0;
  for (int i = 0; i < kHostCauseCount; ++i) {
    const int64_t part = from.host_by_cause_ps(i);
    if (part < 0 || __builtin_add_overflow(sum, part, &sum)) return false;
    to->host_time.by_cause[i] = Time::Ps(part);
  }
  return sum == from.host_ps();
}

void Encode(const LinkTotal& from, proto::Timeline::Link* to) {
  to->set_from(from.from);
  to->set_to(from.to);
  to->set_bits_per_second(from.rate.bits_per_second());
  to->set_sent_bytes(from.sent.count());
  to->set_max_queued_bytes(from.max_queued.count());
  to->set_marked(from.marked);
  to->set_dropped(from.dropped);
  to->set_paused_ps(from.paused.ps());
  to->set_busy_ps(from.busy.ps());
  to->set_repeated_packets(from.repeated);
}

bool Decode(const proto::Timeline::Link& from, LinkTotal* to) {
  to->from = from.from();
  to->to = from.to();
  to->rate = Bandwidth::BitsPerSecond(from.bits_per_second());
  to->sent = Bytes(from.sent_bytes());
  to->max_queued = Bytes(from.max_queued_bytes());
  to->marked = from.marked();
  to->dropped = from.dropped();
  to->paused = Time::Ps(from.paused_ps());
  to->busy = Time::Ps(from.busy_ps());
  to->repeated = from.repeated_packets();
  constexpr int64_t kMaxBytes = int64_t{1} << 56;  // 72 PB: the time on any link fits a Time
  return from.bits_per_second() > 0 && from.sent_bytes() >= 0 && from.sent_bytes() < kMaxBytes &&
         from.max_queued_bytes() >= 0 && from.marked() >= 0 && from.dropped() >= 0 &&
         from.paused_ps() >= 0 && from.busy_ps() >= 0 && from.repeated_packets() >= 0;
}

void Encode(const SlowdownRow& from, proto::Timeline::Slowdown* to) {
  to->set_bytes_up_to(from.up_to.count());
  to->set_messages(from.messages);
  to->set_median(from.median);
  to->set_p95(from.p95);
  to->set_p99(from.p99);
  to->set_most(from.most);
}

bool Decode(const proto::Timeline::Slowdown& from, SlowdownRow* to) {
  *to = {Bytes(from.bytes_up_to()),
         from.messages(),
         from.median(),
         from.p95(),
         from.p99(),
         from.most()};
  return to->up_to > Bytes() && to->messages > 0 && to->median > 0 && to->median <= to->p95 &&
         to->p95 <= to->p99 && to->p99 <= to->most && std::isfinite(to->most);
}

}  // namespace

Status WriteTimeline(const std::string& run, const Timeline& timeline,
                     const Provenance& provenance) {
  const std::string path = run + "/" + kTimelineName;
  proto::Timeline message;
  protocol::FillProvenance(kKind, provenance, message.mutable_provenance());
  message.set_network(timeline.network);
  message.set_iteration_ps(timeline.iteration.ps());
  std::string content;  // the fields in the order of their numbers
  message.AppendToString(&content);
  message.Clear();
  if (!AppendRanks(timeline.ranks, &content)) return protocol::TooLarge(path);
  message.set_stopped_ps(timeline.stopped.ps());
  message.set_ops_ended(timeline.ops_ended);
  for (const Time each : timeline.iterations) message.add_iterations_ps(each.ps());
  for (const TimeAccount& account : timeline.accounts) Encode(account, message.add_accounts());
  for (const auto& [name, value] : timeline.counters) {
    proto::Timeline::Counter* counter = message.add_counters();
    counter->set_name(name);
    counter->set_value(value);
  }
  for (const LinkTotal& link : timeline.links) Encode(link, message.add_links());
  for (const SlowdownRow& row : timeline.slowdowns) Encode(row, message.add_slowdowns());
  message.AppendToString(&content);
  if (content.size() > INT32_MAX) return protocol::TooLarge(path);
  return WriteFileAtomically(path, protocol::Seal(std::move(content)));
}

Result<Timeline> ReadTimeline(const std::string& run, const WorkloadFile& workload,
                              std::string* sha256) {
  const std::string path = run + "/" + kTimelineName;
  ASSIGN_OR_RETURN(const std::string content,
                   protocol::ReadContent(path, kKind, "exec-engine", sha256));
  const google::protobuf::LogSilencer quiet;  // the Error has the reason
  const std::optional<Parts> parts = Split(content);
  if (!parts) return protocol::NotThis(path, kKind, "exec-engine");
  const proto::Timeline& message = parts->rest;
  RETURN_IF_ERROR(protocol::CheckKind(path, kKind, "exec-engine", message.provenance()));
  RETURN_IF_ERROR(
      protocol::CheckMadeFrom(message.provenance(), path, kManifestName, workload.sha256));
  for (const char* name : {kFlowPlanName, kKernelTimesName}) {
    ASSIGN_OR_RETURN(const std::string hash, Sha256OfFile(run + "/" + name));
    RETURN_IF_ERROR(protocol::CheckMadeFrom(message.provenance(), path, name, hash));
  }
  const Workload& w = workload.workload;
  if (parts->ranks.size() != static_cast<size_t>(w.rank_count()) ||
      message.accounts_size() != w.rank_count()) {
    return protocol::Damaged(path, "its ranks are not the workload's");
  }
  Timeline timeline;
  timeline.network = message.network();
  timeline.iteration = Time::Ps(message.iteration_ps());
  timeline.stopped = Time::Ps(message.stopped_ps());
  timeline.ops_ended = message.ops_ended();
  bool possible = message.stopped_ps() >= 0 && message.ops_ended() >= 0;
  for (const int64_t each : message.iterations_ps()) {
    possible = possible && each >= 0;
    timeline.iterations.push_back(Time::Ps(each));
  }
  if (!possible) return protocol::Damaged(path, "a time or a count is negative");
  proto::Timeline::Rank stored;
  for (int rank = 0; rank < w.rank_count(); ++rank) {
    const std::string_view bytes = parts->ranks[static_cast<size_t>(rank)];
    if (!stored.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return protocol::NotThis(path, kKind, "exec-engine");
    }
    const auto program = static_cast<size_t>(w.class_of_rank[static_cast<size_t>(rank)]);
    std::optional<size_t> ops;
    if (!w.programs.empty()) ops = w.programs[program].ops.size();
    RankTimeline times;
    if (!Decode(stored, ops, timeline.ranks, &times) ||
        !Decode(message.accounts(rank), &timeline.accounts.emplace_back())) {
      return protocol::Damaged(path, "its ops are not the workload's");
    }
    if (!DecodeHost(message.accounts(rank), &timeline.accounts.back())) {
      return protocol::Damaged(path, "the causes of a host's time do not add up to it");
    }
    timeline.ranks.push_back(std::move(times));
  }
  for (const auto& counter : message.counters()) {
    timeline.counters.emplace_back(counter.name(), counter.value());
  }
  for (const auto& link : message.links()) {
    if (!Decode(link, &timeline.links.emplace_back())) {
      return protocol::Damaged(path, "a link has no rate, or a total is negative");
    }
  }
  for (const auto& row : message.slowdowns()) {
    if (!Decode(row, &timeline.slowdowns.emplace_back())) {
      return protocol::Damaged(path, "a slowdown is invalid");
    }
  }
  return timeline;
}

}  // namespace drydock
