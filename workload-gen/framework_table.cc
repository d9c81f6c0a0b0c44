#include "core/base/check.h"
#include "workload-gen/framework/framework.h"
#include "workload-gen/job/framework_names.h"
#include "workload-gen/megatron/megatron.h"
#include "workload-gen/sharded/deepspeed.h"
#include "workload-gen/sharded/fsdp.h"

namespace drydock {

const std::vector<FrameworkChoice>& FrameworkChoices() {
  static const std::vector<FrameworkChoice> choices = {
      {"megatron", "Megatron-LM: tensor, sequence, pipeline and data parallelism", &MakeMegatron},
      {"deepspeed", "DeepSpeed: ZeRO stages 1, 2 and 3, pipelines with stage 1", &MakeDeepSpeed},
      {"fsdp", "PyTorch FSDP 1 and 2 and HSDP, as torchtitan uses it", &MakeFsdp},
  };
  return choices;
}

std::unique_ptr<Framework> MakeFramework(const std::string& name) {
  for (const FrameworkChoice& choice : FrameworkChoices()) {
    if (name == choice.name) return choice.make();
  }
  CHECK_NOTE(false, "no framework is called " + name);
}

}  // namespace drydock
