#include "workload-gen/layout/layer_split.h"

#include <fmt/format.h>

#include "workload-gen/job/pipeline_layout.h"

namespace drydock {
namespace {

class Splitter {
 public:
  Splitter(int layers, const ParallelRules& parallel) : layers_(layers), p_(parallel) {}

  LayerSplit Run() {
    if (!p_.layout.empty()) return Stated();
    const bool uneven = p_.first_stage_layers > 0 || p_.last_stage_layers > 0;
    if (!(uneven ? Uneven() : Even())) return std::move(split_);
    std::vector<int> of_virtual;
    for (int chunk = 0; chunk < p_.virtual_pipeline; ++chunk) {
      for (const int stage : of_stage_) of_virtual.push_back(stage / p_.virtual_pipeline);
    }
    if (p_.account_for_embedding) --of_virtual.front();
    if (p_.account_for_loss) --of_virtual.back();
    split_.layers = std::move(of_virtual);
    return std::move(split_);
  }

 private:
  bool Refuse(const char* key, std::string reason) {
    split_.key = key;
    split_.reason = std::move(reason);
    return false;
  }

  // The split that the layout states. The layout fits the model (job_rules.cc), but perhaps not the
  // number of stages.
  LayerSplit Stated() {
    const LayoutStages stages = ExpandPipelineLayout(p_.layout).stages;
    const int64_t wanted = int64_t{p_.pipeline} * p_.virtual_pipeline;
    if (static_cast<int64_t>(stages.size()) != wanted) {
      Refuse("layout", fmt::format("layout has {} stages, pipeline {} x virtual_pipeline {} = {}",
                                   stages.size(), p_.pipeline, p_.virtual_pipeline, wanted));
      return std::move(split_);
    }
    for (const std::string& stage : stages) split_.layers.push_back(LayersOf(stage));
    return std::move(split_);
  }

  bool Even() {
    const int extra = (p_.account_for_embedding ? 1 : 0) + (p_.account_for_loss ? 1 : 0);
    const int64_t stages = int64_t{p_.pipeline} * p_.virtual_pipeline;
    const int total = layers_ + extra;
    if (total % stages != 0) {
      std::string what = fmt::format("layers {}", layers_);
      if (p_.account_for_embedding) what += " + 1 for the embedding";
      if (p_.account_for_loss) what += " + 1 for the loss";
      if (extra > 0) what += fmt::format(" = {}", total);
      if (p_.virtual_pipeline > 1) {
        return Refuse(
            "virtual_pipeline",
            fmt::format("{} is not divisible by pipeline {} x virtual_pipeline {} = {} stages",
                        what, p_.pipeline, p_.virtual_pipeline, stages));
      }
      return Refuse("pipeline",
                    fmt::format("{} is not divisible by pipeline {}", what, p_.pipeline));
    }
    of_stage_.assign(static_cast<size_t>(p_.pipeline), total / p_.pipeline);
    return true;
  }

  bool Uneven() {
    const char* key = p_.first_stage_layers > 0 ? "first_stage_layers" : "last_stage_layers";
    if (p_.pipeline == 1) return Refuse(key, fmt::format("'{}' needs pipeline > 1", key));
    const int given = (p_.first_stage_layers > 0 ? 1 : 0) + (p_.last_stage_layers > 0 ? 1 : 0);
    const int middle = p_.pipeline - given;
    const int left = layers_ - p_.first_stage_layers - p_.last_stage_layers;
    if (left < 0 || (middle == 0 ? left != 0 : left % middle != 0)) {
      return Refuse(
          key, fmt::format("layers {} less first_stage_layers {} and last_stage_layers "
                           "{} leave {}, which is not divisible over {} other stages",
                           layers_, p_.first_stage_layers, p_.last_stage_layers, left, middle));
    }
    of_stage_.assign(static_cast<size_t>(p_.pipeline), middle == 0 ? 0 : left / middle);
    if (p_.first_stage_layers > 0) of_stage_.front() = p_.first_stage_layers;
    if (p_.last_stage_layers > 0) of_stage_.back() = p_.last_stage_layers;
    for (const int layers : of_stage_) {
      if (layers % p_.virtual_pipeline == 0) continue;
      return Refuse("virtual_pipeline",
                    fmt::format("a stage of {} layers is not divisible by virtual_pipeline {}",
                                layers, p_.virtual_pipeline));
    }
    return true;
  }

  const int layers_;
  const ParallelRules& p_;
  std::vector<int> of_stage_;
  LayerSplit split_;
};

}  // namespace

LayerSplit SplitLayers(int layers, const ParallelRules& parallel) {
  return Splitter(layers, parallel).Run();
}

}  // namespace drydock
