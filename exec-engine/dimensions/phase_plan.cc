#include "exec-engine/dimensions/phase_plan.h"

#include <algorithm>

#include "core/base/check.h"

namespace drydock {
namespace {

const std::vector<DimensionRule>& RulesFor(const CollectiveSystem& system, CollectiveType type) {
  switch (type) {
    case CollectiveType::kAllReduce:
      return system.all_reduce;
    case CollectiveType::kAllGather:
      return system.all_gather;
    case CollectiveType::kReduceScatter:
      return system.reduce_scatter;
    default:
      CHECK(type == CollectiveType::kAllToAll);
      return system.all_to_all;
  }
}

class PhaseMaker {
 public:
  PhaseMaker(const DimensionNetwork& network, const std::vector<DimensionRule>& rules,
             int64_t chunk, int npu, std::vector<uint32_t>* tree_phases)
      : network_(network), rules_(rules), bytes_(chunk), npu_(npu), tree_phases_(*tree_phases) {}

  void Add(CollectiveType type, size_t dimension) {
    PhasePlan phase;
    phase.type = type;
    phase.rule = rules_[dimension];
    phase.dimension = static_cast<int>(dimension);
    phase.bytes = bytes_;
    if (phase.rule.over_all) {
      phase.ring = {0, 1, network_.npus(), nullptr};
      phase.position = npu_;
    } else {
      const int stride = network_.stride(dimension);
      phase.position = network_.CoordinateOf(npu_, dimension);
      phase.ring = {npu_ - phase.position * stride, stride, network_.dimensions()[dimension].npus,
                    nullptr};
    }
    if (phase.rule.algorithm == DimensionAlgorithm::kDoubleBinaryTree) {
      phase.root_is_first = tree_phases_[dimension]++ % 2 == 1;
    }
    bytes_ = BytesAfter(type, bytes_, phase.ring.size);
    phases_.push_back(phase);
  }

  std::vector<PhasePlan> Take() { return std::move(phases_); }

 private:
  const DimensionNetwork& network_;
  const std::vector<DimensionRule>& rules_;
  int64_t bytes_;
  int npu_;
  std::vector<uint32_t>& tree_phases_;
  std::vector<PhasePlan> phases_;
};

// A group of some NPUs is one ring of its members, independent of the dimensions.
std::vector<PhasePlan> PhaseOfGroup(const DimensionCall& call, int64_t chunk, int npu) {
  PhasePlan phase;
  phase.type = call.type;
  phase.ring = {0, 1, static_cast<int>(call.members->size()), call.members};
  const auto me = std::find(call.members->begin(), call.members->end(), npu);
  CHECK(me != call.members->end());
  phase.position = static_cast<int>(me - call.members->begin());
  phase.bytes = chunk;
  phase.in_group = true;
  return {phase};
}

}  // namespace

std::vector<int64_t> ChunksOf(int64_t bytes, int splits) {
  const int64_t size = std::max<int64_t>(bytes / splits, 1);
  std::vector<int64_t> chunks;
  for (int64_t left = bytes; left > 0; left -= size) chunks.push_back(std::min(left, size));
  return chunks;
}

int64_t BytesAfter(CollectiveType type, int64_t bytes, int npus) {
  if (type == CollectiveType::kAllGather) return bytes * npus;
  if (type == CollectiveType::kReduceScatter) return bytes / npus;
  return bytes;
}

std::vector<PhasePlan> PhasesOf(const DimensionNetwork& network, const CollectiveSystem& system,
                                const DimensionCall& call, int64_t chunk, int npu,
                                std::vector<uint32_t>* tree_phases) {
  const bool all =
      call.members == nullptr || call.members->size() == static_cast<size_t>(network.npus());
  if (!all && call.members->size() == 1) return {};
  if (!all) return PhaseOfGroup(call, chunk, npu);
  const std::vector<DimensionRule>& rules = RulesFor(system, call.type);
  PhaseMaker maker(network, rules, chunk, npu, tree_phases);
  const size_t last = rules.size() - 1;
  if (call.type == CollectiveType::kAllGather) {
    for (size_t d = rules.size(); d-- > 0;) maker.Add(call.type, d);
  } else if (call.type == CollectiveType::kAllReduce && system.hierarchical) {
    for (size_t d = 0; d < last; ++d) maker.Add(CollectiveType::kReduceScatter, d);
    maker.Add(CollectiveType::kAllReduce, last);
    for (size_t d = last; d-- > 0;) maker.Add(CollectiveType::kAllGather, d);
  } else {
    for (size_t d = 0; d < rules.size(); ++d) maker.Add(call.type, d);
  }
  return maker.Take();
}

}  // namespace drydock
