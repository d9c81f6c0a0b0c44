#include "exec-engine/steady/steady_state.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace drydock {
namespace {

// Kinds of names of ops and calls, which differ in what they are relative to.
enum Kind : int64_t { kNone, kBefore, kRepeating, kAfter, kCollective, kMessage, kMessages };

// The most cuts between two that are compared. Bounds the memory for states.
constexpr size_t kMostApart = 8;

int64_t CounterOf(const ReplayCounters& counters, const std::string& name) {
  for (const auto& [known, value] : counters) {
    if (known == name) return value;
  }
  return 0;
}

// `heads`: StreamHeads at a cut.
bool HadEnded(const Op& what, uint32_t op, const std::vector<uint32_t>& heads) {
  const uint32_t head = heads[what.stream];
  return head == kNoOp || op < head;
}

}  // namespace

NamesInPeriods::NamesInPeriods(const ReplayIndex& index, const WorkloadPeriods& periods)
    : index_(index),
      periods_(periods),
      names_(SortedNames(index.workload())),
      collectives_(index.workload().groups.size()) {
  CountCalls();
}

// One member of a group counts its calls, in all roles in which it is in the group.
void NamesInPeriods::CountCalls() {
  const Workload& workload = index_.workload();
  std::vector<std::map<std::pair<uint8_t, int64_t>, int64_t>> of_class;  // by role and name, or -1
  for (size_t c = 0; c < workload.programs.size(); ++c) {
    auto& counts = of_class.emplace_back();
    const ProgramPeriods& periods = periods_.classes[c];
    for (uint32_t i = periods.begin; i < periods.begin + periods.ops; ++i) {
      const Op& op = workload.programs[c].ops[i];
      if (!IsCommunication(op.kind) || IsPointToPoint(op)) continue;
      const MessageName name{op.tag, -1, static_cast<int>(op.work)};
      const auto found = std::lower_bound(names_.begin(), names_.end(), name);
      const bool named = found != names_.end() && *found == name;
      ++counts[{op.role, named ? found - names_.begin() : -1}];
    }
  }
  std::vector<int> counted_by(workload.groups.size(), -1);
  for (int rank = 0; rank < workload.rank_count(); ++rank) {
    const auto c = static_cast<size_t>(workload.class_of_rank[static_cast<size_t>(rank)]);
    for (const auto& [role_and_name, count] : of_class[c]) {
      const auto group = static_cast<uint32_t>(index_.group_of(rank, role_and_name.first));
      if (counted_by[group] < 0) counted_by[group] = rank;
      if (counted_by[group] != rank) continue;
      const int64_t name = role_and_name.second;
      (name < 0 ? collectives_[group] : occurrences_[{group, static_cast<uint64_t>(name)}]) +=
          count;
    }
  }
}

int64_t NamesInPeriods::OpOf(int rank, uint32_t op) const {
  const auto named = [](Kind kind, int64_t number) { return number * 8 + kind; };
  if (op == kNoOp) return named(kNone, 0);
  const Workload& workload = index_.workload();
  const auto c = static_cast<size_t>(workload.class_of_rank[static_cast<size_t>(rank)]);
  const ProgramPeriods& periods = periods_.classes[c];
  const int64_t left_out = left_out_ * periods.ops;
  if (op < periods.begin) return named(kBefore, op);
  if (op < periods.end - left_out) {
    return named(kRepeating, int64_t{op} - period_ * periods.ops);
  }
  const auto ops = static_cast<int64_t>(workload.programs[c].ops.size());
  return named(kAfter, op - (ops - left_out));
}

