// How the sections of model.yaml are read: one function a section, and what they share. Each
// reports all that is wrong with its section.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_SECTION_READERS_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_SECTION_READERS_H_

#include <string>
#include <vector>

#include "core/base/yaml.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

inline constexpr int64_t kMaxDimension = 1 << 24;  // keeps every product within int64

void ReadModelSection(const YamlNode& node, Diagnostics* diagnostics, ModelShape* model);
void ReadTrainingSection(const YamlNode& node, Diagnostics* diagnostics, TrainingRules* training);
void ReadParallelSection(const YamlNode& node, Diagnostics* diagnostics, ParallelRules* parallel);
void ReadOverlapSection(const YamlNode& node, Diagnostics* diagnostics, OverlapRules* overlap);

// All of them, out of a model.yaml's tree with its overrides applied. The name of the file names
// the model too.
Result<TrainingJob> TrainingJobFromTree(const YamlNode& root, const std::string& file_name);

// Rules between sections; the sections themselves are right.
void CheckSectionsTogether(const TrainingJob& job, Diagnostics* diagnostics);

// Reads a required or optional whole number and holds it to [low, high].
template <typename T>
void ReadCount(YamlReader* reader, const std::string& key, bool required, int64_t low, int64_t high,
               T* out) {
  if (required)
    reader->Read(key, out);
  else
    reader->ReadOptional(key, out);
  if (reader->Has(key)) reader->CheckRange(key, static_cast<int64_t>(*out), low, high);
}

template <typename Enum>
void ReadEnum(YamlReader* reader, const std::string& key, const std::vector<std::string>& names,
              bool required, Enum* out) {
  int index = static_cast<int>(*out);
  reader->ReadChoice(key, names, &index, required);
  *out = static_cast<Enum>(index);
}

// A choice between two names, of which the second means true.
void ReadEither(YamlReader* reader, const std::string& key, const std::string& no,
                const std::string& yes, bool* out);

// Reports each of `keys` that is given although `needed` is not.
void RefuseWithout(YamlReader* reader, const std::vector<std::string>& keys,
                   const std::string& needed);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_SECTION_READERS_H_
