#include "workload-gen/work/sparse_work.h"

#include <algorithm>

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

  submodule::SparseWork Shape(int64_t heads, int64_t head_dim) const {
    return {.rows = rows_,
            .keys = m_.attended(),
            .heads = heads,
            .head_dim = head_dim,
            .top_k = sparse_.top_k,
            .fused = kernels_ != SparseKernels::kUnfused,
            .tilelang = kernels_ == SparseKernels::kTileLang};
  }

  void MakeCore() {
    const bool picked_only = sparse_.loss == IndexLoss::kSparse;
    work_.index = maker_.ForwardBackward(
        "attention.index",
        submodule::SparseIndex{Shape(sparse_.heads, sparse_.head_dim), picked_only});
    work_.attention = maker_.ForwardBackward(
        "attention.core", submodule::SparseAttention{Shape(heads_, key_width()), latent_.kv_rank});
    work_.keys = rows_ * key_width();
    work_.index_keys = rows_ * sparse_.head_dim;
    if (sparse_.loss == IndexLoss::kNone) return;
    work_.target = maker_.ForwardBackward(
        "attention.index-target", submodule::SparseTarget{Shape(heads_, key_width()), picked_only});
    const bool fused = kernels_ != SparseKernels::kUnfused;
    const int64_t places =
        fused && picked_only ? std::min(sparse_.top_k, m_.attended()) : m_.attended();
    work_.target_count = rows_ * places;
    work_.target_again = !fused;
    work_.gradients_early = kernels_ == SparseKernels::kCudnn;
  }

  int64_t key_width() const { return latent_.kv_rank + latent_.rope_dim; }

  SubmoduleMaker& maker_;
  const ModelShape& m_;
  const LatentAttention& latent_;
  const SparseShape& sparse_;
  const SparseKernels kernels_;
  const int64_t heads_, rows_;
  SparseCoreWork work_;
};

}  // namespace

SparseCoreWork MakeSparseCore(SubmoduleMaker* maker) { return SparseMaker(maker).Make(); }

}  // namespace drydock
