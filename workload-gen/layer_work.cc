#include "workload-gen/layer_work.h"

#include "workload-gen/submodule_costs.h"

namespace drydock {
namespace {

class WorkMaker {
 public:
  WorkMaker(const TrainingJob& job, const Layout& layout, WorkTables* tables)
      : job_(job), m_(job.model), layout_(layout), tables_(tables) {
    work_.rows = m_.sequence * job.training.micro_batch;
    work_.local_rows = layout.sequence_parallel ? work_.rows / layout.tensor : work_.rows;
  }

  RankWork Make() {
    MakeLayer();
    MakeEmbedding();
    MakeHead();
    return work_;
  }

 private:
  Submodule Base(const char* name, SubmoduleKind kind, int64_t rows, int64_t n) const {
    Submodule s;
    s.name = name;
    s.kind = kind;
    s.type = job_.training.precision;
    s.rows = rows;
    s.n = n;
    return s;
  }

  uint32_t Add(Submodule s, Pass pass) {
    s.pass = pass;
    FillCosts(&s);
    return tables_->Intern(s);
  }

  TwoWayWork BothWays(const Submodule& s) {
    return {Add(s, Pass::kForward), Add(s, Pass::kBackward)};
  }

  // `bias`: one that belongs to the product itself, not to what follows it.
  LinearWork Linear(const char* name, int64_t n, int64_t k, bool bias) {
    Submodule s = Base(name, SubmoduleKind::kLinear, work_.rows, n);
    s.k = k;
    s.bias = bias;
    s.fused = bias && job_.training.fused_kernels;  // added by the GEMM, not after it
    LinearWork linear;
    linear.forward = Add(s, Pass::kForward);
    linear.activation_gradient = Add(s, Pass::kBackwardActivation);
    const bool fp32 = job_.training.gradient_type == DataType::kFp32;
    s.accumulate_fp32 = fp32 && job_.training.gradient_accumulation_fusion;
    linear.weight_gradient = Add(s, Pass::kBackwardWeight);
    if (!job_.training.gradient_accumulation_fusion) linear.accumulate = Accumulation(name, n, k);
    return linear;
  }

  uint32_t Accumulation(const std::string& name, int64_t n, int64_t k) {
    Submodule s = Base("", SubmoduleKind::kAdd, n, k);
    s.name = name + "-accumulate";
    s.accumulate_fp32 = job_.training.gradient_type == DataType::kFp32;
    return Add(s, Pass::kBackwardWeight);
  }

  TwoWayWork Norm(const char* name) {
    Submodule s = Base(name, SubmoduleKind::kNorm, work_.local_rows, m_.hidden);
    s.rms = m_.rms_norm;
    s.bias = !m_.rms_norm;
    s.fused = job_.training.fused_kernels;
    return BothWays(s);
  }

  TwoWayWork Residual(const char* name) {
    Submodule s = Base(name, SubmoduleKind::kBiasDropoutAdd, work_.local_rows, m_.hidden);
    s.bias = m_.bias;
    s.dropout = m_.dropout > 0;
    return BothWays(s);
  }

  TwoWayWork Attention() {
    Submodule s = Base("attention.core", SubmoduleKind::kAttention, 0, 0);
    s.batch = job_.training.micro_batch;
    s.sequence = m_.sequence;
    s.heads = m_.heads / layout_.tensor;
    s.kv_heads = m_.kv_heads / layout_.tensor;
    s.head_dim = m_.head_dim;
    s.causal = true;
    s.fused = job_.training.fused_kernels;
    s.dropout = m_.attention_dropout > 0;
    return BothWays(s);
  }

  TwoWayWork Activation() {
    Submodule s =
        Base("mlp.activation", SubmoduleKind::kActivation, work_.rows, m_.ffn / layout_.tensor);
    s.gated = m_.gated();
    s.bias = m_.bias;
    return BothWays(s);
  }

  void MakeLayer() {
    const int64_t t = layout_.tensor;
    const int64_t query = m_.query_width() / t;
    const int64_t kv = m_.kv_width() / t;
    LayerWork& layer = work_.layer;
    layer.norm1 = Norm("attention.norm");
    layer.qkv = Linear("attention.qkv", query + 2 * kv, m_.hidden, m_.qkv_bias);
    layer.has_rotary = m_.positions == Positions::kRotary;
    if (layer.has_rotary) {
      Submodule rotary = Base("attention.rotary", SubmoduleKind::kRotary, work_.rows, query + kv);
      rotary.fused = job_.training.fused_kernels;
      layer.rotary = BothWays(rotary);
    }
    layer.attention = Attention();
    layer.proj = Linear("attention.proj", m_.hidden, query, false);
    layer.residual1 = Residual("attention.residual");
    layer.norm2 = Norm("mlp.norm");
    layer.fc1 = Linear("mlp.fc1", (m_.gated() ? 2 : 1) * m_.ffn / t, m_.hidden, false);
    layer.activation = Activation();
    layer.fc2 = Linear("mlp.fc2", m_.hidden, m_.ffn / t, false);
    layer.residual2 = Residual("mlp.residual");
    layer.residual_backward = m_.dropout > 0 || m_.bias;
    layer.residual_gradient =
        Add(Base("residual.gradient", SubmoduleKind::kAdd, work_.local_rows, m_.hidden),
            Pass::kBackward);
  }

  void MakeEmbedding() {
    Submodule lookup = Base("embedding.words", SubmoduleKind::kEmbedding, work_.rows, m_.hidden);
    lookup.k = layout_.padded_vocab / layout_.tensor;
    work_.embedding.lookup.forward = Add(lookup, Pass::kForward);
    lookup.accumulate_fp32 = job_.training.gradient_type == DataType::kFp32;
    work_.embedding.lookup.backward = Add(lookup, Pass::kBackward);
    if (m_.learned_positions()) {
      work_.embedding.positions =
          BothWays(Base("embedding.positions", SubmoduleKind::kAdd, work_.rows, m_.hidden));
    }
    if (m_.dropout > 0) {
      Submodule dropout =
          Base("embedding.dropout", SubmoduleKind::kBiasDropoutAdd, work_.local_rows, m_.hidden);
      dropout.dropout = true;
      work_.embedding.dropout = BothWays(dropout);
    }
  }

  void MakeHead() {
    const int64_t vocab = layout_.padded_vocab / layout_.tensor;
    work_.head.norm = Norm("head.norm");
    work_.head.logits = Linear("head.logits", vocab, m_.hidden, false);
    Submodule loss = Base("head.loss", SubmoduleKind::kCrossEntropy, work_.rows, vocab);
    loss.fused = job_.training.cross_entropy_fusion != CrossEntropyFusion::kNone;
    work_.head.loss = BothWays(loss);
  }

  const TrainingJob& job_;
  const ModelShape& m_;
  const Layout& layout_;
  WorkTables* tables_;
  RankWork work_;
};

}  // namespace

RankWork MakeRankWork(const TrainingJob& job, const Layout& layout, WorkTables* tables) {
  return WorkMaker(job, layout, tables).Make();
}

uint32_t ElementWork(const char* name, SubmoduleKind kind, DataType type, int64_t elements,
                     WorkTables* tables) {
  Submodule s;
  s.name = name;
  s.kind = kind;
  s.pass = Pass::kNone;
  s.type = type;
  s.elements = elements;
  FillCosts(&s);
  return tables->Intern(s);
}

}  // namespace drydock
