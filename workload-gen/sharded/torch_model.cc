#include "workload-gen/sharded/torch_model.h"

#include <numeric>

#include "workload-gen/submodule_costs.h"

namespace drydock {
namespace {

class ModelMaker {
 public:
  ModelMaker(const TrainingJob& job, const Layout& layout, WorkTables* tables)
      : job_(job), m_(job.model), layout_(layout), tables_(tables) {
    rows_ = m_.sequence * job.training.micro_batch;
    split_ = layout.sequence_parallel;
    local_rows_ = split_ ? rows_ / layout.tensor : rows_;
  }

  TorchModel Make() {
    TorchModel model;
    model.embedding = Embedding();
    model.block = Block();
    model.head = Head();
    return model;
  }

 private:
  Submodule Base(const std::string& name, SubmoduleKind kind, int64_t rows, int64_t n) const {
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

  TorchModule BothWays(const Submodule& s) {
    TorchModule module;
    module.name = s.name;
    module.forward = {Add(s, Pass::kForward)};
    module.backward = {Add(s, Pass::kBackward)};
    module.selectively_recomputed = true;
    return module;
  }

  // Gradients of both operands come from one autograd node, the input's first.
  TorchModule Linear(const std::string& name, int64_t n, int64_t k, bool bias) {
    Submodule s = Base(name, SubmoduleKind::kLinear, rows_, n);
    s.k = k;
    s.bias = bias;
    s.fused = bias;  // addmm
    TorchModule module;
    module.name = name;
    module.parameters = {n * k};
    if (bias) module.parameters.push_back(n);
    module.forward = {Add(s, Pass::kForward)};
    module.backward = {Add(s, Pass::kBackwardActivation), Add(s, Pass::kBackwardWeight)};
    return module;
  }

  TorchModule Column(const std::string& name, int64_t n, int64_t k, bool bias, bool first) {
    TorchModule module = Linear(name, n, k, bias);
    if (first && layout_.tensor > 1) {
      module.before = split_ ? Redistribution::kGather : Redistribution::kCopy;
    }
    return module;
  }

  Redistribution RowOutput() const {
    if (layout_.tensor == 1) return Redistribution::kNone;
    return split_ ? Redistribution::kScatter : Redistribution::kSum;
  }

  TorchModule Row(const std::string& name, int64_t n, int64_t k) {
    TorchModule module = Linear(name, n, k, m_.bias);
    module.after = RowOutput();
    return module;
  }

  // `joins`: the gradient of the residual that passes by the norm is added to its own.
  TorchModule Norm(const std::string& name, bool joins) {
    Submodule s = Base(name, SubmoduleKind::kNorm, local_rows_, m_.hidden);
    s.rms = m_.rms_norm;
    s.bias = !m_.rms_norm;
    s.fused = job_.training.fused_kernels;
    TorchModule module = BothWays(s);
    module.parameters = {m_.hidden};
    if (!m_.rms_norm) module.parameters.push_back(m_.hidden);
    module.partial_gradient = split_;
    if (joins) {
      module.backward.push_back(Add(
          Base("residual.gradient", SubmoduleKind::kAdd, local_rows_, m_.hidden), Pass::kBackward));
    }
    return module;
  }

  TorchModule Residual(const std::string& name) {
    Submodule s = Base(name, SubmoduleKind::kBiasDropoutAdd, local_rows_, m_.hidden);
    s.dropout = m_.dropout > 0;
    TorchModule module = BothWays(s);
    if (!s.dropout) module.backward.clear();  // the gradient goes both ways as it is
    return module;
  }

  TorchModule Attention() {
    Submodule s = Base("attention.core", SubmoduleKind::kAttention, 0, 0);
    s.batch = job_.training.micro_batch;
    s.sequence = m_.sequence;
    s.heads = m_.heads / layout_.tensor;
    s.kv_heads = m_.kv_heads / layout_.tensor;
    s.head_dim = m_.head_dim;
    s.causal = true;
    s.fused = job_.training.fused_kernels;
    s.dropout = m_.attention_dropout > 0;
    TorchModule module = BothWays(s);
    module.selectively_recomputed = false;
    return module;
  }

  void AttentionModules(std::vector<TorchModule>* modules) {
    const int64_t query = m_.query_width() / layout_.tensor, kv = m_.kv_width() / layout_.tensor;
    modules->push_back(Norm("attention.norm", true));
    modules->push_back(Column("attention.wq", query, m_.hidden, m_.qkv_bias, true));
    modules->push_back(Column("attention.wk", kv, m_.hidden, m_.qkv_bias, false));
    modules->push_back(Column("attention.wv", kv, m_.hidden, m_.qkv_bias, false));
    if (m_.positions == Positions::kRotary) {
      Submodule rotary = Base("attention.rotary", SubmoduleKind::kRotary, rows_, query + kv);
      rotary.fused = job_.training.fused_kernels;
      modules->push_back(BothWays(rotary));
    }
    modules->push_back(Attention());
    modules->push_back(Row("attention.wo", m_.hidden, query));
    modules->push_back(Residual("attention.residual"));
  }

  void MlpModules(std::vector<TorchModule>* modules) {
    const int64_t width = m_.ffn / layout_.tensor;
    modules->push_back(Norm("mlp.norm", true));
    modules->push_back(Column("mlp.w1", width, m_.hidden, m_.bias, true));
    if (m_.gated()) modules->push_back(Column("mlp.w3", width, m_.hidden, m_.bias, false));
    Submodule activation = Base("mlp.activation", SubmoduleKind::kActivation, rows_, width);
    activation.gated = m_.gated();
    modules->push_back(BothWays(activation));
    modules->push_back(Row("mlp.w2", m_.hidden, width));
    modules->push_back(Residual("mlp.residual"));
  }

  TorchGroup Block() {
    TorchGroup group;
    AttentionModules(&group.modules);
    MlpModules(&group.modules);
    int products = 0;
    for (TorchModule& module : group.modules) {
      if (tables_->submodule(module.forward[0]).kind != SubmoduleKind::kLinear) continue;
      module.selectively_recomputed = ++products % 2 == 0;
    }
    return group;
  }

  TorchGroup Embedding() {
    TorchGroup group;
    Submodule s = Base("embedding.words", SubmoduleKind::kEmbedding, rows_, m_.hidden);
    s.k = layout_.padded_vocab / layout_.tensor;
    TorchModule words = BothWays(s);
    words.parameters = {s.k * m_.hidden};
    words.after = RowOutput();
    group.modules.push_back(words);
    if (m_.learned_positions()) {
      TorchModule positions =
          BothWays(Base("embedding.positions", SubmoduleKind::kAdd, local_rows_, m_.hidden));
      positions.parameters = {m_.max_positions * m_.hidden};
      positions.partial_gradient = split_;
      group.modules.push_back(positions);
    }
    return group;
  }

  // Of logits split by the vocabulary: the largest, the sum of exponentials, the label's.
  std::vector<CommCall> LossCalls() const {
    std::vector<CommCall> calls;
    if (layout_.tensor == 1) return calls;
    for (const ReduceOp op : {ReduceOp::kMax, ReduceOp::kSum, ReduceOp::kSum}) {
      CommCall call;
      call.type = DataType::kFp32;
      call.op = op;
      call.count = rows_;
      call.group_size = layout_.tensor;
      calls.push_back(call);
    }
    return calls;
  }

  TorchGroup Head() {
    TorchGroup group;
    const int64_t vocab = layout_.padded_vocab / layout_.tensor;
    group.modules.push_back(Norm("head.norm", false));
    group.modules.push_back(Column("head.logits", vocab, m_.hidden, false, true));
    TorchModule loss = BothWays(Base("head.loss", SubmoduleKind::kCrossEntropy, rows_, vocab));
    loss.calls = LossCalls();
    group.modules.push_back(loss);
    return group;
  }

  const TrainingJob& job_;
  const ModelShape& m_;
  const Layout& layout_;
  WorkTables* tables_;
  int64_t rows_ = 0, local_rows_ = 0;
  bool split_ = false;
};

}  // namespace

int64_t TorchModule::elements() const {
  return std::accumulate(parameters.begin(), parameters.end(), int64_t{0});
}

int64_t TorchGroup::elements() const {
  int64_t total = 0;
  for (const TorchModule& module : modules) total += module.elements();
  return total;
}

TorchModel MakeTorchModel(const TrainingJob& job, const Layout& layout, WorkTables* tables) {
  return ModelMaker(job, layout, tables).Make();
}

}  // namespace drydock
