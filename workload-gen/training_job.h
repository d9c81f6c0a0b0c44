// A training run as model.yaml states it (docs/models.md): the model's shape, how it is trained,
// how it is spread over ranks, what overlaps. Nothing here depends on a cluster.
//
// Plain data with the places its values came from, so that what is found wrong later (a layout
// that does not fit the cluster) is still reported at its line. Immutable once read.
#ifndef DRYDOCK_WORKLOAD_GEN_TRAINING_JOB_H_
#define DRYDOCK_WORKLOAD_GEN_TRAINING_JOB_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/yaml.h"
#include "core/model/gpu.h"
#include "core/model/workload.h"

namespace drydock {

struct ModelShape {
  std::string name;  // file name without suffix, unless given
  int layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t ffn = 0;
  int64_t vocab = 0;
  int64_t vocab_multiple = 128;  // padded to a multiple of this times `tensor`
  int64_t sequence = 0;
  int64_t max_positions = 0;      // rows of the learned position table
  bool learned_positions = true;  // else rotary
  bool gated = false;             // swiglu, else gelu
  bool rms_norm = false;
  bool tied_embedding = true;
  bool bias = true;      // of every linear layer
  bool qkv_bias = true;  // of the query/key/value projection
  double dropout = 0;    // of embedding and residual branches
  double attention_dropout = 0;

  int64_t query_width() const { return heads * head_dim; }
  int64_t kv_width() const { return kv_heads * head_dim; }
};

enum class Recompute : uint8_t { kNone, kSelective, kFull };
enum class RecomputeMethod : uint8_t { kUniform, kBlock };
enum class CrossEntropyFusion : uint8_t { kNone, kNative, kTransformerEngine };

struct TrainingRules {
  std::string framework;
  DataType precision = DataType::kBf16;
  int64_t micro_batch = 0;
  int64_t global_batch = 0;
  Recompute recompute = Recompute::kNone;
  RecomputeMethod recompute_method = RecomputeMethod::kUniform;
  int recompute_layers = 1;
  bool distributed_optimizer = false;
  DataType gradient_type = DataType::kFp32;
  bool fused_kernels = true;
  bool gradient_accumulation_fusion = true;
  bool gradient_clipping = true;
  CrossEntropyFusion cross_entropy_fusion = CrossEntropyFusion::kNone;
  bool causal_flops_halved = true;
  // What changed between versions of the framework.
  bool batch_p2p_sync = true;
  bool scatter_gather_p2p = false;
  bool check_gradients = true;
  bool step_checks = true;
  int64_t bucket_elements = 0;                       // 0 = the framework's rule
  BufferKind gradient_buffers = BufferKind::kPlain;  // of gradient buckets and parameters
};

enum class RankOrder : uint8_t {
  kTensorContextExpertDataPipeline,
  kTensorContextExpertPipelineData
};
const std::vector<std::string>& RankOrderNames();  // "tp-cp-ep-dp-pp", ...

struct ParallelRules {
  int tensor = 1;
  bool sequence_parallel = false;
  int pipeline = 1;
  int virtual_pipeline = 1;
  int context = 1;
  int expert = 1;
  int data = 0;  // 0 = auto: what the cluster leaves
  RankOrder order = RankOrder::kTensorContextExpertDataPipeline;
};

struct OverlapRules {
  bool grad_reduce = false;
  bool param_gather = false;
  bool p2p = false;  // takes effect with virtual stages only
  bool p2p_wait_send = true;
  bool tensor_backward = true;
};

struct TrainingJob {
  ModelShape model;
  TrainingRules training;
  ParallelRules parallel;
  OverlapRules overlap;

  // An error at the place of "section.key" (of the section, if the key was left out).
  Error ErrorAt(const std::string& key, const std::string& message) const;

  std::string file_name;
  std::string yaml;  // as read, overrides applied
  std::map<std::string, Diagnostic> places;
};

// `overrides`: "section.key=value" of the sections above. Reports everything wrong at once.
Result<TrainingJob> LoadTrainingJob(const std::string& path,
                                    const std::vector<std::string>& overrides);
Result<TrainingJob> ParseTrainingJob(const std::string& text, const std::string& file_name,
                                     const std::vector<std::string>& overrides);

// True if the --set assignment names a section of model.yaml.
bool IsTrainingOverride(const std::string& assignment);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_TRAINING_JOB_H_
