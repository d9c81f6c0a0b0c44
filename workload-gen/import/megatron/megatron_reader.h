// The arguments of a Megatron-LM command line, and the tree of the model.yaml that they make.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_READER_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_READER_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "workload-gen/import/megatron/megatron_arguments.h"
#include "workload-gen/import/tree/job_tree.h"

namespace drydock {

class MegatronReader {
 public:
  // `set_keys`: keys of model.yaml that --set gives, whatever the arguments say.
  // `spellings`: how the file spells arguments, in messages.
  MegatronReader(std::string file_name, GivenArguments given, std::set<std::string> set_keys,
                 std::map<std::string, std::string> spellings, Diagnostics* diagnostics)
      : tree(file_name),
        file_name_(std::move(file_name)),
        given_(std::move(given)),
        set_keys_(std::move(set_keys)),
        spellings_(std::move(spellings)),
        diagnostics_(*diagnostics) {}

  bool Has(const std::string& argument) const { return given_.contains(argument); }
  const std::vector<ScriptWord>& Values(const std::string& argument) const {
    return given_.at(argument).values;
  }
  // The place of the argument's value; of the argument itself if it has no value.
  const ScriptWord& Place(const std::string& argument) const;
  std::string Text(const std::string& argument, const std::string& otherwise = "") const;
  // Returns the value as a number; nothing if the argument is absent or its value is not a valid
  // number, which the reader of model.yaml reports.
  std::optional<int64_t> Number(const std::string& argument) const;

  // Returns whether a number with a fraction is above 0. Reports a text that is no number.
  bool IsPositive(const ScriptWord& number);

  // Sets a key of model.yaml. The value has the place of `argument` if the argument is given.
  void Set(const std::string& key, const std::string& value, const std::string& argument = "");
  // Sets `key` by the value of `argument`: `choices` has pairs of a value and its value in
  // model.yaml. Reports a value that is not among them.
  void Choose(const std::string& argument, const std::string& key,
              const std::vector<std::pair<std::string, std::string>>& choices);

  void Report(const Error& error) { diagnostics_.Add(error); }
  void Fail(const std::string& argument, const std::string& message);
  void FailAt(const ScriptWord& word, const std::string& message);
  // Reports that `argument` is not given, unless --set gives `key`, which it stands for.
  void ReportMissing(const std::string& argument, const std::string& key,
                     const std::string& hint = "");
  bool IsSet(const std::string& key) const { return set_keys_.contains(key); }

  JobTree tree;

 private:
  const std::string file_name_;
  const GivenArguments given_;
  const std::set<std::string> set_keys_;
  const std::map<std::string, std::string> spellings_;
  Diagnostics& diagnostics_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_READER_H_
