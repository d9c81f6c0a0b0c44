// Settings of another tool's file that model.yaml cannot express.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_TREE_IMPORT_NOTES_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_TREE_IMPORT_NOTES_H_

#include <string>
#include <vector>

namespace drydock {

struct ImportNotes {
  std::vector<std::string> ignored;    // known; no effect on what the GPUs do
  std::vector<std::string> unmodeled;  // known; a small effect: "--x (what it changes)"
  std::vector<std::string> unknown;
  std::vector<std::string> remarks;  // whole sentences

  void Append(const ImportNotes& other);
  // Returns one line per kind of note, for stderr.
  std::vector<std::string> Lines(const std::string& file_name) const;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_TREE_IMPORT_NOTES_H_
