// A study file: a sweep as YAML.
//
//   model: llama-3-70b
//   cluster: dgx-h100-8
//   over:
//     parallel.tensor: [1, 2, 4, 8]
//     cluster.hosts: 8..64*2
//   constraints: [tensor * hosts <= 64]
//
// docs/reference/study-file.md has all keys.
#ifndef DRYDOCK_STUDY_AXES_STUDY_FILE_H_
#define DRYDOCK_STUDY_AXES_STUDY_FILE_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "study/axes/axis.h"

namespace drydock {

struct StudyFile {
  std::string model, cluster;  // files, or names of shipped ones
  std::string network;         // "": not stated
  std::vector<Axis> axes;
  std::vector<std::vector<std::string>> zip;
  std::vector<std::string> constraints;
  std::vector<std::string> set;  // "training.recompute=full"
  std::vector<std::string> metrics;
  std::vector<std::string> gpu_profiles;
};

// Relative paths are relative to the study file. Reports all mistakes together.
Result<StudyFile> LoadStudy(const std::string& path);
Result<StudyFile> ParseStudy(const std::string& text, const std::string& file_name);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_AXES_STUDY_FILE_H_
