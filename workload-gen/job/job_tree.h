// Builds the tree that a model.yaml would parse to, out of another tool's file: each value keeps
// the place it came from, so that whatever is found wrong with it later is reported there.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_JOB_TREE_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_JOB_TREE_H_

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/yaml.h"

namespace drydock {

class JobTree {
 public:
  explicit JobTree(std::string file_name);

  // `key`: "model.layers". The later of two values counts. Without a place: the file as a whole.
  void Set(const std::string& key, const std::string& value, const Location& location = {},
           const std::string& source_line = {});
  void SetList(const std::string& key, const std::vector<std::string>& values,
               const Location& location, const std::string& source_line);
  void Unset(const std::string& key);

  const YamlNode& root() const { return root_; }

 private:
  YamlNode* Slot(const std::string& key, const Location& location, const std::string& source_line);
  YamlNode Scalar(const std::string& text, const Location& location,
                  const std::string& source_line) const;

  Location file_;
  YamlNode root_;
};

// The path that a value gives, relative to the file it stands in; with --set, to where we are.
std::string PathFrom(const YamlNode& from);

// Reads the file that `section`'s key `from` names, if there is one, with `read` (its text, its
// path). What the section says itself counts more than what `read` gives.
Status ExpandFrom(
    const std::string& section,
    const std::function<Result<YamlNode>(const std::string&, const std::string&)>& read,
    YamlNode* root);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_JOB_TREE_H_
