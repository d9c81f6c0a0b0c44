#include "workload-gen/work/transformer.h"

#include <algorithm>
#include <utility>

namespace drydock {
namespace {

// Builds the list of one chunk. A split parameter has 1 / tensor of the model's elements.
class ChunkList {
 public:
  ChunkList(const TrainingJob& job, const ParallelLayout& layout)
      : m_(job.model),
        own_modules_(!job.training.kernels.fused),
        one_by_one_(!job.training.moe.grouped_gemm),
        layout_(layout) {}

  void Embedding(bool shared) {
    if (m_.embedding.patch_features > 0) {
      Add(ParameterKind::kPatches, -1, m_.hidden * (m_.embedding.patch_features + 2));
    } else {
      Add(ParameterKind::kWordEmbedding, -1, layout_.padded_vocab / layout_.tensor * m_.hidden);
      list_.back().tied = shared;
    }
    if (m_.embedding.learned_positions()) {
      Add(ParameterKind::kPositionEmbedding, -1, m_.embedding.max_positions * m_.hidden);
    }
  }

  // Transformer Engine's norm that is fused with a linear layer is registered with it. Other norms
  // have their own position: of Megatron-Core's own modules, in front of attention.
  void Layer(int layer) {
    layer_ = layer;
    const LayerParts parts = m_.PartsOf(layer);
    MixerOf(parts.mixer);
    if (parts.experts) Experts();
    if (parts.mlp) Mlp(parts.ffn);
    if (m_.post_norms) {
      PlainNorm(ParameterKind::kPostNorm1, m_.hidden);
      PlainNorm(ParameterKind::kPostNorm2, m_.hidden);
    }
  }

  void FinalNorm() {
    layer_ = -1;
    Norm(ParameterKind::kFinalNormWeight, ParameterKind::kFinalNormBias);
  }

  // The k-th MTP layer; its number follows those of the other layers.
  void Mtp(int k) {
    const int layer = m_.layers + k;
    layer_ = layer;
    PlainNorm(ParameterKind::kMtpTokenNorm, m_.hidden);
    PlainNorm(ParameterKind::kMtpHiddenNorm, m_.hidden);
    AddSplit(ParameterKind::kMtpJoin, 2 * m_.hidden * m_.hidden);
    Layer(layer);
    PlainNorm(ParameterKind::kMtpFinalNorm, m_.hidden);
  }

  void Head(bool own_weight, bool shared) {
    if (!own_weight) return;
    if (m_.embedding.patch_features > 0)
      return Add(ParameterKind::kHead, -1, m_.embedding.vocab * (m_.hidden + 1));
    Add(ParameterKind::kHead, -1, layout_.padded_vocab / layout_.tensor * m_.hidden);
    list_.back().tied = shared;
  }

  std::vector<Parameter> Take() { return std::move(list_); }

 private:
  void Add(ParameterKind kind, int layer, int64_t elements) {
    list_.push_back({kind, layer, elements, false, false, false, m_.lora.any()});
  }
  void AddSplit(ParameterKind kind, int64_t elements) {
    Add(kind, layer_, elements / layout_.tensor);
  }
  void AddReplicated(ParameterKind kind, int64_t elements) {
    Add(kind, layer_, elements);
    list_.back().sequence_parallel = layout_.sequence_parallel;
  }
  void Norm(ParameterKind weight, ParameterKind bias) {
    AddReplicated(weight, m_.hidden);
    if (!m_.rms_norm) AddReplicated(bias, m_.hidden);
  }
  void PlainNorm(ParameterKind kind, int64_t width) {
    AddReplicated(kind, m_.rms_norm ? width : 2 * width);
  }

  // The matrices of an adapter of a layer with n outputs and k inputs.
  void Adapter(ParameterKind kind, bool target, int64_t n, int64_t k) {
    if (!target) return;
    for (const int64_t width : {k, n}) {
      AddSplit(kind, m_.lora.rank * width);
      list_.back().frozen = false;
    }
  }

