#include "workload-gen/import/job_source.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

#include "core/base/files.h"
#include "workload-gen/import/hf/hf_config.h"
#include "workload-gen/import/hf/hf_job.h"
#include "workload-gen/import/megatron/megatron_job.h"
#include "workload-gen/import/megatron/model_arguments_file.h"
#include "workload-gen/import/megatron/vocabulary_table.h"
#include "workload-gen/import/overlap_config.h"
#include "workload-gen/import/recipe/recipe.h"
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

// The keys of "section.key=value".
std::set<std::string> KeysOf(const std::vector<std::string>& overrides) {
  std::set<std::string> keys;
  for (const std::string& assignment : overrides) {
    keys.insert(assignment.substr(0, assignment.find('=')));
  }
  return keys;
}

// Adds how GEMMs overlap with communication, which a recipe states as a map. Without overlap, it
// has no effect.
Status AddOverlapOfRecipe(const YamlNode& recipe, bool strict, YamlNode* job, ImportNotes* notes) {
  const YamlNode* map = OverlapMapOf(recipe);
  if (map == nullptr) return OkStatus();
  for (auto& [name, section] : job->entries) {
    if (name.scalar != "overlap" || section.Find("tensor") == nullptr) continue;
    ASSIGN_OR_RETURN(const YamlNode keys, OverlapFromMap(*map, strict, notes));
    for (const auto& entry : keys.entries) {
      if (section.Find(entry.first.scalar) == nullptr) section.entries.push_back(entry);
    }
  }
  return OkStatus();
}

Result<YamlNode> ReadTree(const JobSource& source, const std::string& text,
                          const std::vector<std::string>& overrides, ImportNotes* notes) {
  if (!source.megatron_arguments) {
    ASSIGN_OR_RETURN(YamlNode root, ParseYaml(text, source.path));
    if (!IsHfConfig(root)) return root;
    return JobFromHfConfig(root, source.path, source.strict, notes);
  }
  ASSIGN_OR_RETURN(const auto variables, SplitVariables(source.variables));
  const ArgumentRules rules = {source.strict, source.ignore_unknown, KeysOf(overrides)};
  if (!IsYamlName(source.path)) {
    return MegatronJob(text, source.path, variables, rules, notes);
  }
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, source.path));
  if (!IsRecipe(root)) {
    ASSIGN_OR_RETURN(const LaunchLine line,
                     ReadModelArguments(root, source.path, variables, notes));
    return MegatronJob(line, source.path, rules, notes);
  }
  ASSIGN_OR_RETURN(const LaunchLine line,
                   ReadRecipe(root, source.path, variables, source.strict, notes));
  ASSIGN_OR_RETURN(YamlNode job, MegatronJob(line, source.path, rules, notes));
  RETURN_IF_ERROR(AddOverlapOfRecipe(root, source.strict, &job, notes));
  return job;
}

// Keys of the section training that one granularity of recomputation alone has.
struct RecomputeDetail {
  const char* key;
  const char* needs;
};
constexpr RecomputeDetail kRecomputeDetails[] = {
    {"recompute_method", "full"}, {"recompute_layers", "full"}, {"recompute_modules", "selective"}};

// A value of --set for the granularity replaces what the file says of another one.
void DropOtherRecompute(const std::vector<std::string>& overrides, YamlNode* root,
                        ImportNotes* notes) {
  constexpr std::string_view kGranularity = "training.recompute=";
  const std::set<std::string> set = KeysOf(overrides);
  std::string value;
  for (const std::string& assignment : overrides) {
    if (assignment.starts_with(kGranularity)) value = assignment.substr(kGranularity.size());
  }
  if (value.empty()) return;
  for (auto& [section, keys] : root->entries) {
    if (section.scalar != "training") continue;
    std::erase_if(keys.entries, [&](const auto& entry) {
      for (const RecomputeDetail& detail : kRecomputeDetails) {
        if (entry.first.scalar != detail.key || value == detail.needs) continue;
        if (set.contains(fmt::format("training.{}", detail.key))) return false;
        notes->remarks.push_back(
            fmt::format("{} is left out: it needs recompute: {}, and --set {}{}", detail.key,
                        detail.needs, kGranularity, value));
        return true;
      }
      return false;
    });
  }
}

}  // namespace

std::vector<std::string> ImportTables() { return {VocabulariesPath()}; }

Result<TrainingJob> LoadJob(const JobSource& source, const std::vector<std::string>& overrides,
                            ImportNotes* notes) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(source.path));
  ASSIGN_OR_RETURN(YamlNode root, ReadTree(source, text, overrides, notes));
  for (const std::string& assignment : overrides) {
    RETURN_IF_ERROR(ApplyOverride(assignment, &root));
    const std::string key = assignment.substr(0, assignment.find('='));
    std::erase_if(notes->assumed, [&key](const AssumedKey& each) { return each.key == key; });
  }
  DropOtherRecompute(overrides, &root, notes);
  RETURN_IF_ERROR(ExpandModelFrom(source.strict, &root, notes));
  RETURN_IF_ERROR(ExpandOverlapFrom(source.strict, &root, notes));
  return TrainingJobFromTree(root, source.path);
}

}  // namespace drydock
