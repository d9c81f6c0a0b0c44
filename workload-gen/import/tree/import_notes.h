// What the import of another tool's file left out, and what it assumed.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_TREE_IMPORT_NOTES_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_TREE_IMPORT_NOTES_H_

#include <string>
#include <vector>

namespace drydock {

// A key of model.yaml that the file says nothing of, and the value that stands in for it.
struct AssumedKey {
  std::string key;    // "model.sequence"
  std::string value;  // as model.yaml has it
  std::string source;
};

struct ImportNotes {
  std::vector<std::string> ignored;    // known; no effect on what the GPUs do
  std::vector<std::string> unmodeled;  // known; a small effect: "--x (what it changes)"
  std::vector<std::string> unknown;
  std::vector<std::string> remarks;  // whole sentences
  std::vector<AssumedKey> assumed;

  void Append(const ImportNotes& other);
  // Returns one line per kind of note, for stderr; AssumedLine has the line of the assumed keys, ""
  // if there are none.
  std::vector<std::string> Lines(const std::string& file_name) const;
  std::string AssumedLine(const std::string& file_name) const;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_TREE_IMPORT_NOTES_H_
