#include "workload-gen/work/attention_work.h"

#include <algorithm>

#include "core/model/sparse_shapes.h"
#include "workload-gen/work/adapter_work.h"

namespace drydock {
namespace {

class SparseMaker {
 public:
  explicit SparseMaker(SubmoduleMaker* maker)
      : maker_(*maker),
        m_(maker->model()),
        latent_(m_.attention.latent),
        sparse_(m_.attention.sparse),
        kernels_(maker->job().training.kernels.sparse_attention),
        heads_(m_.attention.heads / maker->layout().tensor),
        rows_(maker->rows()) {}

  SparseCoreWork Make() {
    MakeAbsorbed();
    MakeIndexer();
    MakeCore();
    return work_;
  }

 private:
  // Products of the heads of an einsum, which PyTorch runs in 16 bits as one kernel. Its gradients
  // of the weight are written and added up afterwards.
  LinearWork OfHeads(const char* name, int64_t n, int64_t k) {
    const auto add = [&](Pass pass) {
      return maker_.Add(
          {.name = name,
           .pass = pass,
           .type = maker_.job().training.precision.type,
           .work = submodule::GroupedLinear{
               .rows = rows_ * heads_, .n = n, .k = k, .experts = heads_, .one_kernel = true}});
    };
    LinearWork linear;
    linear.forward = add(Pass::kForward);
    linear.activation_gradient = add(Pass::kBackwardActivation);
    linear.weight_gradient = add(Pass::kBackwardWeight);
    return linear;
  }

  ForwardBackwardWork Copy(const char* name, int64_t width) {
    return maker_.ForwardBackward(name, submodule::Add{.rows = rows_, .n = width, .summands = 1});
  }

  void MakeAbsorbed() {
    work_.absorb = OfHeads("attention.absorb", latent_.kv_rank, latent_.nope_dim);
    work_.value_up = OfHeads("attention.value-up", latent_.value_dim, latent_.kv_rank);
    // The product of each head is copied beside those of the other heads; queries and keys are
    // joined with their rotated parts.
    work_.join = Copy("attention.join", heads_ * latent_.kv_rank + (heads_ + 1) * key_width());
    work_.value_join = Copy("attention.value-join", heads_ * latent_.value_dim);
    const bool fp32 = maker_.job().training.precision.gradients == DataType::kFp32;
    work_.accumulate =
        maker_.Add("attention.kv-up-accumulate",
                   submodule::Add{.rows = heads_ * (latent_.nope_dim + latent_.value_dim),
                                  .n = latent_.kv_rank,
                                  .accumulate_fp32 = fp32},
                   Pass::kBackwardWeight);
  }

  void MakeIndexer() {
    const int64_t width = latent_.q_rank > 0 ? latent_.q_rank : m_.hidden;
    const int64_t all = (sparse_.heads + 1) * sparse_.head_dim;
    work_.index_q = maker_.Linear("attention.index-q", rows_, sparse_.query_width(), width, false);
    work_.index_k = maker_.Linear("attention.index-k", rows_, sparse_.head_dim, m_.hidden, false);
    work_.index_weights =
        maker_.Linear("attention.index-weights", rows_, sparse_.heads, m_.hidden, false);
    work_.index_norm = maker_.ForwardBackward(
        "attention.index-norm", submodule::Norm{.rows = rows_,
                                                .n = sparse_.head_dim,
                                                .fused = maker_.job().training.kernels.fused,
                                                .bias = true});
    work_.index_rotary = maker_.ForwardBackward(
        "attention.index-rotary",
        submodule::Rotary{.rows = rows_, .n = (sparse_.heads + 1) * latent_.rope_dim});
    work_.index_join = Copy("attention.index-join", all);
    work_.index_transform = Copy("attention.index-transform", all);  // Hadamard's
    work_.index_scale = Copy("attention.index-scale", 2 * sparse_.heads);
  }

  // Kernels see packed samples as one sequence, and masks or bounds of the rows keep a query to its
  // sample. Only cuDNN's kernels of context-parallel slices take the samples apart
  // (_indexer_topk_multi_packed_cp_thd of dsa_cudnn_kernels.py).
  submodule::SparseWork Shape(int64_t heads, int64_t head_dim) const {
    const bool apart = kernels_ == SparseKernels::kCudnn && maker_.layout().context > 1;
    const int64_t micro = maker_.job().training.batch.micro, samples = m_.samples();
    return {.rows = rows_,
            .keys = apart ? m_.attended() : m_.sequence,
            .heads = heads,
            .head_dim = head_dim,
            .top_k = sparse_.top_k,
            .batch = apart ? micro * samples : micro,
            .samples = apart || samples == 1 ? 0 : samples,
            .fused = kernels_ != SparseKernels::kUnfused,
            .tilelang = kernels_ == SparseKernels::kTileLang};
  }

