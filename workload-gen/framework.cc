#include "workload-gen/framework.h"

#include "core/base/check.h"
#include "workload-gen/megatron.h"

namespace drydock {

const std::vector<FrameworkChoice>& FrameworkChoices() {
  static const std::vector<FrameworkChoice> choices = {
      {"megatron", "Megatron-LM: tensor, sequence, pipeline and data parallelism", &MakeMegatron},
  };
  return choices;
}

const std::vector<std::string>& FrameworkNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const FrameworkChoice& choice : FrameworkChoices()) list.emplace_back(choice.name);
    return list;
  }();
  return names;
}

std::unique_ptr<Framework> MakeFramework(const std::string& name) {
  for (const FrameworkChoice& choice : FrameworkChoices()) {
    if (name == choice.name) return choice.make();
  }
  CHECK_NOTE(false, "no framework is called " + name);
}

}  // namespace drydock
