#include "workload-gen/graph/foreign/import_order.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace drydock {
namespace {

// Ordered by (id, op), smallest first.
using ReadyOps = std::priority_queue<std::pair<uint64_t, uint32_t>,
                                     std::vector<std::pair<uint64_t, uint32_t>>, std::greater<>>;

// The ops that wait for each op, in CSR form, and the number of ops that each op waits for.
struct Followers {
  explicit Followers(const ForeignRank& rank)
      : begin(rank.ops.size() + 1, 0), open(rank.ops.size(), 0) {
    for (const uint32_t before : rank.dependency) ++begin[before + 1];
    for (size_t i = 0; i < rank.ops.size(); ++i) begin[i + 1] += begin[i];
    follower.resize(rank.dependency.size());
    std::vector<uint32_t> fill(begin.begin(), begin.end() - 1);
    for (uint32_t op = 0; op < rank.ops.size(); ++op) {
      for (uint32_t d = rank.dependency_begin[op]; d < rank.dependency_begin[op + 1]; ++d) {
        follower[fill[rank.dependency[d]]++] = op;
        ++open[op];
      }
    }
  }
  std::vector<uint32_t> begin, follower, open;
};

class OrderReplay {
 public:
  OrderReplay(const ForeignJob& job, const GpuSpec& gpu)
      : job_(job), gpu_(gpu), order_(job.ranks.size()) {
    for (const ForeignRank& rank : job.ranks) states_.emplace_back(rank);
  }

  std::vector<std::vector<uint32_t>> Run() {
    for (uint32_t r = 0; r < states_.size(); ++r) {
      const Followers& followers = states_[r].followers;
      for (uint32_t op = 0; op < followers.open.size(); ++op) {
        if (followers.open[op] == 0) Ready(r, op);
      }
    }
    for (;;) {
      // All ops that are ready now start before any op ends, so that ids determine the order, not
      // the times at which ops became ready.
      StartAll();
      if (ends_.empty()) break;
      now_ = std::get<0>(ends_.top());
      while (!ends_.empty() && std::get<0>(ends_.top()) == now_) {
        const auto [time, rank, op] = ends_.top();
        ends_.pop();
        End(rank, op);
      }
    }
    for (uint32_t r = 0; r < states_.size(); ++r) AddRest(r);
    return std::move(order_);
  }

 private:
  static constexpr int32_t kNetwork = -1;  // a lane that is never busy
  static constexpr int32_t kLoads = -2, kStores = -3;
  struct State {
    explicit State(const ForeignRank& rank) : followers(rank), started(rank.ops.size(), false) {}
    Followers followers;
    std::vector<bool> started;
    struct Lane {
      ReadyOps ready;
      bool busy = false;
    };
    std::map<int32_t, Lane> lanes;
    bool queued = false;                                              // in due_
    std::map<int32_t, uint64_t> collectives;                          // begun, by group
    std::map<std::pair<int32_t, int32_t>, uint64_t> sends, receives;  // begun, by peer and tag
  };
  struct PendingCollective {
    std::vector<std::pair<uint32_t, uint32_t>> here;  // rank, op
  };
  struct PendingMessage {
    bool sent = false;
    int64_t receiver_op = -1;
  };

  const ForeignOp& OpOf(uint32_t rank, uint32_t op) const { return job_.ranks[rank].ops[op]; }

  static int32_t LaneOf(const ForeignOp& op) {
    if (UsesMemory(op.kind)) return op.kind == OpKind::kLoad ? kLoads : kStores;
    return op.kind == OpKind::kCompute ? op.lane : kNetwork;
  }

  void Ready(uint32_t rank, uint32_t op) {
    State& state = states_[rank];
    state.lanes[LaneOf(OpOf(rank, op))].ready.emplace(OpOf(rank, op).id, op);
    if (!state.queued) due_.push_back(rank);
    state.queued = true;
  }

  void StartAll() {
    while (!due_.empty()) {
      std::vector<uint32_t> ranks;
      ranks.swap(due_);
      std::sort(ranks.begin(), ranks.end());
      for (const uint32_t rank : ranks) states_[rank].queued = false;
      for (const uint32_t rank : ranks) {
        for (auto& [number, lane] : states_[rank].lanes) StartFrom(rank, number, &lane);
      }
    }
  }

  void StartFrom(uint32_t rank, int32_t number, State::Lane* lane) {
    while (!lane->ready.empty() && !lane->busy) {
      const uint32_t op = lane->ready.top().second;
      lane->ready.pop();
      states_[rank].started[op] = true;
      order_[rank].push_back(op);
      if (number == kNetwork) {
        Communicate(rank, op);
        continue;
      }
      lane->busy = true;
      // A time counts up to 106 days. Later ops keep an arbitrary order.
      const int64_t duration = std::min(DurationOf(OpOf(rank, op)), INT64_MAX - now_);
      ends_.emplace(now_ + duration, rank, op);
    }
  }

  int64_t DurationOf(const ForeignOp& op) const {
    if (UsesMemory(op.kind)) return 0;
    const Submodule& s = job_.tables.OfBlock(op.block);
    if (const auto* fixed = s.As<submodule::FixedDuration>()) return fixed->duration.ps();
    const double rate = gpu_.RateOf(s.type).flops_per_second();
    const double compute = rate > 0 ? s.flops / rate : 0;
    const double memory =
        static_cast<double>(s.bytes.count()) / gpu_.memory_bandwidth.bytes_per_second();
    return Time::FromSeconds(
               std::min(std::max(compute, memory), submodule::kLongestFixedDuration.seconds()))
        .ps();
  }