  void MixerOf(Mixer mixer) {
    switch (mixer) {
      case Mixer::kNone:
        return;
      case Mixer::kAttention:
        return m_.attention.is_latent() ? LatentAttention() : StandardAttention();
      case Mixer::kMamba:
        // A step, a decay and a weight of the input for each head.
        return Scan(m_.mamba.convolved() * (kScanTaps + 1) + 3 * m_.mamba.heads,
                    m_.mamba.projected(), m_.mamba.inner(), m_.mamba.inner());
      case Mixer::kDeltaNet:
        // A step and a decay for each head; all heads share the weights of the norm.
        return Scan(m_.delta.convolved() * kScanTaps + 2 * m_.delta.value_heads,
                    m_.delta.projected(), m_.delta.value_width(), m_.delta.value_dim);
    }
  }

  // `own`: elements of the convolution and of the heads. `norm`: elements of the gated norm, which
  // are split if each column of `inner` has one.
  void Scan(int64_t own, int64_t projected, int64_t inner, int64_t norm) {
    AddSplit(ParameterKind::kScan, own);
    Norm(ParameterKind::kNorm1Weight, ParameterKind::kNorm1Bias);
    AddSplit(ParameterKind::kScanInWeight, m_.hidden * projected);
    if (norm == inner)
      AddSplit(ParameterKind::kScanNorm, norm);
    else
      AddReplicated(ParameterKind::kScanNorm, norm);
    AddSplit(ParameterKind::kScanOutWeight, m_.hidden * inner);
  }

  void StandardAttention() {
    if (own_modules_) PreNorm();
    if (m_.attention.sinks) AddSplit(ParameterKind::kSinks, m_.attention.heads);
    AddSplit(ParameterKind::kProjWeight, m_.hidden * m_.attention.query_width());
    if (m_.bias) AddReplicated(ParameterKind::kProjBias, m_.hidden);
    Adapter(ParameterKind::kProjAdapter, m_.lora.targets.proj, m_.hidden,
            m_.attention.query_width());
    if (!own_modules_) PreNorm();
    AddSplit(ParameterKind::kQkvWeight, m_.hidden * m_.attention.qkv_width());
    if (m_.attention.qkv_bias) AddSplit(ParameterKind::kQkvBias, m_.attention.qkv_width());
    Adapter(ParameterKind::kQkvAdapter, m_.lora.targets.qkv, m_.attention.qkv_width(), m_.hidden);
    HeadNorms();
  }

  void PreNorm() {
    if (m_.pre_norms) Norm(ParameterKind::kNorm1Weight, ParameterKind::kNorm1Bias);
  }

  // All tensor ranks have the weights of a head; of all heads, each has its own.
  void HeadNorms() {
    if (!m_.attention.qk_norm || m_.attention.qk_norm_kind == QkNormKind::kWeightless) return;
    if (m_.attention.qk_norm_kind == QkNormKind::kHead) {
      PlainNorm(ParameterKind::kQNorm, m_.attention.head_dim);
      PlainNorm(ParameterKind::kKNorm, m_.attention.head_dim);
      return;
    }
    const int64_t each = m_.rms_norm ? 1 : 2;
    AddSplit(ParameterKind::kQNorm, each * m_.attention.query_width());
    AddSplit(ParameterKind::kKNorm, each * m_.attention.kv_width());
  }

  void LatentAttention() {
    const drydock::LatentAttention& latent = m_.attention.latent;
    Norm(ParameterKind::kNorm1Weight, ParameterKind::kNorm1Bias);
    Indexer();
    AddSplit(ParameterKind::kProjWeight, m_.hidden * m_.attention.value_width());
    if (m_.bias) AddReplicated(ParameterKind::kProjBias, m_.hidden);
    const auto query_norm = [this, &latent] {
      if (latent.q_rank > 0) PlainNorm(ParameterKind::kQNorm, latent.q_rank);
    };
    const auto key_norm = [this, &latent] { PlainNorm(ParameterKind::kKvNorm, latent.kv_rank); };
    if (latent.q_rank > 0) {
      AddReplicated(ParameterKind::kQDownWeight, m_.hidden * latent.q_rank);
    }
    if (!own_modules_) query_norm();
    AddSplit(ParameterKind::kQUpWeight,
             (latent.q_rank > 0 ? latent.q_rank : m_.hidden) * m_.attention.query_width());
    AddReplicated(ParameterKind::kKvDownWeight, m_.hidden * (latent.kv_rank + latent.rope_dim));
    if (!own_modules_) key_norm();
    AddSplit(ParameterKind::kKvUpWeight,
             latent.kv_rank * m_.attention.heads * (latent.nope_dim + latent.value_dim));
    if (!own_modules_) return;
    query_norm();
    key_norm();
  }

