// The library that picks the kernels of fused attention if a job names no kernels. A workload's
// manifest states the library, and a GPU's kernel parameters have an entry for each.
#ifndef DRYDOCK_CORE_MODEL_ATTENTION_BACKEND_H_
#define DRYDOCK_CORE_MODEL_ATTENTION_BACKEND_H_

namespace drydock {

inline constexpr const char* kAttentionByTransformerEngine = "transformer-engine";
// Transformer Engine's, restricted to one family of kernels; a GPU without measured kernels of the
// family has the kernels that Transformer Engine picks.
inline constexpr const char* kAttentionByFlash = "flash";
inline constexpr const char* kAttentionByCudnn = "cudnn";
inline constexpr const char* kAttentionByPytorch = "pytorch";  // scaled_dot_product_attention

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_ATTENTION_BACKEND_H_
