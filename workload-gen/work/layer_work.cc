#include "workload-gen/work/layer_work.h"

#include <algorithm>
#include <map>

#include "workload-gen/work/submodule_costs.h"

namespace drydock {
namespace {

class WorkMaker {
 public:
  WorkMaker(const TrainingJob& job, const ParallelLayout& layout, WorkTables* tables,
            ExpertLoad load, int gpus)
      : maker_(job, layout, tables), m_(job.model), tables_(tables), load_(load), gpus_(gpus) {
    work_.rows = maker_.rows();
    work_.local_rows = maker_.local_rows();
  }

  RankWork Make() {
    MakeLayers();
    MakeEmbedding();
    MakeHead();
    if (m_.mtp_layers > 0) MakeMtp();
    const GraphScope scope = maker_.job().training.host.cuda_graphs.scope;
    if (scope == GraphScope::kLayers || scope == GraphScope::kParts) MakeGraphCopies();
    return std::move(work_);
  }

 private:
  // Layers of the same parts and formats are of one kind.
  void MakeLayers() {
    std::map<std::pair<LayerParts, bool>, uint8_t> kinds;
    for (int layer = 0; layer < m_.layers + m_.mtp_layers; ++layer) {
      const LayerParts parts = m_.PartsOf(layer);
      const bool half = maker_.job().training.precision.IsHalf(layer, m_.layers);
      const auto [kind, is_new] =
          kinds.emplace(std::pair(parts, half), static_cast<uint8_t>(kinds.size()));
      if (is_new) work_.kinds.push_back(MakeLayer(parts, half));
      work_.kind_of_layer.push_back(kind->second);
    }
  }

  LayerWork MakeLayer(const LayerParts& parts, bool half) {
    LayerWork layer;
    layer.half = half;
    maker_.SetHalf(half);
    if (parts.mixer == Mixer::kAttention) layer.attention = MakeAttention(&maker_, parts);
    if (parts.mixer == Mixer::kMamba) layer.scan = MakeMamba(&maker_);
    if (parts.mixer == Mixer::kDeltaNet) {
      layer.scan = MakeDeltaNet(&maker_);
      layer.scan_region = LayerRegion::kAttention;
    }
    if (parts.experts || parts.mlp) AddMlp(parts, &layer);
    layer.residual_backward = m_.dropout > 0 || m_.bias;
    layer.residual_gradient =
        maker_.Add("residual.gradient", submodule::Add{.rows = maker_.local_rows(), .n = m_.hidden},
                   Pass::kBackward);
    maker_.SetHalf(false);
    return layer;
  }

  void AddMlp(const LayerParts& parts, LayerWork* layer) {
    if (m_.pre_norms) layer->norm2 = maker_.Norm("mlp.norm", maker_.local_rows(), m_.hidden);
    if (parts.experts)
      layer->experts = MakeExperts(&maker_, load_, gpus_, tables_);
    else
      layer->mlp = MakeMlp(&maker_, "mlp", parts.ffn,
                           !m_.pre_norms         ? InputFrom::kElsewhere
                           : m_.lora.targets.fc1 ? InputFrom::kNormForAdapter
                                                 : InputFrom::kNorm);
    if (m_.post_norms) {
      layer->post_norm2 = maker_.Norm("mlp.post-norm", maker_.local_rows(), m_.hidden);
    }
    layer->residual2 = maker_.Residual("mlp.residual");
  }

  void MakeEmbedding() {
    const ParallelLayout& layout = maker_.layout();
    submodule::Embedding lookup{
        .rows = work_.rows, .n = m_.hidden, .k = layout.padded_vocab / layout.tensor};
    work_.embedding.lookup.forward = maker_.Add("embedding.words", lookup, Pass::kForward);
    lookup.accumulate_fp32 = maker_.job().training.precision.gradients == DataType::kFp32;
    work_.embedding.lookup.backward = maker_.Add("embedding.words", lookup, Pass::kBackward);
    if (m_.embedding.patch_features > 0) {
      work_.embedding.patches = maker_.HeadLinear("embedding.patches", work_.rows, m_.hidden,
                                                  m_.embedding.patch_features);
    }
    if (m_.embedding.learned_positions()) {
      work_.embedding.positions = maker_.ForwardBackward(
          "embedding.positions", submodule::Add{.rows = work_.rows, .n = m_.hidden});
    }
    if (m_.dropout > 0) {
      work_.embedding.dropout = maker_.ForwardBackward(
          "embedding.dropout",
          submodule::BiasDropoutAdd{.rows = work_.local_rows, .n = m_.hidden, .dropout = true});
    }
  }

