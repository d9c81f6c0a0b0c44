#include "workload-gen/work/model_size.h"

#include <algorithm>
#include <vector>

#include "workload-gen/layout/layer_split.h"

namespace drydock {
namespace {

int64_t NormElements(const ModelShape& m, int64_t width) { return m.rms_norm ? width : 2 * width; }

int64_t GateFactor(const ModelShape& m) { return m.mlp.gated() ? 2 : 1; }

// The weights of one MLP of this width, and of one expert.
int64_t MlpWeights(const ModelShape& m, int64_t ffn) {
  return m.hidden * (GateFactor(m) + 1) * ffn;
}
int64_t MlpBiases(const ModelShape& m, int64_t ffn) {
  return m.bias ? GateFactor(m) * ffn + m.hidden : 0;
}
int64_t ExpertWeights(const ModelShape& m) {
  return m.expert_width() * (GateFactor(m) + 1) * m.moe.ffn;
}
int64_t ExpertBiases(const ModelShape& m) {
  return m.bias ? GateFactor(m) * m.moe.ffn + m.expert_width() : 0;
}
int64_t LatentExpertWeights(const ModelShape& m) { return 2 * m.hidden * m.moe.latent; }

// The weights of the projections out of the latent width.
int64_t UpProjectionWeights(const ModelShape& m) {
  const LatentAttention& latent = m.attention.latent;
  if (!m.attention.is_latent()) return 0;
  const int64_t queries = latent.q_rank * m.attention.query_width();
  return queries + latent.kv_rank * m.attention.heads * (latent.nope_dim + latent.value_dim);
}

int64_t AttentionWeights(const ModelShape& m) {
  const int64_t proj = m.hidden * m.attention.value_width();
  if (!m.attention.is_latent()) return m.hidden * m.attention.qkv_width() + proj;
  const LatentAttention& latent = m.attention.latent;
  const int64_t queries =
      m.hidden * (latent.q_rank > 0 ? latent.q_rank : m.attention.query_width());
  return queries + m.hidden * (latent.kv_rank + latent.rope_dim) + UpProjectionWeights(m) + proj;
}

// With its layer norm. Megatron-LM's count of model FLOPs leaves the indexer out, and counts
// attention to all keys.
int64_t IndexerParameters(const ModelShape& m) {
  const SparseShape& sparse = m.attention.sparse;
  const int64_t queries = m.attention.latent.q_rank;
  return (queries > 0 ? queries : m.hidden) * sparse.query_width() +
         m.hidden * (sparse.head_dim + sparse.heads) + 2 * sparse.head_dim;
}

// The norms of queries and keys.
int64_t HeadNormParameters(const ModelShape& m) {
  if (!m.attention.qk_norm) return 0;
  switch (m.attention.qk_norm_kind) {
    case QkNormKind::kHead:
      return 2 * NormElements(m, m.attention.head_dim);
    case QkNormKind::kWeightless:
      return 0;
    case QkNormKind::kWhole:
      break;
  }
  return NormElements(m, m.attention.query_width()) + NormElements(m, m.attention.kv_width());
}

int64_t AttentionParameters(const ModelShape& m) {
  int64_t count = AttentionWeights(m) + IndexerParameters(m);
  if (m.bias) count += m.hidden;
  if (m.attention.is_latent()) {
    return count + NormElements(m, m.attention.latent.q_rank) +
           NormElements(m, m.attention.latent.kv_rank);
  }
  if (m.attention.sinks) count += m.attention.heads;
  if (m.attention.qkv_bias) count += m.attention.qkv_width();
  return count + HeadNormParameters(m);
}

// The parameters of a layer's experts. Of the routed experts, `routed` count.
int64_t ExpertParameters(const ModelShape& m, int64_t routed) {
  const ExpertShape& moe = m.moe;
  int64_t count = routed * (ExpertWeights(m) + ExpertBiases(m)) + LatentExpertWeights(m);
  count += m.hidden * moe.experts + (moe.router_bias ? moe.experts : 0);
  if (m.bias) count += moe.experts;
  if (moe.shared_ffn > 0) count += MlpWeights(m, moe.shared_ffn) + MlpBiases(m, moe.shared_ffn);
  return count + (moe.shared_gate ? m.hidden : 0);
}

// The weights of the GEMMs around a scan.
int64_t ScanWeights(const ModelShape& m, Mixer mixer) {
  if (mixer == Mixer::kMamba) return m.hidden * (m.mamba.projected() + m.mamba.inner());
  return m.hidden * (m.delta.projected() + m.delta.value_width());
}

// With the convolution (of Mamba-2 with a bias), the numbers of each head, and the gated norm.
int64_t ScanParameters(const ModelShape& m, Mixer mixer) {
  const int64_t weights = ScanWeights(m, mixer);
  if (mixer == Mixer::kMamba) {
    return weights + m.mamba.convolved() * (kScanTaps + 1) + 3 * m.mamba.heads + m.mamba.inner();
  }
  return weights + m.delta.convolved() * kScanTaps + 2 * m.delta.value_heads + m.delta.value_dim;
}

// The norms around a mixer, or around an MLP.
int64_t SublayerNorms(const ModelShape& m) {
  return ((m.pre_norms ? 1 : 0) + (m.post_norms ? 1 : 0)) * NormElements(m, m.hidden);
}

int64_t MixerParameters(const ModelShape& m, Mixer mixer) {
  if (mixer == Mixer::kNone) return 0;
  return SublayerNorms(m) +
         (mixer == Mixer::kAttention ? AttentionParameters(m) : ScanParameters(m, mixer));
}

int64_t LayerParameters(const ModelShape& m, const LayerParts& parts, int64_t routed) {
  const int64_t mixer = MixerParameters(m, parts.mixer);
  if (!parts.mlp && !parts.experts) return mixer;
  const int64_t mlp = parts.experts ? ExpertParameters(m, routed)
                                    : MlpWeights(m, parts.ffn) + MlpBiases(m, parts.ffn);
  return mixer + SublayerNorms(m) + mlp;
}

int64_t EmbeddingParameters(const ModelShape& m) {
  int64_t count = m.embedding.learned_positions() ? m.embedding.max_positions * m.hidden : 0;
  if (m.embedding.patch_features == 0)
    return count + m.embedding.vocab * m.hidden * (m.embedding.tied ? 1 : 2);
  // A linear layer for the patches, the class token, and a head with a bias.
  count += m.embedding.patch_features * m.hidden + m.hidden + m.hidden;
  return count + m.embedding.vocab * m.hidden + m.embedding.vocab;
}

// The two matrices of a linear layer's adapter are as wide as its input and its output.
int64_t AdapterWeights(const ModelShape& m) {
  const LoraTargets& targets = m.lora.targets;
  const int64_t fc1 = GateFactor(m) * m.mlp.ffn;
  const int64_t qkv = m.attention.query_width() + 2 * m.attention.kv_width();
  int64_t widths = 0;
  if (targets.qkv) widths += m.hidden + qkv;
  if (targets.proj) widths += m.attention.query_width() + m.hidden;
  if (targets.fc1) widths += m.hidden + fc1;
  if (targets.fc2) widths += m.mlp.ffn + m.hidden;
  return m.lora.rank * widths;
}

int64_t CountParameters(const ModelShape& m, int64_t routed) {
  int64_t count = 0;
  for (int layer = 0; layer < m.layers + m.mtp_layers; ++layer) {
    count += LayerParameters(m, m.PartsOf(layer), routed);
  }
  // An MTP layer joins two normalized inputs of width hidden and has a final norm of its own.
  const int64_t join = 2 * m.hidden * m.hidden + 3 * NormElements(m, m.hidden);
  count += m.mtp_layers * join + m.layers * AdapterWeights(m);
  return count + NormElements(m, m.hidden) + EmbeddingParameters(m);
}

// Per token, as Megatron-LM's training.py counts them: 7 for each element of Mamba-2's states; of a
// delta net, the products of each head with a state of key_dim x value_dim, and the convolution.
double ScanFlops(const ModelShape& m, Mixer mixer) {
  if (mixer == Mixer::kMamba) return 7 * static_cast<double>(m.mamba.inner() * m.mamba.state);
  const DeltaNetShape& delta = m.delta;
  return static_cast<double>(2 * kScanTaps * delta.convolved() +
                             8 * delta.value_heads * delta.key_dim * delta.value_dim);
}

// Multiply-adds of a layer that backward repeats.
double Recomputed(const LayerGemms& layer, const RecomputeModules& modules) {
  double sum = 0;
  if (modules.core_attention) sum += layer.core;
  if (modules.mlp) sum += layer.mlp;
  if (modules.moe) sum += layer.experts;
  if (modules.shared_experts && !modules.moe) sum += layer.shared_experts;
  if (modules.mla_up_projection) sum += layer.up_projections;
  return sum;
}

// Returns for each layer whether backward repeats it whole: all layers, or the first of each chunk.
std::vector<bool> RecomputedLayers(const TrainingJob& job) {
  const TrainingRules& rules = job.training;
  const auto layers = static_cast<size_t>(job.model.layers);
  const bool all = rules.recompute.granularity == Recompute::kFull &&
                   rules.recompute.method == RecomputeMethod::kUniform;
  std::vector<bool> repeated(layers, all);
  if (all || rules.recompute.granularity != Recompute::kFull) return repeated;
  size_t first = 0;
  for (const int chunk : SplitLayers(job.model.layers, job.parallel).layers) {
    for (int i = 0; i < std::min(chunk, rules.recompute.layers); ++i) {
      repeated[first + static_cast<size_t>(i)] = true;
    }
    first += static_cast<size_t>(chunk);
  }
  return repeated;
}

// The GEMMs outside the layers, in multiply-adds per token.
double EndGemms(const ModelShape& m) {
  const auto head = static_cast<double>(m.hidden * m.embedding.vocab);
  if (m.embedding.patch_features == 0) return head * (1 + m.mtp_layers);
  // The head sees the class token only.
  return static_cast<double>(m.embedding.patch_features * m.hidden) +
         head / static_cast<double>(m.sequence);
}

// What adapters add to three passes of all GEMMs (`once` each, in multiply-adds per token): their
// own three, less the weight gradients of frozen layers. Attention's core has no weights.
double AdapterPasses(const TrainingJob& job, double once) {
  const ModelShape& m = job.model;
  if (!m.lora.any()) return 0;
  double weights = once;
  for (int layer = 0; layer < m.layers; ++layer) {
    weights -= GemmsOfLayer(m, layer, job.training.causal_flops_halved).core;
  }
  return 3 * static_cast<double>(m.layers * AdapterWeights(m)) - weights;
}

}  // namespace

int64_t ParameterCount(const ModelShape& model) {
  return CountParameters(model, model.moe.experts);
}

int64_t TrainedParameterCount(const ModelShape& model) {
  return model.lora.any() ? model.layers * AdapterWeights(model) : ParameterCount(model);
}

int64_t ActiveParameterCount(const ModelShape& model) {
  return CountParameters(model, model.moe.per_token);
}

LayerGemms GemmsOfLayer(const ModelShape& m, int layer, bool causal_halved) {
  const LayerParts parts = m.PartsOf(layer);
  LayerGemms gemms;
  if (parts.mixer == Mixer::kAttention) {
    gemms.projections = static_cast<double>(AttentionWeights(m));
    gemms.up_projections = static_cast<double>(UpProjectionWeights(m));
    gemms.core = m.attention.KeysSeen(m.attended(), parts.window, causal_halved) *
                 static_cast<double>(m.attention.query_width() + m.attention.value_width());
  } else if (parts.mixer != Mixer::kNone) {
    gemms.projections = static_cast<double>(ScanWeights(m, parts.mixer));
    gemms.scan = ScanFlops(m, parts.mixer) / 2;
  }
  if (parts.mlp) gemms.mlp = static_cast<double>(MlpWeights(m, parts.ffn));
  if (!parts.experts) return gemms;
  const int64_t gate = m.moe.shared_gate ? m.hidden : 0;
  gemms.shared_experts = static_cast<double>(MlpWeights(m, m.moe.shared_ffn) + gate);
  gemms.experts =
      gemms.shared_experts + static_cast<double>(m.moe.per_token * ExpertWeights(m) +
                                                 LatentExpertWeights(m) + m.hidden * m.moe.experts);
  return gemms;
}

IterationFlops FlopsOfIteration(const TrainingJob& job) {
  const ModelShape& m = job.model;
  const std::vector<bool> repeated = RecomputedLayers(job);
  double once = EndGemms(m), again = 0;
  for (int layer = 0; layer < m.layers + m.mtp_layers; ++layer) {
    const LayerGemms gemms = GemmsOfLayer(m, layer, job.training.causal_flops_halved);
    once += gemms.sum();
    if (layer >= m.layers) once += static_cast<double>(2 * m.hidden * m.hidden);
    const bool whole = repeated[static_cast<size_t>(std::min(layer, m.layers - 1))];
    again += whole ? gemms.sum() : Recomputed(gemms, job.training.recompute.modules);
  }
  const auto tokens = static_cast<double>(job.training.batch.global * m.sequence);
  const double passes = 3 * once + AdapterPasses(job, once);
  return {2 * tokens * passes, 2 * tokens * (passes + again)};
}

}  // namespace drydock
