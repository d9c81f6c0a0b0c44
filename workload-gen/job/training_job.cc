#include "workload-gen/job/training_job.h"

#include "core/base/files.h"
#include "workload-gen/job/job_reader.h"
#include "workload-gen/job/key.h"

namespace drydock {

const std::vector<std::string>& FrameworkNames() {
  static const std::vector<std::string> names = {"megatron", "deepspeed", "fsdp"};
  return names;
}

const std::string& FrameworkName(FrameworkKind kind) {
  return FrameworkNames()[static_cast<size_t>(kind)];
}

DataType PrecisionRules::products() const {
  if (nvfp4) return DataType::kNvfp4;
  if (!fp8) return type;
  if (recipe == Fp8Recipe::kBlockwise) return DataType::kFp8Block;
  return recipe == Fp8Recipe::kMxfp8 ? DataType::kMxfp8 : DataType::kFp8;
}

Error TrainingJob::ErrorAt(const std::string& key, const std::string& message) const {
  auto place = places.find(key);
  if (place == places.end()) place = places.find(key.substr(0, key.find('.')));
  if (place == places.end()) return Error(message, {file_name, 0, 0});
  return Error(message, place->second.location, place->second.source_line);
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
  for (const Section& section : Sections()) {
    if (assignment.starts_with(section.name + ".")) return true;
  }
  return false;
}

}  // namespace drydock
