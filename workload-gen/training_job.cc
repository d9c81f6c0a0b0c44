#include "workload-gen/training_job.h"

#include <fmt/format.h>

#include <array>

#include "core/base/files.h"
#include "workload-gen/framework.h"

namespace drydock {
namespace {

constexpr int64_t kMaxDimension = 1 << 24;  // keeps every product within int64
constexpr std::array<const char*, 4> kSections = {"model", "training", "parallel", "overlap"};

using Reader = YamlReader;

// Reads a required or optional whole number and holds it to [low, high].
template <typename T>
void ReadCount(Reader* reader, const std::string& key, bool required, int64_t low, int64_t high,
               T* out) {
  if (required)
    reader->Read(key, out);
  else
    reader->ReadOptional(key, out);
  if (reader->Has(key)) reader->CheckRange(key, static_cast<int64_t>(*out), low, high);
}

template <typename Enum>
void ReadEnum(Reader* reader, const std::string& key, const std::vector<std::string>& names,
              bool required, Enum* out) {
  int index = static_cast<int>(*out);
  reader->ReadChoice(key, names, &index, required);
  *out = static_cast<Enum>(index);
}

// A choice between two names, of which the second means true.
void ReadEither(Reader* reader, const std::string& key, const std::string& no,
                const std::string& yes, bool* out) {
  int index = *out ? 1 : 0;
  reader->ReadChoice(key, {no, yes}, &index, /*required=*/false);
  *out = index == 1;
}

void ReadProbability(Reader* reader, const std::string& key, double* out) {
  reader->ReadOptional(key, out);
  if (*out < 0 || *out >= 1) {
    reader->Fail(key, fmt::format("'{}' is {}; it must be at least 0 and below 1", key, *out));
  }
}

// The family fills in what its members have in common; every key can still say otherwise.
void ReadFamily(Reader* reader, ModelShape* model) {
  int family = 0;
  reader->ReadChoice("architecture", {"gpt", "llama"}, &family, /*required=*/true);
  if (family == 0) return;
  model->learned_positions = false;
  model->gated = true;
  model->rms_norm = true;
  model->tied_embedding = false;
  model->bias = false;
}

void ReadHeads(Reader* reader, ModelShape* model) {
  ReadCount(reader, "heads", true, 1, 1 << 16, &model->heads);
  model->kv_heads = model->heads;
  ReadCount(reader, "kv_heads", false, 1, 1 << 16, &model->kv_heads);
  if (model->heads > 0 && model->kv_heads > 0 && model->heads % model->kv_heads != 0) {
    reader->Fail("kv_heads", fmt::format("heads {} is not divisible by kv_heads {}", model->heads,
                                         model->kv_heads));
  }
  if (reader->Has("head_dim")) {
    ReadCount(reader, "head_dim", false, 1, 1 << 16, &model->head_dim);
  } else {
    const YamlNode* absent = reader->Take("head_dim", false);
    if (absent == nullptr && model->heads > 0 && model->hidden % model->heads != 0) {
      reader->Fail("heads", fmt::format("hidden {} is not divisible by heads {}; give head_dim",
                                        model->hidden, model->heads));
    }
    if (model->heads > 0) model->head_dim = model->hidden / model->heads;
  }
}

void ReadModel(const YamlNode& node, Diagnostics* diagnostics, ModelShape* model) {
  Reader reader(node, "model", diagnostics);
  ReadFamily(&reader, model);
  reader.ReadOptional("name", &model->name);
  ReadCount(&reader, "layers", true, 1, 10000, &model->layers);
  ReadCount(&reader, "hidden", true, 1, kMaxDimension, &model->hidden);
  ReadHeads(&reader, model);
  ReadCount(&reader, "vocab", true, 1, kMaxDimension, &model->vocab);
  ReadCount(&reader, "vocab_multiple", false, 1, kMaxDimension, &model->vocab_multiple);
  ReadCount(&reader, "sequence", true, 1, kMaxDimension, &model->sequence);
  ReadEither(&reader, "positions", "rotary", "learned", &model->learned_positions);
  ReadEither(&reader, "activation", "gelu", "swiglu", &model->gated);
  ReadEither(&reader, "norm", "layernorm", "rmsnorm", &model->rms_norm);
  model->ffn = 4 * model->hidden;
  ReadCount(&reader, "ffn", /*required=*/model->gated, 1, kMaxDimension, &model->ffn);
  model->max_positions = model->sequence;
  ReadCount(&reader, "max_positions", false, 1, kMaxDimension, &model->max_positions);
  if (model->learned_positions && model->max_positions < model->sequence) {
    reader.Fail("max_positions", fmt::format("max_positions {} is less than sequence {}",
                                             model->max_positions, model->sequence));
  }
  reader.ReadOptional("tied_embedding", &model->tied_embedding);
  reader.ReadOptional("bias", &model->bias);
  model->qkv_bias = model->bias;
  reader.ReadOptional("qkv_bias", &model->qkv_bias);
  ReadProbability(&reader, "dropout", &model->dropout);
  ReadProbability(&reader, "attention_dropout", &model->attention_dropout);
  reader.Finish();
}

void ReadRecompute(Reader* reader, TrainingRules* training) {
  ReadEnum(reader, "recompute", {"none", "selective", "full"}, true, &training->recompute);
  ReadEnum(reader, "recompute_method", {"uniform", "block"}, false, &training->recompute_method);
  ReadCount(reader, "recompute_layers", false, 1, 10000, &training->recompute_layers);
  for (const char* key : {"recompute_method", "recompute_layers"}) {
    if (reader->Has(key) && training->recompute != Recompute::kFull) {
      reader->Fail(key, fmt::format("'{}' needs recompute: full", key));
    }
  }
}

void ReadTraining(const YamlNode& node, Diagnostics* diagnostics, TrainingRules* training) {
  Reader reader(node, "training", diagnostics);
  int framework = 0;
  reader.ReadChoice("framework", FrameworkNames(), &framework, /*required=*/true);
  training->framework = FrameworkNames()[static_cast<size_t>(framework)];
  int precision = 0;
  reader.ReadChoice("precision", {"fp16", "bf16"}, &precision, /*required=*/true);
  training->precision = precision == 0 ? DataType::kFp16 : DataType::kBf16;
  ReadCount(&reader, "micro_batch", true, 1, 1 << 20, &training->micro_batch);
  ReadCount(&reader, "global_batch", true, 1, 1 << 24, &training->global_batch);
  ReadRecompute(&reader, training);
  int optimizer = 0;
  reader.ReadChoice("optimizer", {"adam"}, &optimizer, /*required=*/true);
  reader.ReadOptional("distributed_optimizer", &training->distributed_optimizer);
  int gradient = 0;
  reader.ReadChoice("gradient_type", {"fp32", "bf16"}, &gradient, /*required=*/false);
  training->gradient_type = gradient == 0 ? DataType::kFp32 : DataType::kBf16;
  ReadEither(&reader, "kernels", "unfused", "fused", &training->fused_kernels);
  reader.ReadOptional("gradient_accumulation_fusion", &training->gradient_accumulation_fusion);
  reader.ReadOptional("gradient_clipping", &training->gradient_clipping);
  ReadEnum(&reader, "cross_entropy_fusion", {"none", "native", "te"}, false,
           &training->cross_entropy_fusion);
  ReadEither(&reader, "causal_flops", "full", "half", &training->causal_flops_halved);
  reader.ReadOptional("batch_p2p_sync", &training->batch_p2p_sync);
  reader.ReadOptional("scatter_gather_p2p", &training->scatter_gather_p2p);
  reader.ReadOptional("check_gradients", &training->check_gradients);
  reader.ReadOptional("step_checks", &training->step_checks);
  ReadEnum(&reader, "gradient_buffers", BufferKindNames(), false, &training->gradient_buffers);
  ReadCount(&reader, "bucket_elements", false, 1, int64_t{1} << 40, &training->bucket_elements);
  reader.Finish();
}

void ReadOnlyOne(Reader* reader, const std::string& key, int* out) {
  ReadCount(reader, key, false, 1, 1 << 20, out);
  if (*out > 1) {
    reader->Fail(key, fmt::format("'{}' is {}; only 1 can be modelled", key, *out));
  }
}

void ReadData(Reader* reader, int* data) {
  const YamlNode* node = reader->Take("data", /*required=*/false);
  if (node == nullptr || (node->kind == YamlNode::Kind::kScalar && node->scalar == "auto")) return;
  ReadCount(reader, "data", false, 1, 1 << 24, data);
}

void ReadParallel(const YamlNode& node, Diagnostics* diagnostics, ParallelRules* parallel) {
  Reader reader(node, "parallel", diagnostics);
  ReadCount(&reader, "tensor", true, 1, 1 << 16, &parallel->tensor);
  reader.ReadOptional("sequence_parallel", &parallel->sequence_parallel);
  ReadCount(&reader, "pipeline", true, 1, 1 << 16, &parallel->pipeline);
  ReadCount(&reader, "virtual_pipeline", false, 1, 1 << 16, &parallel->virtual_pipeline);
  ReadOnlyOne(&reader, "context", &parallel->context);
  ReadOnlyOne(&reader, "expert", &parallel->expert);
  ReadData(&reader, &parallel->data);
  ReadEnum(&reader, "rank_order", RankOrderNames(), false, &parallel->order);
  if (parallel->sequence_parallel && parallel->tensor == 1) {
    reader.Fail("sequence_parallel", "sequence_parallel needs tensor > 1");
  }
  reader.Finish();
}

void ReadOverlap(const YamlNode& node, const TrainingRules& training, Diagnostics* diagnostics,
                 OverlapRules* overlap) {
  Reader reader(node, "overlap", diagnostics);
  reader.ReadOptional("grad_reduce", &overlap->grad_reduce);
  reader.ReadOptional("param_gather", &overlap->param_gather);
  reader.ReadOptional("p2p", &overlap->p2p);
  reader.ReadOptional("p2p_wait_send", &overlap->p2p_wait_send);
  reader.ReadOptional("tensor_backward", &overlap->tensor_backward);
  bool tensor = false;
  reader.ReadOptional("tensor", &tensor);
  if (tensor) {
    reader.Fail("tensor",
                "'tensor' is true; tensor-parallel communication split over a GEMM's tiles cannot "
                "be modelled");
  }
  if (overlap->param_gather && !(training.distributed_optimizer && overlap->grad_reduce)) {
    reader.Fail("param_gather",
                "param_gather needs training.distributed_optimizer and overlap.grad_reduce");
  }
  reader.Finish();
}

// Remembers where every section and key stands.
void RememberPlaces(const YamlNode& root, TrainingJob* job) {
  for (const auto& [section, content] : root.entries) {
    job->places[section.scalar] = {"", section.location, section.source_line};
    for (const auto& [key, value] : content.entries) {
      job->places[section.scalar + "." + key.scalar] = {"", value.location, value.source_line};
    }
  }
}

std::string NameOf(const std::string& path) {
  const std::string base = BaseName(path);
  return base.substr(0, base.rfind('.'));
}

Result<TrainingJob> FromTree(const YamlNode& root, const std::string& file_name) {
  TrainingJob job;
  job.file_name = file_name;
  job.yaml = ToYaml(root);
  job.model.name = NameOf(file_name);
  RememberPlaces(root, &job);
  Diagnostics diagnostics;
  Reader top(root, "model.yaml", &diagnostics);
  const YamlNode* nodes[kSections.size()] = {};
  for (size_t i = 0; i < kSections.size(); ++i) {
    nodes[i] = top.Take(kSections[i], /*required=*/i < 3);
  }
  top.Finish();
  if (nodes[0] != nullptr) ReadModel(*nodes[0], &diagnostics, &job.model);
  if (nodes[1] != nullptr) ReadTraining(*nodes[1], &diagnostics, &job.training);
  if (nodes[2] != nullptr) ReadParallel(*nodes[2], &diagnostics, &job.parallel);
  if (nodes[3] != nullptr) ReadOverlap(*nodes[3], job.training, &diagnostics, &job.overlap);
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return job;
}

}  // namespace

const std::vector<std::string>& RankOrderNames() {
  static const std::vector<std::string> names = {"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"};
  return names;
}

Error TrainingJob::ErrorAt(const std::string& key, const std::string& message) const {
  auto place = places.find(key);
  if (place == places.end()) place = places.find(key.substr(0, key.find('.')));
  if (place == places.end()) return Error(message, {file_name, 0, 0});
  return Error(message, place->second.location, place->second.source_line);
}

Result<TrainingJob> ParseTrainingJob(const std::string& text, const std::string& file_name,
                                     const std::vector<std::string>& overrides) {
  ASSIGN_OR_RETURN(YamlNode root, ParseYaml(text, file_name));
  for (const std::string& assignment : overrides) {
    RETURN_IF_ERROR(ApplyOverride(assignment, &root));
  }
  return FromTree(root, file_name);
}

Result<TrainingJob> LoadTrainingJob(const std::string& path,
                                    const std::vector<std::string>& overrides) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseTrainingJob(text, path, overrides);
}

bool IsTrainingOverride(const std::string& assignment) {
  for (const char* section : kSections) {
    if (assignment.starts_with(std::string(section) + ".")) return true;
  }
  return false;
}

}  // namespace drydock