  // Whole on each tensor rank; the norm is a layer norm in any model.
  void Indexer() {
    const SparseShape& sparse = m_.attention.sparse;
    if (!m_.attention.is_sparse()) return;
    const int64_t queries = m_.attention.latent.q_rank;
    AddReplicated(ParameterKind::kIndexQWeight,
                  (queries > 0 ? queries : m_.hidden) * sparse.query_width());
    AddReplicated(ParameterKind::kIndexKWeight, m_.hidden * sparse.head_dim);
    AddReplicated(ParameterKind::kIndexKNorm, 2 * sparse.head_dim);
    AddReplicated(ParameterKind::kIndexHeadWeight, m_.hidden * sparse.heads);
  }

  void Mlp(int64_t ffn) {
    const int64_t fc1_width = (m_.mlp.gated() ? 2 : 1) * ffn;
    if (m_.pre_norms) Norm(ParameterKind::kNorm2Weight, ParameterKind::kNorm2Bias);
    AddSplit(ParameterKind::kFc1Weight, m_.hidden * fc1_width);
    if (m_.bias) AddSplit(ParameterKind::kFc1Bias, fc1_width);
    Adapter(ParameterKind::kFc1Adapter, m_.lora.targets.fc1, fc1_width, m_.hidden);
    AddSplit(ParameterKind::kFc2Weight, m_.hidden * ffn);
    if (m_.bias) AddReplicated(ParameterKind::kFc2Bias, m_.hidden);
    Adapter(ParameterKind::kFc2Adapter, m_.lora.targets.fc2, m_.hidden, ffn);
  }

  // `split`: over the tensor ranks of an expert. Without expert parallelism, Megatron marks no
  // parameter as an expert's (`allreduce` of transformer/moe/experts.py).
  void AddExpert(ParameterKind kind, int64_t elements, bool split = true) {
    Add(kind, layer_, split ? elements / layout_.expert_tensor : elements);
    list_.back().expert = layout_.expert > 1;
  }

  // A kind of parameter of all experts after another, or (SequentialMLP) expert by expert.
  void AddExperts() {
    const int64_t inputs = m_.mlp.gated() ? 2 : 1, width = m_.expert_width();
    const auto add = [&](ParameterKind kind) {
      switch (kind) {
        case ParameterKind::kExpertFc1Weight:
          return AddExpert(kind, width * inputs * m_.moe.ffn);
        case ParameterKind::kExpertFc1Bias:
          return AddExpert(kind, inputs * m_.moe.ffn);
        case ParameterKind::kExpertFc2Weight:
          return AddExpert(kind, width * m_.moe.ffn);
        default:
          return AddExpert(kind, width, /*split=*/false);
      }
    };
    std::vector<ParameterKind> kinds = {ParameterKind::kExpertFc1Weight};
    if (m_.bias) kinds.push_back(ParameterKind::kExpertFc1Bias);
    kinds.push_back(ParameterKind::kExpertFc2Weight);
    if (m_.bias) kinds.push_back(ParameterKind::kExpertFc2Bias);
    const int experts = m_.moe.experts / layout_.expert;
    if (one_by_one_) {
      for (int i = 0; i < experts; ++i) std::for_each(kinds.begin(), kinds.end(), add);
      return;
    }
    for (const ParameterKind kind : kinds) {
      for (int i = 0; i < experts; ++i) add(kind);
    }
  }

  void Experts() {
    const ExpertShape& moe = m_.moe;
    const int64_t inputs = m_.mlp.gated() ? 2 : 1;
    Norm(ParameterKind::kNorm2Weight, ParameterKind::kNorm2Bias);
    AddReplicated(ParameterKind::kRouterWeight, m_.hidden * moe.experts);
    if (m_.bias) AddReplicated(ParameterKind::kRouterBias, moe.experts);
    if (moe.latent > 0) {
      AddReplicated(ParameterKind::kLatentDown, m_.hidden * moe.latent);
      AddReplicated(ParameterKind::kLatentUp, m_.hidden * moe.latent);
    }
    AddExperts();
    if (moe.shared_ffn == 0) return;
    AddSplit(ParameterKind::kSharedFc1Weight, m_.hidden * inputs * moe.shared_ffn);
    AddSplit(ParameterKind::kSharedFc2Weight, m_.hidden * moe.shared_ffn);
    if (moe.shared_gate) AddReplicated(ParameterKind::kSharedGate, m_.hidden);
  }

