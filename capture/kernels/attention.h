// Fused attention of a captured program in compute-sim's terms.
#ifndef DRYDOCK_CAPTURE_KERNELS_ATTENTION_H_
#define DRYDOCK_CAPTURE_KERNELS_ATTENTION_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "capture/kernels/operator.h"
#include "core/model/submodule.h"

namespace drydock::capture {

// Returns which library's kernels an operator of fused attention runs
// (core/model/attention_backend.h), or null for another operator.
const char* AttentionBackendOf(std::string_view name);
bool IsAttention(std::string_view name);

// Returns the submodules that stand for an operator of fused attention, without names. No model
// knows it in fp32 and fp64: these are its products, and FlopsAndBytes. None if its arguments are
// not understood. REQUIRES: IsAttention(range.name).
std::vector<Submodule> AttentionSubmodules(const OperatorRange& range);

// Reads the words of a kAttention entry: fused attention of cuDNN's.
Submodule LoggedAttention(std::span<const int64_t> words);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_KERNELS_ATTENTION_H_
