#include "workload-gen/job/training_job.h"

#include <array>

#include "core/base/files.h"
#include "workload-gen/job/inference_scope.h"
#include "workload-gen/job/section_readers.h"

namespace drydock {
namespace {

constexpr std::array<const char*, 7> kSections = {"model", "training", "parallel", "overlap",
                                                  "fsdp",  "zero",     "memory"};

// Remembers where every section and key stands.
void RememberPlaces(const YamlNode& root, TrainingJob* job) {
  for (const auto& [section, content] : root.entries) {
    job->places[section.scalar] = {"", section.location, section.source_line};
    for (const auto& [key, value] : content.entries) {
      job->places[section.scalar + "." + key.scalar] = {"", value.location, value.source_line};
    }
  }
}

std::string NameOf(const std::string& path) {
  const std::string base = BaseName(path);
  return base.substr(0, base.rfind('.'));
}

}  // namespace

const std::vector<std::string>& MoeDispatcherNames() {
  static const std::vector<std::string> names = {"alltoall", "allgather", "flex"};
  return names;
}

const std::vector<std::string>& RecomputeModuleNames() {
  static const std::vector<std::string> names = {"core_attn", "layernorm",      "moe_act",    "mlp",
                                                 "moe",       "shared_experts", "mla_up_proj"};
  return names;
}

const std::vector<std::string>& ScatterFormNames() {
  static const std::vector<std::string> names = {"pipelined", "ring"};
  return names;
}

const std::vector<std::string>& ContextTypeNames() {
  static const std::vector<std::string> names = {"p2p", "a2a", "allgather"};
  return names;
}

const std::vector<std::string>& RankOrderNames() {
  static const std::vector<std::string> names = {"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"};
  return names;
}

Error TrainingJob::ErrorAt(const std::string& key, const std::string& message) const {
  auto place = places.find(key);
  if (place == places.end()) place = places.find(key.substr(0, key.find('.')));
  if (place == places.end()) return Error(message, {file_name, 0, 0});
  return Error(message, place->second.location, place->second.source_line);
}

Result<TrainingJob> TrainingJobFromTree(const YamlNode& root, const std::string& file_name) {
  RETURN_IF_ERROR(CheckAsksForTraining(root));
  TrainingJob job;
  job.file_name = file_name;
  job.yaml = ToYaml(root);
  job.model.name = NameOf(file_name);
  RememberPlaces(root, &job);
  Diagnostics diagnostics;
  YamlReader top(root, "model.yaml", &diagnostics);
  const YamlNode* nodes[kSections.size()] = {};
  for (size_t i = 0; i < kSections.size(); ++i) {
    nodes[i] = top.Take(kSections[i], /*required=*/i < 3);
  }
  top.Finish();
  if (nodes[0] != nullptr) ReadModelSection(*nodes[0], &diagnostics, &job.model);
  if (nodes[1] != nullptr) ReadTrainingSection(*nodes[1], &diagnostics, &job.training);
  if (nodes[2] != nullptr) ReadParallelSection(*nodes[2], &diagnostics, &job.parallel);
  if (nodes[3] != nullptr) ReadOverlapSection(*nodes[3], &diagnostics, &job.overlap);
  if (nodes[4] != nullptr) ReadFsdp(*nodes[4], &diagnostics, &job.fsdp);
  if (nodes[5] != nullptr) ReadZero(*nodes[5], &diagnostics, &job.zero);
  if (nodes[6] != nullptr) ReadMemory(*nodes[6], &diagnostics, &job.memory);
  if (diagnostics.ok()) CheckSectionsTogether(job, &diagnostics);
  if (diagnostics.ok()) CheckShardingSections(root, job.training.framework, &diagnostics);
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return job;
}

Result<TrainingJob> ParseTrainingJob(const std::string& text, const std::string& file_name,
                                     const std::vector<std::string>& overrides) {
  ASSIGN_OR_RETURN(YamlNode root, ParseYaml(text, file_name));
  for (const std::string& assignment : overrides) {
    RETURN_IF_ERROR(ApplyOverride(assignment, &root));
  }
  return TrainingJobFromTree(root, file_name);
}

Result<TrainingJob> LoadTrainingJob(const std::string& path,
                                    const std::vector<std::string>& overrides) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseTrainingJob(text, path, overrides);
}

bool IsTrainingOverride(const std::string& assignment) {
  for (const char* section : kSections) {
    if (assignment.starts_with(std::string(section) + ".")) return true;
  }
  return false;
}

}  // namespace drydock
