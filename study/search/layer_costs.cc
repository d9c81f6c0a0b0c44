#include "study/search/layer_costs.h"

#include <algorithm>

#include "study/search/least_times.h"
#include "study/search/passes.h"

namespace drydock {
namespace {

// The first micro-batch may do more than the others.
constexpr int kMicrobatch = 1;

// A layout that has layers for multi-token prediction: they may stand apart from the head.
bool HasMtp(const ParallelLayout& layout) { return !layout.first_mtp_layer.empty(); }

LayerCost CostOf(const ParallelLayout& layout, const LayerCosts& costs, int stage, int chunk) {
  LayerCost sum;
  const auto add = [&](const LayerCost& cost) {
    sum.forward += cost.forward;
    sum.backward += cost.backward;
    sum.saved += cost.saved;
  };
  for (int layer = layout.FirstLayer(stage, chunk); layer < layout.EndLayer(stage, chunk);
       ++layer) {
    add(costs.layers[static_cast<size_t>(layer)]);
  }
  if (stage == 0 && chunk == 0) add(costs.embedding);
  const bool last = stage == layout.pipeline - 1 && chunk == layout.chunks - 1;
  if (last && !HasMtp(layout)) add(costs.head);
  return sum;
}

}  // namespace

LayerCosts LayerCostsOf(const Workload& workload, const KernelTimes& times, int layers,
                        const std::vector<Bytes>& saved) {
  LayerCosts costs;
  costs.layers.resize(static_cast<size_t>(layers));
  for (size_t i = 0; i < std::min(saved.size(), costs.layers.size()); ++i) {
    costs.layers[i].saved = saved[i];
  }
  LeastTimes least(workload, times);
  const Program& program = least.ProgramOf(0);
  for (const RankPass& pass : PassesOf(0, kMicrobatch, &least)) {
    // The head follows the layers forward, and comes before them backward.
    bool layers_seen = false;
    Time reached;
    for (const auto& [index, end] : pass.ends) {
      const int layer = program.ops[index].layer;
      const bool inside = layer >= 0 && layer < layers;
      layers_seen = layers_seen || inside;
      LayerCost& cost = inside                         ? costs.layers[static_cast<size_t>(layer)]
                        : layers_seen == pass.backward ? costs.embedding
                                                       : costs.head;
      // What ends before an earlier op has ended costs nothing more.
      const Time more = std::max(Time(), end - reached);
      (pass.backward ? cost.backward : cost.forward) += more;
      reached = std::max(reached, end);
    }
  }
  return costs;
}

Time LeastTimeOf(const ParallelLayout& layout, const LayerCosts& costs) {
  Time longest, before;  // `before`: forward and backward through the earlier stages
  for (int stage = 0; stage < layout.pipeline; ++stage) {
    Time own;
    for (int chunk = 0; chunk < layout.chunks; ++chunk) {
      const LayerCost cost = CostOf(layout, costs, stage, chunk);
      own += cost.forward + cost.backward;
    }
    longest = std::max(longest, before + own * layout.microbatches);
    const LayerCost first = CostOf(layout, costs, stage, 0);
    before += first.forward + first.backward;
  }
  return longest;
}

Bytes LeastSaved(const ParallelLayout& layout, const LayerCosts& costs, int stage) {
  Bytes least;  // of a chunk
  for (int chunk = 0; chunk < layout.chunks; ++chunk) {
    Bytes saved;
    for (int layer = layout.FirstLayer(stage, chunk); layer < layout.EndLayer(stage, chunk);
         ++layer) {
      saved += costs.layers[static_cast<size_t>(layer)].saved;
    }
    least = chunk == 0 ? saved : std::min(least, saved);
  }
  const int64_t all = int64_t{layout.microbatches} * layout.chunks;
  const int64_t behind = layout.pipeline - 1 - stage;
  const int64_t warmup =
      layout.chunks == 1 ? behind : 2 * behind + int64_t{layout.chunks - 1} * layout.pipeline;
  return least * std::min(all, warmup + 1);
}

}  // namespace drydock