// The inverse of CallCounter::Next.
void NamesInPeriods::AppendCall(uint64_t tag, std::vector<int64_t>* out) const {
  const auto group = static_cast<uint32_t>(tag >> 32);
  const uint64_t number = (tag & UINT32_MAX) / 2;
  out->push_back(group);
  if (tag % 2 == 0) {
    const int64_t steps = period_ * collectives_[group];
    out->insert(out->end(), {kCollective, static_cast<int64_t>(number) - steps});
    return;
  }
  const uint64_t name = number % names_.size();
  auto occurrence = static_cast<int64_t>(number / names_.size());
  const auto& [message, root, peer] = names_[name];
  if (root >= 0) {
    const int64_t steps = period_ * periods_.tag_step;
    out->insert(out->end(), {kMessage, message - steps, root, peer, occurrence});
    return;
  }
  const auto each = occurrences_.find({group, name});
  if (each != occurrences_.end()) occurrence -= period_ * each->second;
  out->insert(out->end(), {kMessages, message, peer, occurrence});
}

SteadyState::SteadyState(const ReplayIndex& index, WorkloadPeriods periods,
                         std::vector<const RepeatingHost*> hosts, const ObservableNetwork& network,
                         std::function<ReplayCounters()> counters)
    : index_(index),
      periods_(std::move(periods)),
      hosts_(std::move(hosts)),
      network_(network),
      counters_(std::move(counters)),
      names_(index, periods_),
      next_op_(PeriodsOf(hosts_.front()->first_rank()).begin) {}

const ProgramPeriods& SteadyState::PeriodsOf(int rank) const {
  const Workload& workload = index_.workload();
  return periods_.classes[static_cast<size_t>(workload.class_of_rank[static_cast<size_t>(rank)])];
}

bool SteadyState::OnEndOfInstant(Time now) {
  if (done_ || !hosts_.front()->HasEnded(0, next_op_)) return true;
  const ProgramPeriods& first = PeriodsOf(hosts_.front()->first_rank());
  next_op_ += first.ops;
  ++cuts_;
  done_ = next_op_ >= first.end;
  if (kept_) {
    if (cuts_ != kept_->cut && cuts_ != kept_->cut + kept_->apart) return true;
    before_ = std::move(last_);
    last_ = Take(now);
    done_ = cuts_ > kept_->cut;
    return true;
  }
  if (cuts_ > 1) earlier_.insert(earlier_.begin(), std::move(last_));
  if (earlier_.size() > kMostApart) earlier_.pop_back();
  last_ = Take(now);
  const std::optional<int> apart = CutsApart();
  if (!apart) return !done_ || !only_searches_;
  earlier_.clear();
  done_ = true;
  found_ = Leave(*apart);
  return found_ ? GoesOn() : !only_searches_;
}

// Returns how many cuts before the last one the latest one of the same state is.
std::optional<int> SteadyState::CutsApart() const {
  for (size_t i = 0; i < earlier_.size(); ++i) {
    if (earlier_[i].state == last_.state) return static_cast<int>(i) + 1;
  }
  return std::nullopt;
}

// Another cut shows whether the replay goes on as it did.
bool SteadyState::GoesOn() {
  shorter_ = go_on_ ? go_on_(*found_) : nullptr;
  if (shorter_ == nullptr) {
    // The periods up to the cut would be replayed again.
    if (only_searches_ || found_->count <= found_->cut + 1) found_.reset();
    return !only_searches_ && !found_;
  }
  kept_ = std::exchange(found_, std::nullopt);
  names_.LeaveOut(kept_->count);
  done_ = false;
  return true;
}

SteadyState::Cut SteadyState::Take(Time now) {
  names_.GoTo(cuts_);
  Time oldest = now;
  for (const RepeatingHost* host : hosts_) oldest = std::min(oldest, host->EarliestArrival());
  RelativeState state(now, oldest, names_);
  network_.AppendState(&state);
  Cut cut;
  for (const RepeatingHost* host : hosts_) {
    host->AppendState(&state);
    for (int gpu = 0; gpu < host->rank_count(); ++gpu) cut.heads.push_back(host->StreamHeads(gpu));
  }
  cut.at = now;
  cut.state = state.Take();
  cut.counters = counters_();
  return cut;
}

