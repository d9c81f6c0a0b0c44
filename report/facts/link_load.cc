#include "report/facts/link_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "report/facts/traffic.h"

namespace drydock {
namespace {

// The load of one link as a step function of time.
class LoadMeter {
 public:
  LoadMeter(Time iteration, int columns) : iteration_(iteration.ps()), columns_(columns) {}

  void Add(Time begin, Time end, int64_t bytes) {
    const int64_t from = begin.ps(), to = std::max(end.ps(), from + 1);
    const double rate = static_cast<double>(bytes) / static_cast<double>(to - from);
    changes_.push_back({from, rate, 1});
    changes_.push_back({to, -rate, -1});
    total_ += bytes;
    if (changes_.size() >= compact_at_) Compact();
  }

  bool any() const { return total_ > 0; }

  LoadRow Row(std::string name, double bytes_per_second) {
    LoadRow row;
    row.name = std::move(name);
    row.rate = Bandwidth::FromBytesPerSecond(bytes_per_second);
    const double full = bytes_per_second * 1e-12;  // bytes in a picosecond
    const std::vector<Step> steps = Steps();
    row.whole = LoadOf(steps, 0, iteration_, full);
    row.whole.mean = static_cast<double>(total_) / (full * static_cast<double>(iteration_));
    size_t first = 0;
    for (int64_t column = 0; column < columns_; ++column) {
      const int64_t begin = BeginOf(column), end = BeginOf(column + 1);
      while (first < steps.size() && steps[first].end <= begin) ++first;
      row.columns.push_back(LoadOf({steps.data() + first, steps.size() - first}, begin, end, full));
    }
    return row;
  }

 private:
  struct Change {
    int64_t at;
    double rate;
    int64_t calls;
  };
  struct Step {
    int64_t begin, end;
    double rate;  // bytes in a picosecond
  };

  int64_t BeginOf(int64_t column) const {
    return static_cast<int64_t>(static_cast<__int128>(iteration_) * column / columns_);
  }

  // Ranks of one class often have the same times, so changes of one time become one.
  void Compact() {
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const Change& a, const Change& b) { return a.at < b.at; });
    size_t kept = 0;
    for (const Change& change : changes_) {
      if (kept > 0 && changes_[kept - 1].at == change.at) {
        changes_[kept - 1].rate += change.rate;
        changes_[kept - 1].calls += change.calls;
      } else {
        changes_[kept++] = change;
      }
    }
    changes_.resize(kept);
    compact_at_ = std::max(kFewChanges, 2 * kept);
  }

  // Without the time in which nothing moves. Sums of rates that cancel leave a rounding error, so
  // the number of calls says when the link is idle.
  std::vector<Step> Steps() {
    Compact();
    std::vector<Step> steps;
    double rate = 0;
    int64_t calls = 0;
    for (size_t i = 0; i + 1 < changes_.size(); ++i) {
      rate += changes_[i].rate;
      calls += changes_[i].calls;
      if (calls == 0) rate = 0;
      if (rate > 0) steps.push_back({changes_[i].at, changes_[i + 1].at, rate});
    }
    return steps;
  }

  // The load in [begin, end). `steps`: in order, none ends before `begin`.
  static Load LoadOf(std::span<const Step> steps, int64_t begin, int64_t end, double full) {
    Load load;
    if (end <= begin) return load;
    std::vector<std::pair<double, int64_t>> parts;  // share of the rate, for how long
    for (const Step& step : steps) {
      if (step.begin >= end) break;
      const int64_t length = std::min(end, step.end) - std::max(begin, step.begin);
      if (length <= 0) continue;
      const double share = step.rate / full;
      load.mean += share * static_cast<double>(length) / static_cast<double>(end - begin);
      load.peak = std::max(load.peak, share);
      parts.emplace_back(share, length);
    }
    std::sort(parts.begin(), parts.end());
    // At most a hundredth of the time may have more.
    int64_t left = (end - begin) / 100;
    while (!parts.empty() && parts.back().second <= left) {
      left -= parts.back().second;
      parts.pop_back();
    }
    load.p99 = parts.empty() ? 0 : parts.back().first;
    return load;
  }

  static constexpr size_t kFewChanges = 1 << 16;
  const int64_t iteration_;
  const int64_t columns_;
  std::vector<Change> changes_;
  size_t compact_at_ = kFewChanges;
  int64_t total_ = 0;
};

class Measurer {
 public:
  Measurer(const Inputs& inputs, const std::vector<int>& ranks, int columns)
      : inputs_(inputs),
        links_(inputs.workload),
        columns_(columns),
        shown_(ranks),
        all_nics_(inputs.timeline.iteration, columns) {}