  void Communicate(uint32_t rank, uint32_t index) {
    const ForeignOp& op = OpOf(rank, index);
    State& state = states_[rank];
    if (op.kind == OpKind::kCollective) {
      const uint64_t number = state.collectives[op.group]++;
      PendingCollective& collective = collectives_[{op.group, number}];
      collective.here.emplace_back(rank, index);
      const Group& group = job_.groups[static_cast<size_t>(op.group)];
      if (collective.here.size() < group.ranks.size()) return;
      for (const auto& [member, its_op] : collective.here) ends_.emplace(now_, member, its_op);
      collectives_.erase({op.group, number});
      return;
    }
    const bool sends = op.kind == OpKind::kSend;
    auto& count = sends ? state.sends : state.receives;
    const uint64_t number = count[{op.peer, op.tag}]++;
    const auto own = static_cast<int32_t>(rank);
    const MessageKey key =
        sends ? MessageKey(own, op.peer, op.tag, number) : MessageKey(op.peer, own, op.tag, number);
    PendingMessage& message = messages_[key];
    if (sends) {
      message.sent = true;
      ends_.emplace(now_, rank, index);
      if (message.receiver_op < 0) return;
      ends_.emplace(now_, static_cast<uint32_t>(op.peer),
                    static_cast<uint32_t>(message.receiver_op));
      messages_.erase(key);
    } else if (message.sent) {
      ends_.emplace(now_, rank, index);
      messages_.erase(key);
    } else {
      message.receiver_op = index;
    }
  }

  void End(uint32_t rank, uint32_t op) {
    State& state = states_[rank];
    const int32_t lane = LaneOf(OpOf(rank, op));
    if (lane != kNetwork) {
      state.lanes[lane].busy = false;
      if (!state.queued) due_.push_back(rank);
      state.queued = true;
    }
    Followers& followers = state.followers;
    for (uint32_t i = followers.begin[op]; i < followers.begin[op + 1]; ++i) {
      if (--followers.open[followers.follower[i]] == 0) Ready(rank, followers.follower[i]);
    }
  }

  // Appends the ops that never started, after their dependencies. The check reports the reason.
  void AddRest(uint32_t rank) {
    const ForeignRank& job = job_.ranks[rank];
    State& state = states_[rank];
    if (order_[rank].size() == job.ops.size()) return;
    Followers fresh(job);
    ReadyOps ready;
    for (uint32_t op = 0; op < job.ops.size(); ++op) {
      if (fresh.open[op] == 0) ready.emplace(job.ops[op].id, op);
    }
    while (!ready.empty()) {
      const uint32_t op = ready.top().second;
      ready.pop();
      if (!state.started[op]) order_[rank].push_back(op);
      for (uint32_t i = fresh.begin[op]; i < fresh.begin[op + 1]; ++i) {
        const uint32_t next = fresh.follower[i];
        if (--fresh.open[next] == 0) ready.emplace(job.ops[next].id, next);
      }
    }
  }

  using MessageKey = std::tuple<int32_t, int32_t, int32_t, uint64_t>;  // from, to, tag, number
  using OpEnd = std::tuple<int64_t, uint32_t, uint32_t>;               // time, rank, op

  const ForeignJob& job_;
  const GpuSpec& gpu_;
  std::vector<State> states_;
  std::vector<uint32_t> due_;  // ranks with a ready op or a free GPU
  std::priority_queue<OpEnd, std::vector<OpEnd>, std::greater<>> ends_;
  std::map<std::pair<int32_t, uint64_t>, PendingCollective> collectives_;
  std::map<MessageKey, PendingMessage> messages_;
  int64_t now_ = 0;
  std::vector<std::vector<uint32_t>> order_;
};

}  // namespace

std::vector<std::vector<uint32_t>> OrderOps(const ForeignJob& job, const GpuSpec& gpu) {
  return OrderReplay(job, gpu).Run();
}

std::vector<uint32_t> FindCycle(const ForeignRank& rank) {
  Followers followers(rank);
  std::vector<uint32_t> ready;
  for (uint32_t op = 0; op < rank.ops.size(); ++op) {
    if (followers.open[op] == 0) ready.push_back(op);
  }
  size_t done = 0;
  while (!ready.empty()) {
    const uint32_t op = ready.back();
    ready.pop_back();
    ++done;
    for (uint32_t i = followers.begin[op]; i < followers.begin[op + 1]; ++i) {
      if (--followers.open[followers.follower[i]] == 0) ready.push_back(followers.follower[i]);
    }
  }
  if (done == rank.ops.size()) return {};
  // Follows dependencies back from any waiting op until an op repeats.
  uint32_t at = 0;
  while (followers.open[at] == 0) ++at;
  std::unordered_map<uint32_t, size_t> seen;
  std::vector<uint32_t> path;
  while (seen.emplace(at, path.size()).second) {
    path.push_back(at);
    uint32_t d = rank.dependency_begin[at];
    while (followers.open[rank.dependency[d]] == 0) ++d;
    at = rank.dependency[d];
  }
  path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(seen[at]));
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace drydock
