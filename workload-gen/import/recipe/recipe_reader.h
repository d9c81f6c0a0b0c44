// Walks through a recipe by its table of keys, and collects arguments of Megatron-LM.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_RECIPE_RECIPE_READER_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_RECIPE_RECIPE_READER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/yaml.h"
#include "workload-gen/import/recipe/recipe_table.h"
#include "workload-gen/import/recipe/recipe_values.h"
#include "workload-gen/import/tree/import_notes.h"

namespace drydock {

class RecipeReader {
 public:
  // All of these outlive this object.
  RecipeReader(const YamlNode& root, const std::vector<RecipeKey>& table, bool strict,
               const std::map<std::string, std::string>& variables, ImportNotes* notes,
               Diagnostics* diagnostics);

  // Reads every key of the file that the table has no computation for. Reports unknown keys.
  void ReadAll();

  // Returns whether the key is in the file and not null.
  bool Has(const std::string& path) const;
  // Returns the value as text, `otherwise` if it is absent or null. Reports one that is not known.
  std::string Text(const std::string& path, const std::string& otherwise = "");
  // Returns a list as "a,b".
  std::string List(const std::string& path) const;
  // Returns whether the value is true. Reports one that is no truth value.
  bool IsTrue(const std::string& path, bool otherwise = false);
  // Adds an argument, at the place of `path`. The words of a list are its values.
  void Add(const std::string& argument, const std::string& path);
  void Add(const std::string& argument, const std::string& value, const std::string& path);
  void AddValue(const std::string& argument, const std::string& path);
  void Fail(const std::string& path, const std::string& message);
  // Reports two keys that state the same thing with different values.
  void CheckSame(const std::string& path, const std::string& other);
  // "'model.fp8' (line 3) has no effect"
  void Remark(const std::string& path, const std::string& text);
  void NoteIgnored(const std::string& path) { notes_.ignored.push_back(path); }
  void NoteUnmodeled(const std::string& path, const std::string& text);

  std::vector<ScriptWord> TakeWords() { return std::move(words_); }

 private:
  void Walk(const std::string& path, const YamlNode& map);
  void ReadKey(const std::string& path, const YamlNode& name, const YamlNode& value);
  void ReadRow(const RecipeKey& row, const std::string& path, const YamlNode& value);
  bool ReadArgument(const std::string& path, const YamlNode& value);
  void ReportUnknown(const std::string& path, const YamlNode& name);
  const RecipeKey* Row(const std::string& path) const;
  ScriptWord Place(const std::string& path) const;

  const YamlNode& root_;
  const bool strict_;
  RecipeValues values_;
  ImportNotes& notes_;
  Diagnostics& diagnostics_;
  std::map<std::string, const RecipeKey*> rows_;
  std::vector<ScriptWord> words_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_RECIPE_RECIPE_READER_H_
