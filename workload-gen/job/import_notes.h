// What was read in from another tool's file but has no place in model.yaml.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_IMPORT_NOTES_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_IMPORT_NOTES_H_

#include <string>
#include <vector>

namespace drydock {

struct ImportNotes {
  std::vector<std::string> ignored;     // known, and without bearing on what the GPUs do
  std::vector<std::string> unmodelled;  // known; would change it a little: "--x (what)"
  std::vector<std::string> unknown;     // never heard of
  std::vector<std::string> remarks;     // whole sentences

  void Append(const ImportNotes& other);
  // One line a kind, to be said on stderr.
  std::vector<std::string> Lines(const std::string& file_name) const;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_IMPORT_NOTES_H_