  // An image is classified by the row of its class token, on every tensor rank.
  void MakeHead() {
    const bool images = m_.embedding.patch_features > 0;
    const int64_t vocab =
        images ? m_.embedding.vocab : maker_.layout().padded_vocab / maker_.layout().tensor;
    const int64_t rows = images ? maker_.job().training.batch.micro : work_.rows;
    work_.head.norm = maker_.Norm("head.norm", work_.local_rows, m_.hidden);
    work_.head.logits = maker_.HeadLinear("head.logits", rows, vocab, m_.hidden);
    const bool fused =
        maker_.job().training.kernels.cross_entropy_fusion != CrossEntropyFusion::kNone;
    work_.head.loss = maker_.ForwardBackward(
        "head.loss", submodule::CrossEntropy{.rows = rows, .n = vocab, .fused = fused});
  }

  void MakeMtp() {
    MtpWork mtp;
    mtp.token_norm = maker_.Norm("mtp.token-norm", work_.local_rows, m_.hidden);
    mtp.hidden_norm = maker_.Norm("mtp.hidden-norm", work_.local_rows, m_.hidden);
    mtp.final_norm = maker_.Norm("mtp.final-norm", work_.local_rows, m_.hidden);
    maker_.SetHalf(maker_.job().training.precision.half_parts.mtp);
    mtp.join = maker_.Linear("mtp.join", work_.rows, m_.hidden / maker_.layout().tensor,
                             2 * m_.hidden, false);
    maker_.SetHalf(false);
    work_.mtp = mtp;
  }

  uint32_t GraphCopy(int64_t tensors, Pass pass) {
    return maker_.Add(
        pass == Pass::kForward ? "graph.inputs" : "graph.gradients",
        submodule::Add{.rows = work_.local_rows * tensors, .n = m_.hidden, .summands = 1}, pass);
  }

  // A graph that ends before the token dispatch hands on the residual, the rows for the dispatch
  // (permuted copies, if the graph permutes) and the output of shared experts.
  void MakeGraphCopies() {
    const TrainingJob& job = maker_.job();
    const bool permutes = job.training.moe.dispatcher == MoeDispatcher::kAllToAll &&
                          job.training.host.cuda_graphs.Holds(LayerRegion::kPreprocess);
    const bool shared = m_.moe.shared_ffn > 0 && !job.overlap.shared_expert;
    const int64_t outputs = 1 + (permutes ? m_.moe.per_token : 1) + (shared ? 1 : 0);
    work_.graph_copies.forward = GraphCopy(1, Pass::kForward);
    work_.graph_copies.backward = GraphCopy(1, Pass::kBackward);
    work_.graph_copies.router_backward = GraphCopy(outputs, Pass::kBackward);
  }

  SubmoduleMaker maker_;
  const ModelShape& m_;
  WorkTables* tables_;
  const ExpertLoad load_;
  const int gpus_;
  RankWork work_;
};

}  // namespace

RankWork MakeRankWork(const TrainingJob& job, const ParallelLayout& layout, WorkTables* tables,
                      ExpertLoad load, int gpus) {
  return WorkMaker(job, layout, tables, load, gpus).Make();
}

int Fp8LinearLayersIn(const LayerWork& layer, const ModelShape& model,
                      const ParallelLayout& layout) {
  if (layer.half) return 0;
  // qkv or the keys' and values' down-projection, proj; or the two of a scan.
  int count = layer.attention || layer.scan ? 2 : 0;
  if (layer.attention && layer.attention->latent) count += layer.attention->latent->q_down ? 3 : 2;
  // The indexer has three; the up-projection of keys and values is absorbed in 16 bits.
  if (layer.attention && layer.attention->sparse) count += 3 - 1;
  if (!layer.experts) return count + (layer.mlp ? 2 : 0);
  if (layer.experts->latent) count += 2;
  return count + 2 * (model.moe.experts / layout.expert) + (layer.experts->shared ? 2 : 0);
}

uint32_t StepWork(const char* name, const SubmoduleWork& work, DataType type, WorkTables* tables) {
  Submodule s{.name = name, .pass = Pass::kNone, .type = type, .work = work};
  FillCosts(&s);
  return tables->Intern(s);
}

uint32_t QuantizeWork(int64_t weights, int64_t elements, DataType type, WorkTables* tables) {
  const bool known = type == DataType::kMxfp8 || type == DataType::kFp8Block;
  const int64_t rows = std::max<int64_t>(weights, 1);
  const submodule::Quantize work{.rows = rows, .n = (elements + rows - 1) / rows, .fused = known};
  return StepWork(weights > 0 ? kGatheredQuantize : "weights.quantise", work, type, tables);
}

}  // namespace drydock
