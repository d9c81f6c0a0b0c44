// A layout as the user's framework takes it.
#ifndef DRYDOCK_STUDY_SEARCH_LAYOUT_ARGUMENTS_H_
#define DRYDOCK_STUDY_SEARCH_LAYOUT_ARGUMENTS_H_

#include <string>

#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"

namespace drydock {

struct LayoutArguments {
  const char* suffix = "";  // of a file with the text: ".args", ".json"
  std::string text;
};

// Megatron-LM: arguments of pretrain_gpt.py, one on each line. torchtitan: options of its
// configuration. DeepSpeed: keys of its JSON configuration. They state what a search chooses, and
// take the place of the same arguments in the user's command. What has the framework's default is
// left out.
LayoutArguments ArgumentsOf(const TrainingJob& job, const ParallelLayout& layout);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_SEARCH_LAYOUT_ARGUMENTS_H_
