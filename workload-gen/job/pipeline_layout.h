// Megatron's pipeline layouts (pipeline_parallel_layer_layout.py), which say stage by stage what a
// pipeline holds: "Ettt|(tt|)*28tt|mL".
//
//   E the embedding, t a layer, m a layer that predicts further tokens, L final norm, head and loss
//   | ends a virtual stage; x*n: the letter (or |) n times; (...)*n: what stands inside, n times
//   commas are for the eye
//
// Virtual stages are written in their order: stage s of chunk c is number c x pipeline + s. Pure.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_PIPELINE_LAYOUT_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_PIPELINE_LAYOUT_H_

#include <string>
#include <vector>

namespace drydock {

// The letters of each virtual stage.
using LayoutStages = std::vector<std::string>;

struct LayoutText {
  LayoutStages stages;  // up to a mistake, if there is one
  std::string mistake;  // what is wrong with the text; "" if nothing is
};
LayoutText ExpandPipelineLayout(const std::string& text);

// What a layout has to come up to.
struct LayoutDemand {
  int layers = 0;
  int mtp_layers = 0;
  int pipeline = 1;
};

// The rule that the stages break; "" if none.
std::string LayoutMistake(const LayoutStages& stages, const LayoutDemand& demand);

// Layers of a virtual stage.
int LayersOf(const std::string& stage);
// How many m each virtual stage has.
std::vector<int> FurtherOf(const LayoutStages& stages);

// The layout that breaks no rule and is made of these stages by the fewest changes: letters to
// their places, stages split or joined, layers added where there are fewest or taken where most.
std::string NearestPipelineLayout(const LayoutStages& stages, const LayoutDemand& demand);

// The shortest text that expands to the stages.
std::string ToLayoutText(const LayoutStages& stages);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_PIPELINE_LAYOUT_H_