  void MakeCore() {
    const bool picked_only = sparse_.loss == IndexLoss::kSparse;
    submodule::SparseIndex index = {Shape(sparse_.heads, sparse_.head_dim), picked_only,
                                    by_heads(sparse_.loss)};
    work_.index = maker_.ForwardBackward("attention.index", index);
    const RecomputeRules& rules = maker_.job().training.recompute;
    const bool repeats = rules.granularity == Recompute::kFull || rules.modules.core_attention;
    work_.unlearned_index = work_.index.forward;
    if (repeats && by_heads(IndexLoss::kNone) != index.by_heads) {
      index.by_heads = by_heads(IndexLoss::kNone);
      work_.unlearned_index = maker_.Add("attention.index", index, Pass::kForward);
    }
    work_.attention = maker_.ForwardBackward(
        "attention.core",
        submodule::SparseAttention{Shape(heads_, key_width()), latent_.kv_rank, skips_rows()});
    work_.skips_rows = skips_rows();
    work_.keys = rows_ * key_width();
    work_.index_keys = rows_ * sparse_.head_dim;
    if (sparse_.loss == IndexLoss::kNone) return;
    work_.target = maker_.ForwardBackward(
        "attention.index-target", submodule::SparseTarget{Shape(heads_, key_width()), picked_only});
    const bool fused = kernels_ != SparseKernels::kUnfused;
    const int64_t places =
        fused && picked_only ? std::min(sparse_.top_k, m_.sequence) : m_.sequence;
    work_.target_count = rows_ * places;
    work_.target_again = !fused;
    work_.gradients_early = kernels_ == SparseKernels::kCudnn;
  }

  // Before cuDNN's backward, Megatron-LM leaves out the rows that picked no key, except of the
  // slices of packed samples.
  bool skips_rows() const {
    const bool slices = packed() && maker_.layout().context > 1;
    return kernels_ == SparseKernels::kCudnn && !slices;
  }
  // Megatron-LM calls cuDNN's kernel of scores for queries and keys of one whole sequence if their
  // scores fit one piece, or if the loss needs them all, and for the slices of packed samples.
  bool by_heads(IndexLoss loss) const {
    if (kernels_ != SparseKernels::kCudnn) return false;
    if (maker_.layout().context > 1) return !packed();
    if (packed()) return true;
    return loss != IndexLoss::kDense && ScoreChunks(Shape(sparse_.heads, sparse_.head_dim)) > 1;
  }

  // The sequence is in the packed format, be it of one sample.
  bool packed() const { return m_.sample_length > 0; }

  int64_t key_width() const { return latent_.kv_rank + latent_.rope_dim; }

  SubmoduleMaker& maker_;
  const ModelShape& m_;
  const LatentAttention& latent_;
  const SparseShape& sparse_;
  const SparseKernels kernels_;
  const int64_t heads_, rows_;
  SparseCoreWork work_;
};

class AttentionMaker {
 public:
  AttentionMaker(SubmoduleMaker* maker, const LayerParts& parts)
      : maker_(*maker),
        m_(maker->model()),
        layout_(maker->layout()),
        tensor_(maker->layout().tensor),
        windowed_(parts.window && m_.attention.window < m_.attended()),
        rotates_(parts.rotates) {}

