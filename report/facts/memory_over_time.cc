#include "report/facts/memory_over_time.h"

#include <algorithm>

namespace drydock {
namespace {

bool IsKnown(const Inputs& inputs, int rank) {
  return inputs.memory_curve && inputs.memory_curve->class_index ==
                                    inputs.workload.class_of_rank[static_cast<size_t>(rank)];
}

}  // namespace

std::vector<AllocatedAt> AllocatedOverTime(const Inputs& inputs, int rank) {
  std::vector<AllocatedAt> curve;
  if (!IsKnown(inputs, rank)) return curve;
  const Program& program = inputs.program_of(rank);
  const RankTimeline& times = inputs.timeline_of(rank);
  Bytes most;  // since the step before
  for (size_t i = 0; i < program.ops.size(); ++i) {
    most = std::max(most, inputs.memory_curve->allocated[i]);
    if (program.ops[i].kind != OpKind::kCompute) continue;
    // Compute ops on two streams overlap: a step does not begin before the one before.
    const Time time = curve.empty() ? Time() : std::max(curve.back().time, times.start[i]);
    if (curve.empty() || curve.back().bytes != most) curve.push_back({time, most});
    most = Bytes();
  }
  return curve;
}

std::vector<AllocatedAt> Thinned(const std::vector<AllocatedAt>& curve, Time iteration, int steps) {
  if (curve.size() <= static_cast<size_t>(steps)) return curve;
  std::vector<AllocatedAt> out;
  size_t next = 0;
  Bytes held;  // at the beginning of the column
  for (int column = 0; column < steps; ++column) {
    const auto at = [&](int i) {
      return Time::Ps(static_cast<int64_t>(static_cast<__int128>(iteration.ps()) * i / steps));
    };
    Bytes most = held;
    for (; next < curve.size() && curve[next].time < at(column + 1); ++next) {
      held = curve[next].bytes;
      most = std::max(most, held);
    }
    if (out.empty() || out.back().bytes != most) out.push_back({at(column), most});
  }
  return out;
}

int RankWithMemory(const Inputs& inputs) {
  for (int rank = 0; rank < inputs.workload.rank_count(); ++rank) {
    if (IsKnown(inputs, rank)) return rank;
  }
  return -1;
}

}  // namespace drydock
