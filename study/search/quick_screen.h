// A layout's least time and least memory, in a fraction of the time that its workload takes.
#ifndef DRYDOCK_STUDY_SEARCH_QUICK_SCREEN_H_
#define DRYDOCK_STUDY_SEARCH_QUICK_SCREEN_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/evaluate/evaluator.h"
#include "study/search/layer_costs.h"

namespace drydock {

struct QuickLook {
  PointState state = PointState::kDone;  // kDone: it may be possible and fit
  std::string reason;                    // unless kDone
  Time bound;                            // zero: nothing is known
  Bytes memory;                          // that a rank needs at least; zero: nothing is known
};

// Layouts of Megatron-LM differ in their pipelines more than in anything else, and the costs of a
// layer are the same in all of these. Other frameworks have no pipeline; for them, this says only
// whether a layout is possible. Not thread-safe.
class QuickScreen {
 public:
  // `evaluator` must outlive this object.
  explicit QuickScreen(Evaluator* evaluator) : evaluator_(evaluator) {}

  QuickLook Look(const std::vector<std::string>& assignments);

 private:
  const LayerCosts* CostsOf(const std::vector<std::string>& assignments, const Outline& outline);

  Evaluator* const evaluator_;
  // By the assignments without those of the pipeline. Nothing: there is no such run.
  std::map<std::vector<std::string>, std::optional<LayerCosts>> costs_;
};

}  // namespace drydock

#endif  // DRYDOCK_STUDY_SEARCH_QUICK_SCREEN_H_
