#include "workload-gen/transformer.h"

#include <utility>

namespace drydock {
namespace {

int64_t Fc1Width(const ModelShape& m) { return (m.gated() ? 2 : 1) * m.ffn; }
int64_t QkvWidth(const ModelShape& m) { return m.query_width() + 2 * m.kv_width(); }

// Builds the list of one chunk; every split parameter is 1/tensor of the model's.
class ChunkList {
 public:
  ChunkList(const ModelShape& model, const Layout& layout) : m_(model), layout_(layout) {}

  void Embedding(bool shared) {
    Add(ParameterKind::kWordEmbedding, -1, layout_.padded_vocab / layout_.tensor * m_.hidden);
    list_.back().tied = shared;
    if (m_.learned_positions()) {
      Add(ParameterKind::kPositionEmbedding, -1, m_.max_positions * m_.hidden);
    }
  }

  void Layer(int layer) {
    const int64_t t = layout_.tensor;
    Add(ParameterKind::kProjWeight, layer, m_.hidden * m_.query_width() / t);
    if (m_.bias) AddReplicated(ParameterKind::kProjBias, layer);
    Norm(ParameterKind::kNorm1Weight, ParameterKind::kNorm1Bias, layer);
    Add(ParameterKind::kQkvWeight, layer, m_.hidden * QkvWidth(m_) / t);
    if (m_.qkv_bias) Add(ParameterKind::kQkvBias, layer, QkvWidth(m_) / t);
    Norm(ParameterKind::kNorm2Weight, ParameterKind::kNorm2Bias, layer);
    Add(ParameterKind::kFc1Weight, layer, m_.hidden * Fc1Width(m_) / t);
    if (m_.bias) Add(ParameterKind::kFc1Bias, layer, Fc1Width(m_) / t);
    Add(ParameterKind::kFc2Weight, layer, m_.hidden * m_.ffn / t);
    if (m_.bias) AddReplicated(ParameterKind::kFc2Bias, layer);
  }

  void Head(bool own_weight, bool shared) {
    Norm(ParameterKind::kFinalNormWeight, ParameterKind::kFinalNormBias, -1);
    if (!own_weight) return;
    Add(ParameterKind::kHead, -1, layout_.padded_vocab / layout_.tensor * m_.hidden);
    list_.back().tied = shared;
  }

  std::vector<Parameter> Take() { return std::move(list_); }

 private:
  void Add(ParameterKind kind, int layer, int64_t elements) {
    list_.push_back({kind, layer, elements, false, false});
  }
  void AddReplicated(ParameterKind kind, int layer) {
    Add(kind, layer, m_.hidden);
    list_.back().sequence_parallel = layout_.sequence_parallel;
  }
  void Norm(ParameterKind weight, ParameterKind bias, int layer) {
    AddReplicated(weight, layer);
    if (!m_.rms_norm) AddReplicated(bias, layer);
  }

  const ModelShape& m_;
  const Layout& layout_;
  std::vector<Parameter> list_;
};

}  // namespace

std::vector<Parameter> ChunkParameters(const ModelShape& model, const Layout& layout, int stage,
                                       int chunk) {
  ChunkList list(model, layout);
  const bool first = stage == 0 && chunk == 0;
  const bool last = stage == layout.pipeline - 1 && chunk == layout.chunks - 1;
  const bool shared = model.tied_embedding && layout.pipeline > 1;
  if (first) list.Embedding(shared);
  const int begin = layout.FirstLayer(stage, chunk);
  for (int i = 0; i < layout.layers_per_chunk; ++i) list.Layer(begin + i);
  // A tied head is the word embedding itself where both are on one rank and chunk.
  if (last) list.Head(/*own_weight=*/!model.tied_embedding || !first, shared);
  return list.Take();
}

int64_t TotalElements(const std::vector<Parameter>& parameters) {
  int64_t total = 0;
  for (const Parameter& parameter : parameters) total += parameter.elements;
  return total;
}

}  // namespace drydock
