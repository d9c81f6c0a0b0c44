#include "workload-gen/job_text.h"

#include <fmt/format.h>

#include "workload-gen/job/key.h"
#include "workload-gen/work/model_size.h"

namespace drydock {
namespace {

std::string SectionText(const Section& section, const TrainingJob& job) {
  std::string text = fmt::format("{}:\n", section.name);
  for (const Key& key : section.keys) {
    if (key.kind == nullptr || !MeetsRequirements(key, section, job)) continue;
    if (IsExcluded(key, section, job) || IsElsewhere(key, job)) continue;
    const std::string value = key.kind->Text(job);
    if (!value.empty()) text += fmt::format("  {}: {}\n", key.name, value);
  }
  return text;
}

}  // namespace

std::string JobText(const TrainingJob& job) {
  const int64_t all = ParameterCount(job.model), active = ActiveParameterCount(job.model);
  std::string text = fmt::format("# {} parameters", all);
  if (active != all) text += fmt::format(", of which a token uses {}", active);
  if (const int64_t trained = TrainedParameterCount(job.model); trained != all) {
    text += fmt::format(", {} of them trained", trained);
  }
  text += "\n";
  for (const Section& section : Sections()) {
    const bool applies =
        section.framework.value_or(job.training.framework) == job.training.framework;
    if (applies) text += SectionText(section, job);
  }
  return text;
}

}  // namespace drydock