  const ModelShape& m_;
  const bool own_modules_, one_by_one_;
  const ParallelLayout& layout_;
  int layer_ = -1;
  std::vector<Parameter> list_;
};

}  // namespace

std::vector<Parameter> ChunkParameters(const TrainingJob& job, const ParallelLayout& layout,
                                       int stage, int chunk) {
  const ModelShape& model = job.model;
  ChunkList list(job, layout);
  const bool first = stage == 0 && chunk == 0;
  const bool last = stage == layout.pipeline - 1 && chunk == layout.chunks - 1;
  const bool mtp = layout.HasMtpLayers(stage, chunk);
  const bool shared = (model.embedding.tied || model.mtp_layers > 0) && layout.pipeline > 1;
  // The stage of MTP layers looks up their tokens, in a tied head if the stage has one.
  const bool again = mtp && shared && !(last && model.embedding.tied);
  if (first || again) list.Embedding(shared);
  const int end = layout.EndLayer(stage, chunk);
  for (int layer = layout.FirstLayer(stage, chunk); layer < end; ++layer) list.Layer(layer);
  if (layout.HasFinalNorm(stage, chunk)) list.FinalNorm();
  for (int k = layout.FirstMtpLayer(stage, chunk); k < layout.EndMtpLayer(stage, chunk); ++k) {
    list.Mtp(k);
  }
  if (!last) return list.Take();
  // A tied head is the word embedding itself if both are on one rank and chunk.
  list.Head(/*own_weight=*/!model.embedding.tied || !first, shared && model.embedding.tied);
  return list.Take();
}

int64_t TotalElements(const std::vector<Parameter>& parameters) {
  int64_t total = 0;
  for (const Parameter& parameter : parameters) total += parameter.elements;
  return total;
}

bool IsLayerWeight(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::kProjWeight:
    case ParameterKind::kQkvWeight:
    case ParameterKind::kQDownWeight:
    case ParameterKind::kQUpWeight:
    case ParameterKind::kKvDownWeight:
    case ParameterKind::kKvUpWeight:
    case ParameterKind::kIndexQWeight:
    case ParameterKind::kIndexKWeight:
    case ParameterKind::kIndexHeadWeight:
    case ParameterKind::kScanInWeight:
    case ParameterKind::kScanOutWeight:
    case ParameterKind::kFc1Weight:
    case ParameterKind::kFc2Weight:
    case ParameterKind::kExpertFc1Weight:
    case ParameterKind::kExpertFc2Weight:
    case ParameterKind::kSharedFc1Weight:
    case ParameterKind::kSharedFc2Weight:
    case ParameterKind::kLatentDown:
    case ParameterKind::kLatentUp:
    case ParameterKind::kMtpJoin:
      return true;
    default:
      return false;
  }
}

bool IsMuonMatrix(ParameterKind kind) {
  return IsLayerWeight(kind) || kind == ParameterKind::kRouterWeight ||
         kind == ParameterKind::kSharedGate;
}

bool IsQuantizedWeight(const TrainingJob& job, const Parameter& parameter) {
  const PrecisionRules& precision = job.training.precision;
  if (!precision.quantized() || !IsLayerWeight(parameter.kind)) return false;
  if (precision.IsHalf(parameter.layer, job.model.layers)) return false;
  switch (parameter.kind) {
    case ParameterKind::kQkvWeight:
      return !precision.half_parts.qkv;
    case ParameterKind::kProjWeight:
      return !precision.half_parts.proj;
    case ParameterKind::kKvUpWeight:  // sparse attention absorbs it, in 16 bits
      return !job.model.attention.is_sparse();
    case ParameterKind::kLatentDown:
    case ParameterKind::kLatentUp:
      return !precision.half_parts.latent;
    case ParameterKind::kScanOutWeight:
      return !precision.half_parts.mamba_out;
    default:
      return true;
  }
}

}  // namespace drydock
