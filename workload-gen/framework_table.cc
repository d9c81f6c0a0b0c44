#include "core/base/check.h"
#include "workload-gen/framework/framework.h"
#include "workload-gen/megatron/megatron.h"
#include "workload-gen/sharded/deepspeed.h"
#include "workload-gen/sharded/fsdp.h"

namespace drydock {

std::unique_ptr<Framework> MakeFramework(FrameworkKind kind) {
  switch (kind) {
    case FrameworkKind::kMegatron:
      return MakeMegatron();
    case FrameworkKind::kDeepSpeed:
      return MakeDeepSpeed();
    case FrameworkKind::kFsdp:
      return MakeFsdp();
  }
  CHECK_NOTE(false, "no such framework");
}

}  // namespace drydock