// The replay without the periods passes the cut and the one that repeats it in the same states, and
// sees none of the ops after them. So all that the replay sees of a program at that cut, shifted by
// the periods, has to repeat. All periods that are left out are a multiple of those between the
// cuts.
std::optional<Repetition> SteadyState::Leave(int apart) const {
  Repetition out;
  out.cut = cuts_;
  out.apart = apart;
  out.count = INT64_MAX;
  for (const ProgramPeriods& each : periods_.classes) out.from.push_back(each.end);
  for (const RepeatingHost* host : hosts_) {
    for (int gpu = 0; gpu < host->rank_count(); ++gpu) {
      const int rank = host->first_rank() + gpu;
      const ProgramPeriods& periods = PeriodsOf(rank);
      if (periods.ops == 0) continue;  // the rank is not replayed
      uint32_t& from =
          out.from[static_cast<size_t>(index_.workload().class_of_rank[static_cast<size_t>(rank)])];
      uint32_t seen = periods.begin;
      const uint32_t issued = host->FirstNotIssued(gpu);
      if (issued != kNoOp) seen = std::max(seen, issued);
      for (const uint32_t head : host->StreamHeads(gpu)) {
        if (head >= periods.end) continue;  // of the end of the program
        if (head < periods.begin) return std::nullopt;
        seen = std::max(seen, head);
        from = std::min(from, head + periods.ops * static_cast<uint32_t>(apart));
      }
      const int64_t more = (int64_t{periods.end} - 1 - seen) / periods.ops - 1 - apart;
      out.count = std::min(out.count, more);
    }
  }
  if (out.count > 0) out.count -= (out.count + others_) % apart;
  for (size_t c = 0; c < out.from.size(); ++c) {
    const ProgramPeriods& each = periods_.classes[c];
    if (out.count <= 0 || out.from[c] + out.count * each.ops > each.end) return std::nullopt;
  }
  return out;
}

bool SteadyState::Lengthen(const Workload& whole, int64_t others, const std::vector<int>& ranks,
                           Timeline* timeline) const {
  if (!kept_ || cuts_ < kept_->cut + kept_->apart || before_.state != last_.state) return false;
  if (ranks.size() != last_.heads.size()) return false;
  const int64_t count = (kept_->count + others) / kept_->apart;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const auto rank = static_cast<size_t>(ranks[i]);
    const auto c = static_cast<size_t>(whole.class_of_rank[rank]);
    const size_t ops = whole.programs[c].ops.size();
    if (!LengthenRank(ops, count, i, ranks[i], &timeline->ranks[rank])) {
      return false;
    }
  }
  for (auto& [name, value] : timeline->counters) {
    value += count * (CounterOf(last_.counters, name) - CounterOf(before_.counters, name));
  }
  return true;
}

// An op that has not ended at the last cut ends as many periods later. An op that ended between the
// cuts ends again in each period.
bool SteadyState::LengthenRank(size_t whole, int64_t count, size_t number, int rank,
                               RankTimeline* times) const {
  const std::vector<Op>& ops = shorter_->class_of(rank).program->ops;
  const uint32_t period = PeriodsOf(rank).ops * static_cast<uint32_t>(kept_->apart);
  const Time duration = last_.at - before_.at;
  RankTimeline out;
  for (SharedTimes* each : {&out.start, &out.ready, &out.end}) each->resize(whole);
  std::vector<bool> known(whole);
  bool once = true;
  const auto put = [&](uint32_t op, int64_t later) {
    const auto to = static_cast<size_t>(op + later * period);
    once = once && to < whole && !known[to];
    if (!once) return;
    known[to] = true;
    out.start[to] = times->start[op] + duration * later;
    out.ready[to] = times->ready[op] + duration * later;
    out.end[to] = times->end[op] + duration * later;
  };
  for (uint32_t op = 0; op < ops.size(); ++op) {
    const bool ended = HadEnded(ops[op], op, last_.heads[number]);
    put(op, ended ? 0 : count);
    if (!ended || HadEnded(ops[op], op, before_.heads[number])) continue;
    for (int64_t later = 1; later <= count; ++later) put(op, later);
  }
  if (!once || std::find(known.begin(), known.end(), false) != known.end()) return false;
  *times = std::move(out);
  return true;
}

}  // namespace drydock