  AttentionWork Make() {
    if (m_.pre_norms) {
      work_.norm = maker_.Norm("attention.norm", maker_.local_rows(), m_.hidden);
    }
    if (m_.attention.is_latent())
      MakeLatent();
    else
      MakeStandard();
    if (m_.attention.is_sparse())
      work_.sparse = SparseMaker(&maker_).Make();
    else
      MakeCore();
    if (m_.attention.gate) {
      // The sigmoid of the gate times the output.
      work_.gate = maker_.ForwardBackward(
          "attention.gate",
          submodule::Activation{
              .rows = maker_.rows(), .n = m_.attention.value_width() / tensor_, .gated = true});
    }
    const LinearPartScope part(&maker_, &LinearParts::proj);
    work_.proj = maker_.OverlappedRowLinear("attention.proj", maker_.rows(), m_.hidden,
                                            m_.attention.value_width() / tensor_,
                                            maker_.job().overlap.scatter_proj);
    if (m_.post_norms) {
      work_.post_norm = maker_.Norm("attention.post-norm", maker_.local_rows(), m_.hidden);
    }
    if (m_.lora.targets.proj) {
      work_.proj.adapter = MakeAdapter(
          &maker_, "attention.proj",
          {LinearSplit::kRows, maker_.rows(), m_.hidden, m_.attention.value_width() / tensor_});
    }
    work_.residual = maker_.Residual("attention.residual");
    return work_;
  }

 private:
  // Returns the number of key heads on this rank. Ranks share a head if there are more ranks than
  // heads.
  int64_t KeyHeads() const {
    return std::max(
        int64_t{1},
        (m_.attention.is_latent() ? m_.attention.heads : m_.attention.kv_heads) / tensor_);
  }

  void MakeStandard() {
    const int64_t width = m_.attention.qkv_width();
    const LinearPartScope part(&maker_, &LinearParts::qkv);
    work_.qkv = maker_.OverlappedColumnLinear("attention.qkv", maker_.rows(), width / tensor_,
                                              m_.hidden, m_.attention.qkv_bias,
                                              !m_.pre_norms         ? InputFrom::kElsewhere
                                              : m_.lora.targets.qkv ? InputFrom::kNormForAdapter
                                                                    : InputFrom::kNorm);
    if (m_.lora.targets.qkv) {
      work_.qkv.adapter =
          MakeAdapter(&maker_, "attention.qkv",
                      {LinearSplit::kColumns, maker_.rows(), width / tensor_, m_.hidden});
    }
    if (m_.attention.kv_heads < tensor_) work_.gathered_width = width;
    // Llama 4 normalizes what it rotates.
    const bool weightless = m_.attention.qk_norm_kind == QkNormKind::kWeightless;
    if (m_.attention.qk_norm && (rotates_ || !weightless)) MakeHeadNorms();
    if (rotates_) {
      MakeRotary(m_.attention.query_width() / tensor_ + KeyHeads() * m_.attention.head_dim);
    }
  }

  void MakeHeadNorms() {
    const int64_t heads = m_.attention.heads / tensor_, width = m_.attention.head_dim;
    work_.whole_norms = m_.attention.qk_norm_kind == QkNormKind::kWhole;
    const auto norm = [&](const char* name, int64_t count) {
      return work_.whole_norms ? maker_.Norm(name, maker_.rows(), count * width)
                               : maker_.Norm(name, maker_.rows() * count, width);
    };
    work_.q_norm = norm("attention.q-norm", heads);
    work_.k_norm = norm("attention.k-norm", KeyHeads());
  }

  // Transformer Engine's kernel does not scale, so Megatron-Core leaves it out with a factor of
  // YaRN (apply_rotary_pos_emb of rope_utils.py). Latent attention has kernels that do.
  void MakeRotary(int64_t width) {
    const KernelRules& kernels = maker_.job().training.kernels;
    const bool scaled = m_.embedding.positions == Positions::kYarn && !m_.attention.is_latent();
    const bool separate = scaled || m_.attention.is_sparse();
    work_.rotary = maker_.ForwardBackward(
        "attention.rotary",
        submodule::Rotary{.rows = maker_.rows(),
                          .n = width,
                          .fused = kernels.fused && kernels.rope_fusion && !separate});
  }

