// The values of a recipe in the form of OmegaConf: ${model.hidden_size}, ${.name} for a neighbor,
// ${multiply:4, ${.hidden_size}}.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_RECIPE_RECIPE_VALUES_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_RECIPE_RECIPE_VALUES_H_

#include <map>
#include <string>
#include <vector>

#include "core/base/yaml.h"
#include "workload-gen/import/shell/launch_script.h"

namespace drydock {

class RecipeValues {
 public:
  // `variables`: values that the user gives to names that the file does not define, such as
  // ${data_dir}. Both outlive this object.
  RecipeValues(const YamlNode& root, const std::map<std::string, std::string>& variables)
      : root_(root), variables_(variables) {}

  // Returns the node at "model.hidden_size"; null if there is none.
  const YamlNode* Find(const std::string& path) const;
  // Returns the value at `path`, whose node is `node`, with its place. A part that is not known is
  // `unresolved`. Understood: references, and multiply, sum, divide, divide_floor and divide_ceil
  // of whole numbers.
  ScriptWord Value(const std::string& path, const YamlNode& node) const;

 private:
  // Replaces the references in `text`, which stands at `path`; sets the unknown part of `word`.
  std::string Resolve(const std::string& text, const std::string& path, int depth,
                      ScriptWord* word) const;
  std::string Reference(const std::string& inside, const std::string& path, int depth,
                        ScriptWord* word) const;
  std::string Computed(const std::string& function, const std::string& arguments,
                       const std::string& path, int depth, ScriptWord* word) const;

  const YamlNode& root_;
  const std::map<std::string, std::string>& variables_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_RECIPE_RECIPE_VALUES_H_
