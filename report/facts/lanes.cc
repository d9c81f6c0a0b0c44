#include "report/facts/lanes.h"

#include <algorithm>

namespace drydock {
namespace {

// Picoseconds of each kind in each column.
class Columns {
 public:
  Columns(Time length, int columns, int kinds)
      : length_(length.ps()),
        columns_(columns),
        kinds_(kinds),
        ps_(static_cast<size_t>(columns) * static_cast<size_t>(kinds), 0) {}

  void Add(Time begin, Time end, int kind) {
    if (end <= begin) return;
    for (int column = ColumnOf(begin.ps()); column < columns_; ++column) {
      const int64_t from = std::max(begin.ps(), BeginOf(column));
      const int64_t to = std::min(end.ps(), BeginOf(column + 1));
      if (to > from) ps_[Index(column, kind)] += to - from;
      if (end.ps() <= BeginOf(column + 1)) break;
    }
  }

  std::vector<LaneRun> Runs() const {
    std::vector<LaneRun> runs;
    for (int column = 0; column < columns_; ++column) {
      const LaneRun next = RunOf(column);
      if (next.quarters == 0) continue;
      const bool joins = !runs.empty() && runs.back().end == column &&
                         runs.back().what == next.what && runs.back().quarters == next.quarters;
      if (joins) {
        runs.back().end = next.end;
      } else {
        runs.push_back(next);
      }
    }
    return runs;
  }

 private:
  size_t Index(int column, int kind) const {
    return static_cast<size_t>(column) * static_cast<size_t>(kinds_) + static_cast<size_t>(kind);
  }
  int64_t BeginOf(int column) const {
    return static_cast<int64_t>(static_cast<__int128>(length_) * column / columns_);
  }
  // The result can be one too low, at a boundary that was rounded down.
  int ColumnOf(int64_t ps) const {
    return static_cast<int>(static_cast<__int128>(ps) * columns_ / length_);
  }
  // Returns the kind with the most time in the column, and how full all kinds together make it.
  // Streams may overlap.
  LaneRun RunOf(int column) const {
    int best = 0;
    int64_t sum = 0;
    for (int kind = 0; kind < kinds_; ++kind) {
      sum += ps_[Index(column, kind)];
      if (ps_[Index(column, kind)] > ps_[Index(column, best)]) best = kind;
    }
    const int64_t width = std::max<int64_t>(1, BeginOf(column + 1) - BeginOf(column));
    const int64_t quarters = (8 * std::min(sum, width) + width) / (2 * width);
    return {column, column + 1, best, static_cast<int>(quarters)};
  }

  int64_t length_;
  int columns_;
  int kinds_;
  std::vector<int64_t> ps_;
};

}  // namespace

std::vector<LaneRun> LaneOf(const std::vector<Interval>& intervals, Time length, int columns,
                            int kinds) {
  Columns lane(length, columns, kinds);
  for (const Interval& each : intervals) lane.Add(each.begin, each.end, each.what);
  return lane.Runs();
}

std::vector<LaneRun> ComputeLane(const Inputs& inputs, int rank, int columns) {
  Columns lane(inputs.timeline.iteration, columns, static_cast<int>(PhaseNames().size()));
  const Program& program = inputs.program_of(rank);
  const RankTimeline& times = inputs.timeline_of(rank);
  for (size_t i = 0; i < program.ops.size(); ++i) {
    if (program.ops[i].kind != OpKind::kCompute) continue;
    lane.Add(times.start[i], times.end[i], static_cast<int>(program.ops[i].phase));
  }
  return lane.Runs();
}

std::vector<LaneRun> CommunicationLane(const Inputs& inputs, int rank, int columns) {
  Columns lane(inputs.timeline.iteration, columns, kDimensionCount);
  const Program& program = inputs.program_of(rank);
  const RankTimeline& times = inputs.timeline_of(rank);
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (!IsCommunication(op.kind)) continue;
    lane.Add(times.ready[i], times.end[i],
             static_cast<int>(inputs.workload.roles[op.role].dimension));
  }
  return lane.Runs();
}

}  // namespace drydock
