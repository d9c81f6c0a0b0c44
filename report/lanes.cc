#include "report/lanes.h"

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
      if (to > from) At(column, kind) += to - from;
      if (end.ps() <= BeginOf(column + 1)) break;
    }
  }

  // A column shows the kind with most of it, if all kinds together fill half of it.
  std::vector<LaneRun> Runs() {
    std::vector<LaneRun> runs;
    for (int column = 0; column < columns_; ++column) {
      const int kind = KindOf(column);
      if (kind < 0) continue;
      if (!runs.empty() && runs.back().end == column && runs.back().what == kind) {
        runs.back().end = column + 1;
      } else {
        runs.push_back({column, column + 1, kind});
      }
    }
    return runs;
  }

 private:
  int64_t& At(int column, int kind) {
    return ps_[static_cast<size_t>(column) * static_cast<size_t>(kinds_) +
               static_cast<size_t>(kind)];
  }
  int64_t BeginOf(int column) const {
    return static_cast<int64_t>(static_cast<__int128>(length_) * column / columns_);
  }
  // One too low at most, where a boundary was rounded down.
  int ColumnOf(int64_t ps) const {
    return static_cast<int>(static_cast<__int128>(ps) * columns_ / length_);
  }
  int KindOf(int column) {
    int best = 0;
    int64_t sum = 0;
    for (int kind = 0; kind < kinds_; ++kind) {
      sum += At(column, kind);
      if (At(column, kind) > At(column, best)) best = kind;
    }
    return 2 * sum >= BeginOf(column + 1) - BeginOf(column) && sum > 0 ? best : -1;
  }

  int64_t length_;
  int columns_;
  int kinds_;
  std::vector<int64_t> ps_;
};

}  // namespace

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
    if (op.kind == OpKind::kCompute) continue;
    lane.Add(times.ready[i], times.end[i],
             static_cast<int>(inputs.workload.roles[op.role].dimension));
  }
  return lane.Runs();
}

}  // namespace drydock