  void MakeLatent() {
    const LatentAttention& shape = m_.attention.latent;
    const int64_t rows = maker_.rows(), local = maker_.local_rows();
    const int64_t heads = m_.attention.heads / tensor_;
    LatentWork latent;
    if (shape.q_rank > 0) {
      latent.q_down = maker_.Linear("attention.q-down", local, shape.q_rank, m_.hidden, false);
      latent.q_norm = maker_.Norm("attention.q-norm", local, shape.q_rank);
    }
    // Else the norm is a separate module: that of the layer, or one that an indexer reads, too.
    const bool narrow = shape.q_rank > 0 && !m_.attention.is_sparse();
    latent.q_up = maker_.ColumnLinear("attention.q-up", rows, m_.attention.query_width() / tensor_,
                                      shape.q_rank > 0 ? shape.q_rank : m_.hidden, false,
                                      narrow ? InputFrom::kNorm : InputFrom::kElsewhere);
    latent.kv_down =
        maker_.Linear("attention.kv-down", local, shape.kv_rank + shape.rope_dim, m_.hidden, false);
    latent.kv_norm = maker_.Norm("attention.kv-norm", local, shape.kv_rank);
    work_.latent = latent;
    if (m_.attention.is_sparse()) return MakeRotary((heads + 1) * shape.rope_dim);
    latent.kv_up =
        maker_.ColumnLinear("attention.kv-up", rows, heads * (shape.nope_dim + shape.value_dim),
                            shape.kv_rank, false, InputFrom::kNorm);
    work_.latent = latent;
    // Queries rotate in place; keys are joined with their rotated part, values beside them.
    MakeRotary(heads * (shape.rope_dim + m_.attention.head_dim + shape.value_dim));
  }

  submodule::Attention Core() const {
    submodule::Attention s;
    s.batch = maker_.job().training.batch.micro * m_.samples();
    s.sequence = m_.attended();
    s.heads = m_.attention.heads / tensor_;
    s.kv_heads = KeyHeads();
    s.head_dim = m_.attention.head_dim;
    if (m_.attention.value_dim() != m_.attention.head_dim) s.value_dim = m_.attention.value_dim();
    s.causal = m_.attention.causal;
    s.fused = maker_.job().training.fused_attention();
    s.dropout = m_.attention.dropout > 0;
    s.plain_softmax = !s.fused && !maker_.job().training.kernels.softmax_fusion;
    if (windowed_) LimitToWindow(&s);
    return s;
  }

  // Replaces the causal mask by the mean number of keys that a query sees in the window.
  void LimitToWindow(submodule::Attention* s) const {
    const double seen = m_.attention.KeysSeen(m_.attended(), /*windowed=*/true, /*halved=*/true);
    s->causal = false;
    s->kv_sequence = std::max(int64_t{1}, static_cast<int64_t>(seen + 0.5));
  }

  void MakeCore() {
    CoreWork& core = work_.core;
    const int64_t rows = maker_.rows();
    core.queries = rows * m_.attention.query_width() / tensor_;
    core.keys = rows * KeyHeads() * m_.attention.head_dim;
    core.values = rows * KeyHeads() * m_.attention.value_dim();
    core.outputs = rows * m_.attention.value_width() / tensor_;
    core.type = maker_.job().training.precision.type;
    if (maker_.quantizes() && maker_.job().training.precision.fp8_attention) MakeFp8Core();
    submodule::Attention s = Core();
    if (layout_.context > 1) SplitCore(&s);
    core.first = CoreStep("attention.core", s);
  }

  // FusedAttnFunc of Transformer Engine quantizes queries, keys and values one by one. Delayed
  // scaling takes the scales of earlier steps, and its output is fp8; tensorwise scaling searches
  // each operand for its largest value, and its output and gradients have 16 bits
  // (NVTE_DPA_FP8CS_O_in_F16).
  void MakeFp8Core() {
    CoreWork& core = work_.core;
    core.type = DataType::kFp8;
    core.fp8 = Fp8CoreWork{
        Fp8Cast(core.queries, /*forward=*/true), Fp8Cast(core.keys, /*forward=*/true),
        Fp8Cast(core.values, /*forward=*/true), Fp8Cast(core.outputs, /*forward=*/false)};
  }

  // `forward`: quantized forward, and its gradient cast to 16 bits backward; else the other way. A
  // cast moves as many bytes as a quantization without search.
  ForwardBackwardWork Fp8Cast(int64_t elements, bool forward) {
    const bool searches = !maker_.job().training.precision.delayed_scaling();
    const int64_t rows = maker_.rows();
    const auto cast = [&](Pass pass, bool quantizes) {
      return maker_.Quantize("attention.core-cast", rows, elements / rows, quantizes && searches,
                             /*parts=*/false, pass);
    };
    return {cast(Pass::kForward, forward), cast(Pass::kBackward, !forward)};
  }

  ForwardBackwardWork CoreStep(const std::string& name, const submodule::Attention& s) {
    const auto add = [&](Pass pass) {
      return maker_.Add({.name = name, .pass = pass, .type = work_.core.type, .work = s});
    };
    return {add(Pass::kForward), add(Pass::kBackward)};
  }

