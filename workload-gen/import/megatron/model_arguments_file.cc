#include "workload-gen/import/megatron/model_arguments_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/base/spelling.h"
#include "workload-gen/import/megatron/megatron_arguments.h"
#include "workload-gen/job/inference_scope.h"

namespace drydock {
namespace {

// Keys that tell how a test is run and judged (tests/functional_tests/shell_test_utils of
// Megatron-LM). MODEL_ARGS_2 is for a second run that resumes the first.
constexpr const char* kOfTests[] = {
    "TEST_TYPE",       "LAUNCHER",       "METRICS",         "MODE",
    "MODEL",           "BEFORE_SCRIPT",  "AFTER_SCRIPT",    "THROUGHPUT_TEST_PARAMS",
    "MODEL_ARGS_2",    "MODEL_ARGS_3",   "MODEL_ARGS_4",    "MODEL_ARGS_5",
    "BASE_MODEL_ARGS", "MODEL_ENV_VARS", "TEST_EVALUATION", "SKIP_PYTEST"};
constexpr const char* kScript = "TRAINING_SCRIPT_PATH";

class ModelArguments {
 public:
  ModelArguments(const std::map<std::string, std::string>& variables, ImportNotes* notes)
      : variables_(variables), notes_(*notes) {}

  Result<LaunchLine> Read(const YamlNode& root) {
    CheckKeys(root);
    if (const YamlNode* environment = root.Find("ENV_VARS")) ReadEnvironment(*environment);
    const YamlNode* arguments = root.Find("MODEL_ARGS");
    if (arguments->kind != YamlNode::Kind::kMap) {
      return arguments->ErrorHere("'MODEL_ARGS' must be a map of arguments: --num-layers: 24");
    }
    for (const auto& [name, value] : arguments->entries) Argument(name, value);
    RETURN_IF_ERROR(diagnostics_.ToStatus());
    const auto script = variables_.find(kScript);
    line_.script.text = script == variables_.end() ? "pretrain_gpt.py" : script->second;
    line_.script.location = arguments->location;
    if (script == variables_.end()) {
      notes_.remarks.push_back(fmt::format(
          "the file does not name the Python file: pretrain_gpt.py is taken; --variable {}=NAME "
          "names another, such as pretrain_bert.py",
          kScript));
    }
    return std::move(line_);
  }

 private:
  void CheckKeys(const YamlNode& root) {
    std::vector<std::string> names = {"MODEL_ARGS", "ENV_VARS"};
    names.insert(names.end(), std::begin(kOfTests), std::end(kOfTests));
    for (const auto& [key, value] : root.entries) {
      const bool known = std::find(names.begin(), names.end(), key.scalar) != names.end();
      if (!known) {
        diagnostics_.Add(
            key.ErrorHere(fmt::format("unknown key '{}'{}; valid keys are {}", key.scalar,
                                      DidYouMean(key.scalar, names), Join(names))));
      } else if (key.scalar == "MODE" && value.scalar.find("inference") != std::string::npos) {
        diagnostics_.Add(value.ErrorHere(kInferenceText));
      } else if (key.scalar != "ENV_VARS" && key.scalar != "MODEL_ARGS") {
        notes_.ignored.push_back(key.scalar);
      }
    }
  }

  ScriptWord WordAt(const YamlNode& node, const std::string& text) const {
    ScriptWord word;
    word.location = node.location;
    word.source_line = node.source_line;
    word.text = text;
    return word;
  }

  // Replaces ${NAME} and $NAME.
  ScriptWord Substituted(const YamlNode& node, const std::string& text) const {
    ScriptWord word = WordAt(node, "");
    for (size_t i = 0; i < text.size(); ++i) {
      const bool braces = text.compare(i, 2, "${") == 0;
      size_t end = i + (braces ? 2 : 1);
      const size_t begin = end;
      while (text[i] == '$' && end < text.size() && IsNamePart(text[end])) ++end;
      if (text[i] != '$' || end == begin || (braces && (end == text.size() || text[end] != '}'))) {
        word.text += text[i];
        continue;
      }
      const std::string name = text.substr(begin, end - begin);
      const auto given = variables_.find(name);
      if (given != variables_.end()) {
        word.text += given->second;
      } else if (word.unresolved.empty()) {
        word.unresolved = "$" + name;
        word.variable = name;
        word.known = word.text.size();
        word.why = "the file does not define it";
      }
      i = braces ? end : end - 1;
    }
    return word;
  }

  static bool IsNamePart(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  }

  void ReadEnvironment(const YamlNode& environment) {
    for (const auto& [name, value] : environment.entries) {
      const ScriptWord word = Substituted(value, value.scalar);
      if (name.scalar == "CUBLAS_WORKSPACE_CONFIG") line_.cublas_workspace = word;
      if (IsEngineSetting(name.scalar)) {
        line_.engine_settings[name.scalar] = word.unresolved.empty() ? word.text : "";
      }
      if (name.scalar.starts_with("NCCL_")) line_.nccl_settings.push_back(name.scalar);
    }
  }

  void Argument(const YamlNode& name, const YamlNode& value) {
    if (!name.scalar.starts_with("--")) {
      diagnostics_.Add(name.ErrorHere(fmt::format(
          "'{}' is not an argument of Megatron-LM: expected '--' before the name", name.scalar)));
      return;
    }
    const bool scalar = value.kind == YamlNode::Kind::kScalar;
    const ScriptWord one = Substituted(value, value.scalar);
    if (scalar && one.text == "false" && one.unresolved.empty()) return;
    line_.arguments.push_back(WordAt(name, name.scalar));
    const auto known = MegatronArguments().find(name.scalar);
    const bool several = known != MegatronArguments().end() && known->second.values == '+';
    const bool flag = known != MegatronArguments().end() && known->second.values == '0';
    if (value.kind == YamlNode::Kind::kList) {
      for (const YamlNode& item : value.items) AddWords(item, /*split=*/true);
    } else if (scalar && !(one.text == "true" && (flag || known == MegatronArguments().end() ||
                                                  one.unresolved.empty()))) {
      AddWords(value, several);
    }
  }

  void AddWords(const YamlNode& node, bool split) {
    if (!split) return line_.arguments.push_back(Substituted(node, node.scalar));
    std::string list = node.scalar;
    if (list.starts_with("[") && list.ends_with("]")) list = list.substr(1, list.size() - 2);
    std::istringstream words(list);
    for (std::string word; words >> word;) line_.arguments.push_back(Substituted(node, word));
  }

  const std::map<std::string, std::string>& variables_;
  ImportNotes& notes_;
  Diagnostics diagnostics_;
  LaunchLine line_;
};

}  // namespace

bool IsYamlName(const std::string& file_name) {
  return file_name.ends_with(".yaml") || file_name.ends_with(".yml");
}

Result<LaunchLine> ReadModelArguments(const YamlNode& root, const std::string& file_name,
                                      const std::map<std::string, std::string>& variables,
                                      ImportNotes* notes) {
  if (root.Find("MODEL_ARGS") == nullptr) {
    return Error(
        "neither 'MODEL_ARGS', which has arguments of Megatron-LM, nor 'model' with "
        "'trainer' or 'train', as a recipe of NeMo or Megatron-Bridge has them",
        {file_name, 0, 0});
  }
  return ModelArguments(variables, notes).Read(root);
}

}  // namespace drydock