  LinkLoad Measure() {
    totals_.assign(links_.fabric().link_count(), 0);
    fastest_.assign(links_.fabric().link_count(), 0);
    VisitAll([this](int, const Traffic& traffic, Time begin, Time end) {
      const auto length = static_cast<double>(std::max<int64_t>(1, (end - begin).ps()));
      for (const auto& [link, bytes] : traffic.cables) {
        totals_[link] += bytes;
        fastest_[link] = std::max(fastest_[link], static_cast<double>(bytes) / length);
      }
    });
    shown_cables_ = ShownCables();
    for (const uint32_t link : shown_cables_) cables_.try_emplace(link, NewMeter());
    for (const int rank : shown_) {
      scale_up_.try_emplace(rank, NewMeter(), NewMeter());
      for (const uint32_t link : CablesOfRank(rank)) cables_.try_emplace(link, NewMeter());
    }
    VisitAll([this](int rank, const Traffic& traffic, Time begin, Time end) {
      Add(rank, traffic, begin, end);
    });
    return Rows();
  }

 private:
  LoadMeter NewMeter() const { return {inputs_.timeline.iteration, columns_}; }

  // Calls visit(rank, traffic, begin, end) for every communication op with traffic.
  template <typename Visit>
  void VisitAll(const Visit& visit) {
    const size_t calls = inputs_.workload.calls.size();
    std::vector<int> index;      // by role and call: the index into `known`; -1: new
    std::vector<Traffic> known;  // of this rank
    for (int rank = 0; rank < inputs_.workload.rank_count(); ++rank) {
      index.assign(inputs_.workload.roles.size() * calls, -1);
      known.clear();
      const Program& program = inputs_.program_of(rank);
      const RankTimeline& times = inputs_.timeline_of(rank);
      for (size_t i = 0; i < program.ops.size(); ++i) {
        const Op& op = program.ops[i];
        if (!IsCommunication(op.kind)) continue;
        int& number = index[op.role * calls + op.work];
        if (number < 0) {
          number = static_cast<int>(known.size());
          known.push_back(TrafficFor(rank, op));
        }
        const Traffic& traffic = known[static_cast<size_t>(number)];
        if (!traffic.empty()) visit(rank, traffic, times.ready[i], times.end[i]);
      }
    }
  }

  Traffic TrafficFor(int rank, const Op& op) const {
    const int group = inputs_.group_of(rank, op);
    const Plan* plan = inputs_.plan_of(op.work, group);
    const std::vector<int>& ranks = inputs_.workload.groups[static_cast<size_t>(group)].ranks;
    const auto member =
        static_cast<size_t>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
    if (plan == nullptr || member >= plan->members.size()) return {};
    return TrafficOf(links_, inputs_.workload, *plan, group, static_cast<int>(member));
  }

  void Add(int rank, const Traffic& traffic, Time begin, Time end) {
    if (traffic.sent > 0) all_nics_.Add(begin, end, traffic.sent);
    if (const auto found = scale_up_.find(rank); found != scale_up_.end()) {
      if (traffic.scale_up_out > 0) found->second.first.Add(begin, end, traffic.scale_up_out);
      if (traffic.scale_up_in > 0) found->second.second.Add(begin, end, traffic.scale_up_in);
    }
    for (const auto& [link, bytes] : traffic.cables) {
      const auto found = cables_.find(link);
      if (found != cables_.end()) found->second.Add(begin, end, bytes);
    }
  }

  double RateOf(uint32_t link) const {
    return links_.fabric().direction(link).full_rate.bytes_per_second();
  }

  // Moves the `most` links with the largest values to the end of `taken`.
  template <typename Value>
  void TakeLargest(const std::vector<Value>& values, size_t most, std::vector<uint32_t>* taken) {
    std::vector<uint32_t> links;
    for (uint32_t link = 0; link < values.size(); ++link) {
      const bool known = std::find(taken->begin(), taken->end(), link) != taken->end();
      if (values[link] > 0 && !known) links.push_back(link);
    }
    std::stable_sort(links.begin(), links.end(), [&](uint32_t a, uint32_t b) {
      return static_cast<double>(values[a]) / RateOf(a) >
             static_cast<double>(values[b]) / RateOf(b);
    });
    links.resize(std::min(links.size(), most));
    taken->insert(taken->end(), links.begin(), links.end());
  }

  std::vector<uint32_t> ShownCables() {
    std::vector<uint32_t> links;
    TakeLargest(totals_, kBusiestCables, &links);
    TakeLargest(fastest_, kBurstCables, &links);
    return links;
  }

  // Returns the links of the rank's NIC: each outgoing one, then its reverse direction.
  std::vector<uint32_t> CablesOfRank(int rank) const {
    const Placement::Slot& slot = links_.placement().of(rank);
    const int nic = inputs_.workload.topology.kind_of_host(slot.host).NicOfGpu(slot.gpu);
    std::vector<uint32_t> cables;
    for (const uint32_t link : links_.fabric().ports_of(static_cast<uint32_t>(slot.host))) {
      if (links_.fabric().direction(link).from_nic != nic) continue;
      cables.push_back(link);
      cables.push_back(link ^ 1);
    }
    return cables;
  }

