// Megatron's pipeline layouts (pipeline_parallel_layer_layout.py). A layout states what each
// virtual stage of a pipeline holds: "Ettt|(tt|)*28tt|mL".
//
//   E the embedding, t a layer, m a layer of multi-token prediction (MTP), L final norm, head and
//   loss; | ends a virtual stage; x*n: the letter (or |) n times; (...)*n: the group n times; commas
//   are ignored
//
// Stage s of chunk c is virtual stage number c x pipeline + s. All functions are pure.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_PIPELINE_LAYOUT_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_PIPELINE_LAYOUT_H_

#include <string>
#include <vector>

namespace drydock {

// The letters of each virtual stage.
using LayoutStages = std::vector<std::string>;

struct LayoutText {
  LayoutStages stages;  // up to the first mistake
  std::string mistake;  // the first mistake in the text; "" if there is none
};
LayoutText ExpandPipelineLayout(const std::string& text);

// What a layout must hold.
struct LayoutDemand {
  int layers = 0;
  int mtp_layers = 0;
  int pipeline = 1;
};

// Returns the rule that the stages break; "" if they break none.
std::string LayoutMistake(const LayoutStages& stages, const LayoutDemand& demand);

// Returns the number of layers of a virtual stage.
int LayersOf(const std::string& stage);
// Returns the number of MTP layers of each virtual stage.
std::vector<int> MtpLayersOf(const LayoutStages& stages);

// Returns a layout that breaks no rule and is near these stages: letters move to valid places,
// large stages are split, small ones joined, layers are added to the smallest stages or taken from
// the largest.
std::string NearestPipelineLayout(const LayoutStages& stages, const LayoutDemand& demand);

// Returns a short text that expands to the stages.
std::string ToLayoutText(const LayoutStages& stages);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_PIPELINE_LAYOUT_H_
