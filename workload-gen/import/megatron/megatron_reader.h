// The arguments of a Megatron-LM command line, and the model.yaml that is made of them.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_READER_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_READER_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workload-gen/import/megatron/megatron_arguments.h"
#include "workload-gen/import/tree/job_tree.h"

namespace drydock {

class MegatronReader {
 public:
  MegatronReader(std::string file_name, GivenArguments given, Diagnostics* diagnostics)
      : tree(file_name),
        file_name_(std::move(file_name)),
        given_(std::move(given)),
        diagnostics_(*diagnostics) {}

  bool Has(const std::string& argument) const { return given_.contains(argument); }
  const std::vector<ScriptWord>& Values(const std::string& argument) const {
    return given_.at(argument).values;
  }
  // Of its value, or of the argument itself if it has none.
  const ScriptWord& Place(const std::string& argument) const;
  std::string Text(const std::string& argument, const std::string& otherwise = "") const;
  // The number it is given; nothing where it is not given or is none, which is found out later.
  std::optional<int64_t> Number(const std::string& argument) const;

  // A value of model.yaml, at the place of `argument` where that is given.
  void Set(const std::string& key, const std::string& value, const std::string& argument = "");
  // What `argument` chooses among `choices`, each with what it means in model.yaml.
  void Choose(const std::string& argument, const std::string& key,
              const std::vector<std::pair<std::string, std::string>>& choices);

  void Fail(const std::string& argument, const std::string& message);
  void FailAt(const ScriptWord& word, const std::string& message);
  void Lacks(const std::string& argument, const std::string& hint = "");

  JobTree tree;

 private:
  const std::string file_name_;
  const GivenArguments given_;
  Diagnostics& diagnostics_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_READER_H_
