#include "workload-gen/import/hf/hf_job.h"

#include <algorithm>
#include <vector>

#include "core/base/files.h"
#include "workload-gen/import/hf/hf_config.h"
#include "workload-gen/import/tree/job_tree.h"

namespace drydock {
namespace {

constexpr int64_t kAssumedSequence = 4096;

// Every row has its reason. The file says nothing of any of these keys.
std::vector<AssumedKey> TrainingDefaults(bool experts) {
  constexpr const char* kFits = "the fewest ranks whose memory fits this cluster";
  constexpr const char* kOverlaps =
      "what Megatron-LM advises (--overlap-grad-reduce, "
      "--overlap-param-gather)";
  std::vector<AssumedKey> list = {
      {"training.framework", "megatron", "the framework with the most layouts"},
      {"training.precision", "bf16", "as Llama 3 trains (Dubey et al. 2024, section 3.3)"},
      {"training.micro_batch", "1", "the smallest"},
      {"training.optimizer", "adam", "as Llama 2 trains (Touvron et al. 2023, section 2.2)"},
      {"training.distributed_optimizer", "true", "data-parallel ranks split its states"},
      {"training.recompute", "none", "full only where no layout fits the memory without it"},
      {"parallel.tensor", "1", kFits},
      {"parallel.sequence_parallel", "false", "on with tensor above 1"},
      {"parallel.pipeline", "1", kFits},
      {"overlap.grad_reduce", "true", kOverlaps},
      {"overlap.param_gather", "true", kOverlaps},
  };
  if (!experts) return list;
  list.push_back({"parallel.expert", "1", kFits});
  list.push_back({"parallel.expert_tensor", "1",
                  "experts are not split (DeepSeek-V3: DeepSeek-AI 2024, section 3.2)"});
  return list;
}

// The name of the model: what the file calls it, else the folder of a config.json, else the name of
// the file.
std::string NameOf(const YamlNode& root, const std::string& path) {
  const YamlNode* own = root.Find("_name_or_path");
  if (own != nullptr && own->kind == YamlNode::Kind::kScalar) {
    const std::string name = BaseName(own->scalar);
    if (!name.empty() && name != "." && name != "..") return name;
  }
  const std::string file = BaseName(path);
  if (file != "config.json") {
    const std::string stem = file.substr(0, file.rfind('.'));
    const size_t suffix = stem.size() > 7 ? stem.size() - 7 : std::string::npos;
    const bool named =
        suffix != std::string::npos && (stem.ends_with("_config") || stem.ends_with("-config"));
    return named ? stem.substr(0, suffix) : stem;
  }
  const std::string folder = BaseName(DirectoryOf(path));
  return folder.empty() || folder == "." || folder == ".." ? "config" : folder;
}

// The longest sequence that the model was made for; 0: the file does not say.
int64_t Positions(const YamlNode& config) {
  for (const char* name : {"max_position_embeddings", "n_positions", "seq_length"}) {
    const YamlNode* value = config.Find(name);
    if (value == nullptr) continue;
    const Result<int64_t> number = AsInteger(*value);
    if (number.ok() && *number > 0) return *number;
  }
  return 0;
}

}  // namespace

bool IsHfConfig(const YamlNode& root) {
  if (root.kind != YamlNode::Kind::kMap) return false;
  if (root.Find("model") != nullptr || root.Find("training") != nullptr) return false;
  return root.Find("model_type") != nullptr || root.Find("architectures") != nullptr;
}

Result<YamlNode> JobFromHfConfig(const YamlNode& root, const std::string& file_name, bool strict,
                                 ImportNotes* notes) {
  ASSIGN_OR_RETURN(const YamlNode model, ModelFromHfConfig(root, file_name, strict, notes));
  JobTree tree(file_name);
  for (const auto& [key, value] : model.entries) {
    tree.Set("model." + key.scalar, value.scalar, value.location, value.source_line);
  }
  tree.Set("model.name", NameOf(root, file_name));
  const int64_t positions = Positions(TextConfigOf(root));
  if (model.Find("sequence") == nullptr) {
    const bool shorter = positions > 0 && positions < kAssumedSequence;
    tree.Assume({"model.sequence", std::to_string(shorter ? positions : kAssumedSequence),
                 shorter ? "all positions of the model"
                         : "as Llama 2 trains (Touvron et al. 2023, table 1)"},
                notes);
  }
  for (const AssumedKey& each : TrainingDefaults(model.Find("experts") != nullptr)) {
    tree.Assume(each, notes);
  }
  const Result<int64_t> sequence = AsInteger(*tree.root().Find("model")->Find("sequence"));
  const int64_t tokens = sequence.ok() && *sequence > 0 ? *sequence : kAssumedSequence;
  tree.Assume(
      {"training.global_batch", std::to_string(std::max<int64_t>(1, kAssumedStepTokens / tokens)),
       "4 Mi tokens, as Llama 2 trains (Touvron et al. 2023, table 1), or a micro-batch for "
       "each pipeline stage if that is more"},
      notes);
  return tree.root();
}

}  // namespace drydock