  void SplitCore(submodule::Attention* s) {
    const int64_t context = layout_.context;
    if (maker_.job().training.framework == FrameworkKind::kFsdp) return MakeTorchRing(s);
    switch (maker_.job().parallel.context_type) {
      case ContextType::kAllToAll:
        s->heads /= context;
        s->kv_heads /= context;
        return;
      case ContextType::kAllGather:
        s->sequence = m_.attended() / (2 * context);
        // Chunks r and 2 CP - 1 - r see r + 1 and 2 CP - r chunks of keys: 2 CP + 1 in all.
        if (!windowed_) {
          s->kv_sequence =
              m_.attention.causal ? (2 * context + 1) * s->sequence / 2 : m_.attended();
        }
        return;
      case ContextType::kHeadsAndRing:
        s->heads /= layout_.context_heads;
        s->kv_heads /= layout_.context_heads;
        return MakeRing(s);
      case ContextType::kP2p:
        return MakeRing(s);
    }
  }

  // With a causal mask, each later step computes half of the scores of a rank's queries and another
  // rank's keys.
  void MakeRing(submodule::Attention* s) {
    s->sequence = m_.attended() / layout_.context_ring();
    submodule::Attention other = *s;
    other.causal = false;
    if (m_.attention.causal) other.kv_sequence = s->sequence / 2;
    CoreWork& core = work_.core;
    core.other = CoreStep("attention.core-step", other);
    core.scale_output = Merge(core.outputs, 1, Pass::kForward);
    core.merge_output = Merge(core.outputs, 2, Pass::kForward);
    core.copy_queries = Merge(core.queries, 1, Pass::kBackward);
    core.merge_queries = Merge(core.queries, 2, Pass::kBackward);
    core.merge_gradient = Merge(core.keys + core.values, 2, Pass::kBackward);
  }

  // torch/distributed/tensor/experimental/_attention.py. In either form, the steps are those of a
  // ring. torch.compile makes one kernel of the operators between two steps.
  void MakeTorchRing(submodule::Attention* s) {
    CoreWork& core = work_.core;
    const bool repeats = s->kv_heads < s->heads;
    s->kv_heads = s->heads;
    core.keys = maker_.rows() * s->heads * m_.attention.head_dim;
    core.values = maker_.rows() * s->heads * m_.attention.value_dim();
    s->sequence = m_.sequence / layout_.context;
    submodule::Attention other = *s;
    other.causal = false;
    if (m_.attention.causal) other.kv_sequence = s->sequence / 2;
    core.other = CoreStep("attention.core-step", other);
    const int64_t keys = core.keys + core.values;
    TorchRingWork ring;
    if (repeats) {
      ring.repeat = {Merge(keys, 1, Pass::kForward), Merge(keys, 1, Pass::kBackward)};
    }
    ring.pack = Merge(keys, 1, Pass::kForward);
    // An element in fp32 counts as two of 16 bits. A cast reads one kind and writes the other; a
    // merge reads a step's result, and reads and writes the sum.
    constexpr int64_t kCast = 2, kMerge = 4;
    ring.first_output = Merge(core.outputs, kCast, Pass::kForward);
    ring.merge_output = Merge(core.outputs, kMerge, Pass::kForward);
    ring.last_output = Merge(core.outputs, kCast, Pass::kForward);
    ring.merge_queries = Merge(core.queries, kMerge, Pass::kBackward);
    ring.merge_keys = Merge(keys, kMerge, Pass::kBackward);
    ring.last_gradients = Merge(core.queries + keys, kCast, Pass::kBackward);
    core.torch = ring;
  }

  // Copies or scales `elements` elements of one step on this rank, or adds those of two steps.
  uint32_t Merge(int64_t elements, int64_t summands, Pass pass) {
    const int64_t rows = maker_.rows();
    return maker_.Add("attention.merge",
                      submodule::Add{.rows = rows, .n = elements / rows, .summands = summands},
                      pass);
  }

  SubmoduleMaker& maker_;
  const ModelShape& m_;
  const ParallelLayout& layout_;
  const int64_t tensor_;
  const bool windowed_, rotates_;
  AttentionWork work_;
};

}  // namespace

AttentionWork MakeAttention(SubmoduleMaker* maker, const LayerParts& parts) {
  return AttentionMaker(maker, parts).Make();
}

}  // namespace drydock
