#include "report/facts/link_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/facts/traffic.h"

namespace drydock {
namespace {

// Bytes by column of the iteration.
class LoadMeter {
 public:
  LoadMeter(Time iteration, int columns)
      : iteration_(iteration.ps()), bytes_(static_cast<size_t>(columns), 0) {}

  void Add(Time begin, Time end, int64_t bytes) {
    const auto columns = static_cast<int64_t>(bytes_.size());
    const int64_t from = begin.ps(), to = std::max(end.ps(), from + 1);
    for (int64_t column = Scaled(from, columns, iteration_); column < columns; ++column) {
      const int64_t here = std::max(from, Scaled(column, iteration_, columns));
      const int64_t next = std::min(to, Scaled(column + 1, iteration_, columns));
      if (next > here) {
        bytes_[static_cast<size_t>(column)] += static_cast<double>(bytes) *
                                               static_cast<double>(next - here) /
                                               static_cast<double>(to - from);
      }
      if (to <= next) break;
    }
    total_ += bytes;
  }

  bool any() const { return total_ > 0; }

  LoadRow Row(std::string name, double bytes_per_second) const {
    LoadRow row;
    row.name = std::move(name);
    row.rate = Bandwidth::FromBytesPerSecond(bytes_per_second);
    const double seconds = static_cast<double>(iteration_) * 1e-12;
    const double column = seconds / static_cast<double>(bytes_.size());
    for (const double bytes : bytes_) row.share.push_back(bytes / (bytes_per_second * column));
    row.mean = static_cast<double>(total_) / (bytes_per_second * seconds);
    return row;
  }

 private:
  static int64_t Scaled(int64_t value, int64_t by, int64_t over) {
    return static_cast<int64_t>(static_cast<__int128>(value) * by / over);
  }
  int64_t iteration_;
  std::vector<double> bytes_;
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
    VisitAll([this](int, const Traffic& traffic, Time, Time) {
      for (const auto& [link, bytes] : traffic.cables) totals_[link] += bytes;
    });
    for (const uint32_t link : BusiestCables()) cables_.try_emplace(link, NewMeter());
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

  // Orders links by utilization.
  std::vector<uint32_t> BusiestCables() const {
    std::vector<uint32_t> busy;
    for (uint32_t link = 0; link < totals_.size(); ++link) {
      if (totals_[link] > 0) busy.push_back(link);
    }
    std::stable_sort(busy.begin(), busy.end(), [this](uint32_t a, uint32_t b) {
      return static_cast<double>(totals_[a]) / RateOf(a) >
             static_cast<double>(totals_[b]) / RateOf(b);
    });
    busy.resize(std::min(busy.size(), kBusiestCables));
    return busy;
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

  LinkLoad Rows() const {
    LinkLoad out;
    if (all_nics_.any()) out.nics.push_back(all_nics_.Row("all NICs, sending", RateOfAllNics()));
    std::vector<uint32_t> taken;
    for (const int rank : shown_) {
      const Placement::Slot& slot = links_.placement().of(rank);
      const double rate =
          inputs_.workload.topology.kind_of_host(slot.host).scale_up.bandwidth.bytes_per_second();
      const auto& [from, into] = scale_up_.at(rank);
      if (from.any()) {
        out.scale_up.push_back(from.Row(fmt::format("rank {}, out of its GPU", rank), rate));
      }
      if (into.any()) {
        out.scale_up.push_back(into.Row(fmt::format("rank {}, into its GPU", rank), rate));
      }
      for (const uint32_t link : CablesOfRank(rank)) {
        if (std::find(taken.begin(), taken.end(), link) != taken.end()) continue;
        taken.push_back(link);
        AddCable(link, &out.nics);
      }
    }
    for (const uint32_t link : BusiestCables()) AddCable(link, &out.cables);
    return out;
  }

  void AddCable(uint32_t link, std::vector<LoadRow>* rows) const {
    const LoadMeter& meter = cables_.at(link);
    if (meter.any()) rows->push_back(meter.Row(links_.CableName(link), RateOf(link)));
  }

  const Inputs& inputs_;
  PlanLinks links_;
  const int columns_;
  const std::vector<int>& shown_;
  std::vector<int64_t> totals_;  // by link
  LoadMeter all_nics_;
  std::map<int, std::pair<LoadMeter, LoadMeter>> scale_up_;  // by rank: out, in
  std::map<uint32_t, LoadMeter> cables_;
};

}  // namespace

LinkLoad MeasureLinkLoad(const Inputs& inputs, const std::vector<int>& ranks, int columns) {
  return Measurer(inputs, ranks, columns).Measure();
}

}  // namespace drydock
