// Builds the tree of a model.yaml from another tool's file. Each value keeps its place in that
// file, so later errors point there.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_TREE_JOB_TREE_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_TREE_JOB_TREE_H_

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/yaml.h"
#include "workload-gen/import/tree/import_notes.h"

namespace drydock {

class JobTree {
 public:
  explicit JobTree(std::string file_name);

  // `key`: "model.layers". A later value replaces an earlier one. The default place is the file as
  // a whole.
  void Set(const std::string& key, const std::string& value, const Location& location = {},
           const std::string& source_line = {});
  void SetList(const std::string& key, const std::vector<std::string>& values,
               const Location& location, const std::string& source_line);
  void Unset(const std::string& key);
  // Sets a key that the file says nothing of, and notes that.
  void Assume(const AssumedKey& assumed, ImportNotes* notes);

  const YamlNode& root() const { return root_; }

 private:
  YamlNode* Slot(const std::string& key, const Location& location, const std::string& source_line);
  YamlNode Scalar(const std::string& text, const Location& location,
                  const std::string& source_line) const;

  Location file_;
  YamlNode root_;
};

// The path that a value names: relative to the file of the value, or with --set relative to the
// working directory.
std::string PathFrom(const YamlNode& from);

// If `section` has the key `from`, calls `read` with the text and path of the file that the key
// names, and adds the keys that `read` returns. Keys of the section itself take precedence.
Status ExpandFrom(
    const std::string& section,
    const std::function<Result<YamlNode>(const std::string&, const std::string&)>& read,
    YamlNode* root);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_TREE_JOB_TREE_H_