  double RateOfAllNics() const {
    double rate = 0;
    for (uint32_t host = 0; host < links_.fabric().host_count(); ++host) {
      for (const uint32_t link : links_.fabric().ports_of(host)) rate += RateOf(link);
    }
    return rate;
  }

  LinkLoad Rows() {
    LinkLoad out;
    if (all_nics_.any()) out.nics.push_back(all_nics_.Row("all NICs, sending", RateOfAllNics()));
    std::vector<uint32_t> taken;
    for (const int rank : shown_) {
      const Placement::Slot& slot = links_.placement().of(rank);
      const double rate =
          inputs_.workload.topology.kind_of_host(slot.host).scale_up.bandwidth.bytes_per_second();
      auto& [from, into] = scale_up_.at(rank);
      if (from.any()) {
        out.scale_up.push_back(from.Row(fmt::format("rank {}, out of its GPU", rank), rate));
        out.scale_up.back().rank = rank;
      }
      if (into.any()) {
        out.scale_up.push_back(into.Row(fmt::format("rank {}, into its GPU", rank), rate));
        out.scale_up.back().rank = rank;
      }
      for (const uint32_t link : CablesOfRank(rank)) {
        if (std::find(taken.begin(), taken.end(), link) != taken.end()) continue;
        taken.push_back(link);
        AddCable(link, rank, &out.nics);
      }
    }
    for (const uint32_t link : shown_cables_) AddCable(link, -1, &out.cables);
    out.logged = LoggedRows();
    return out;
  }

  std::vector<LoadRow> LoggedRows() const {
    // Of several iterations, the timeline is that of the last, and the log has all.
    if (!inputs_.link_log || !inputs_.timeline.iterations.empty()) return {};
    std::map<std::string, std::pair<int, double>> known;  // how many cables, and their rate
    for (uint32_t link = 0; link < links_.fabric().link_count(); ++link) {
      auto& [count, rate] = known[links_.CableName(link)];
      ++count;
      rate += RateOf(link);
    }
    std::vector<LoadRow> rows;
    for (const LoggedLink& logged : *inputs_.link_log) {
      const auto found = known.find(logged.from + " to " + logged.to);
      if (found == known.end()) continue;  // of a switch that sums, which is no cable
      LoadMeter meter = NewMeter();
      for (const LoggedInterval& each : logged.intervals) {
        const Time end = std::min(each.end, inputs_.timeline.iteration);
        if (each.bytes > 0 && each.begin < end) meter.Add(each.begin, end, each.bytes);
      }
      if (!meter.any()) continue;
      const auto& [count, rate] = found->second;
      const std::string more = count > 1 ? fmt::format(" ({} cables)", count) : "";
      rows.push_back(meter.Row(found->first + more, rate));
    }
    return BusiestOf(std::move(rows));
  }

  // The rows with the highest mean, then those of the others with the highest peak.
  static std::vector<LoadRow> BusiestOf(std::vector<LoadRow> rows) {
    const auto sort_rest = [&](size_t from, double Load::*figure) {
      std::stable_sort(
          rows.begin() + static_cast<std::ptrdiff_t>(from), rows.end(),
          [&](const LoadRow& a, const LoadRow& b) { return a.whole.*figure > b.whole.*figure; });
    };
    sort_rest(0, &Load::mean);
    if (rows.size() > kBusiestCables) sort_rest(kBusiestCables, &Load::peak);
    rows.resize(std::min(rows.size(), kBusiestCables + kBurstCables));
    return rows;
  }

  void AddCable(uint32_t link, int rank, std::vector<LoadRow>* rows) {
    LoadMeter& meter = cables_.at(link);
    if (!meter.any()) return;
    rows->push_back(meter.Row(links_.CableName(link), RateOf(link)));
    rows->back().rank = rank;
  }

  const Inputs& inputs_;
  PlanLinks links_;
  const int columns_;
  const std::vector<int>& shown_;
  std::vector<int64_t> totals_;  // by link
  std::vector<double> fastest_;  // by link: bytes in a picosecond of one call
  std::vector<uint32_t> shown_cables_;
  LoadMeter all_nics_;
  std::map<int, std::pair<LoadMeter, LoadMeter>> scale_up_;  // by rank: out, in
  std::map<uint32_t, LoadMeter> cables_;
};

}  // namespace

LinkLoad MeasureLinkLoad(const Inputs& inputs, const std::vector<int>& ranks, int columns) {
  return Measurer(inputs, ranks, columns).Measure();
}

}  // namespace drydock
