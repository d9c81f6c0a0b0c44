#include "workload-gen/sharded/zero_trace.h"

#include <algorithm>
#include <utility>

namespace drydock {
namespace {

class Recorder {
 public:
  Recorder(const TorchContext& context, ZeroTrace* trace) : t_(context), trace_(trace) {}

  void Record() {
    std::vector<int> groups = t_.GroupsOf(0);
    for (const int group : groups) {
      Number(group);
      Forward(group, ModulePass::kForward);
    }
    std::reverse(groups.begin(), groups.end());
    const bool repeats = t_.writer.job.training.recompute.granularity == Recompute::kFull;
    for (const int group : groups) {
      if (repeats && group >= 0 && group < t_.layers()) Forward(group, ModulePass::kRecompute);
      for (size_t i = t_.Group(group).modules.size(); i-- > 0;) {
        Step(group, ModulePass::kBackward, i);
      }
    }
  }

 private:
  void Number(int group) {
    const std::vector<TorchModule>& modules = t_.Group(group).modules;
    for (size_t i = 0; i < modules.size(); ++i) {
      std::vector<int>& own = of_[{group, i}];
      for (const int64_t elements : modules[i].parameters) {
        own.push_back(static_cast<int>(trace_->parameters.size()));
        trace_->parameters.push_back(elements);
      }
    }
  }

  void Forward(int group, ModulePass pass) {
    for (size_t i = 0; i < t_.Group(group).modules.size(); ++i) Step(group, pass, i);
  }

  void Step(int group, ModulePass pass, size_t module) {
    const bool tied = t_.Group(group).modules[module].tied;
    const std::vector<int>& own = tied ? of_[{-1, 0}] : of_[{group, module}];
    if (own.empty()) return;
    trace_->step_of[{group, pass, module}] = trace_->steps.size();
    trace_->steps.push_back(own);
  }

  const TorchContext& t_;
  ZeroTrace* trace_;
  std::map<std::pair<int, size_t>, std::vector<int>> of_;
};

}  // namespace

ZeroTrace::ZeroTrace(const TorchContext& context) { Recorder(context, this).Record(); }

}  // namespace drydock
