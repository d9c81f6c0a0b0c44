#include "workload-gen/import/job_source.h"

#include <fmt/format.h>

#include <map>

#include "core/base/files.h"
#include "workload-gen/import/hf/hf_config.h"
#include "workload-gen/import/hf/hf_job.h"
#include "workload-gen/import/megatron/megatron_job.h"
#include "workload-gen/import/overlap_config.h"
#include "workload-gen/job/job_reader.h"

namespace drydock {
namespace {

Result<std::map<std::string, std::string>> SplitVariables(const std::vector<std::string>& list) {
  std::map<std::string, std::string> variables;
  for (const std::string& assignment : list) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error(fmt::format("--variable {}: expected NAME=VALUE", assignment));
    }
    variables[assignment.substr(0, equals)] = assignment.substr(equals + 1);
  }
  return variables;
}

Result<YamlNode> ReadTree(const JobSource& source, const std::string& text, ImportNotes* notes) {
  if (!source.megatron_arguments) {
    ASSIGN_OR_RETURN(YamlNode root, ParseYaml(text, source.path));
    if (!IsHfConfig(root)) return root;
    return JobFromHfConfig(root, source.path, source.strict, notes);
  }
  ASSIGN_OR_RETURN(const auto variables, SplitVariables(source.variables));
  return MegatronJob(text, source.path, variables, {source.strict, source.ignore_unknown}, notes);
}

}  // namespace

Result<TrainingJob> LoadJob(const JobSource& source, const std::vector<std::string>& overrides,
                            ImportNotes* notes) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(source.path));
  ASSIGN_OR_RETURN(YamlNode root, ReadTree(source, text, notes));
  for (const std::string& assignment : overrides) {
    RETURN_IF_ERROR(ApplyOverride(assignment, &root));
    const std::string key = assignment.substr(0, assignment.find('='));
    std::erase_if(notes->assumed, [&key](const AssumedKey& each) { return each.key == key; });
  }
  RETURN_IF_ERROR(ExpandModelFrom(source.strict, &root, notes));
  RETURN_IF_ERROR(ExpandOverlapFrom(source.strict, &root, notes));
  return TrainingJobFromTree(root, source.path);
}

}  // namespace drydock
