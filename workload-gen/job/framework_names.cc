#include "workload-gen/job/framework_names.h"

namespace drydock {

const std::vector<std::string>& FrameworkNames() {
  static const std::vector<std::string> names = {"megatron", "deepspeed", "fsdp"};
  return names;
}

}  // namespace drydock
