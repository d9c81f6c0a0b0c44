#include "workload-gen/job/job_reader.h"

#include <fmt/format.h>

#include "core/base/files.h"
#include "workload-gen/job/inference_scope.h"
#include "workload-gen/job/job_rules.h"

namespace drydock {
namespace {

// Records the place of each section and key in the file.
void RecordPlaces(const YamlNode& root, TrainingJob* job) {
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

// Some sections belong to one framework.
void CheckFrameworkOfSections(const YamlNode& root, FrameworkKind framework,
                              Diagnostics* diagnostics) {
  for (const Section& section : Sections()) {
    if (!section.framework.has_value()) continue;
    const YamlNode* node = root.Find(section.name);
    const bool matches = *section.framework == framework;
    if (node != nullptr && !matches) {
      diagnostics->Add(node->ErrorHere(
          fmt::format("section '{}' needs training.framework: {}, not {}", section.name,
                      FrameworkName(*section.framework), FrameworkName(framework))));
    }
    if (node == nullptr && matches && section.required) {
      diagnostics->Add(root.ErrorHere(fmt::format("framework {} needs the section '{}'",
                                                  FrameworkName(framework), section.name)));
    }
  }
}

}  // namespace

void ReadSection(const Section& section, const YamlNode& node, Diagnostics* diagnostics,
                 TrainingJob* job) {
  YamlReader reader(node, section.name, diagnostics);
  for (const Key& key : section.keys) {
    if (key.kind == nullptr) continue;
    if (key.set_default != nullptr) key.set_default(job);
    const bool required = key.required && MeetsRequirements(key, section, *job);
    key.kind->Read(key.name, required, {&reader, diagnostics}, job);
  }
  for (const Key& key : section.keys) {
    if (!reader.Has(key.name)) continue;
    if (!MeetsRequirements(key, section, *job)) {
      reader.Fail(key.name, fmt::format("'{}' needs {}", key.name, key.needs));
    }
    if (IsElsewhere(key, *job)) {
      reader.Fail(key.name, fmt::format("'{}' is not of framework {}; write {} in its place: {}",
                                        key.name, FrameworkName(job->training.framework),
                                        key.elsewhere, FindKey(key.elsewhere)->kind->Values()));
    }
    if (IsExcluded(key, section, *job)) {
      reader.Fail(key.name, fmt::format("'{}' excludes {}", key.name, key.excludes));
    }
  }
  if (section.check != nullptr) section.check(&reader, job);
  reader.Finish();
}

Result<TrainingJob> TrainingJobFromTree(const YamlNode& root, const std::string& file_name) {
  RETURN_IF_ERROR(RejectInference(root));
  TrainingJob job;
  job.file_name = file_name;
  job.yaml = ToYaml(root);
  job.model.name = NameOf(file_name);
  RecordPlaces(root, &job);
  Diagnostics diagnostics;
  YamlReader top(root, "model.yaml", &diagnostics);
  std::vector<const YamlNode*> nodes;
  for (const Section& section : Sections()) {
    nodes.push_back(top.Take(section.name, section.required && !section.framework.has_value()));
  }
  top.Finish();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] != nullptr) ReadSection(Sections()[i], *nodes[i], &diagnostics, &job);
  }
  if (diagnostics.ok()) CheckSectionsTogether(job, &diagnostics);
  if (diagnostics.ok()) CheckFrameworkOfSections(root, job.training.framework, &diagnostics);
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return job;
}

}  // namespace drydock
