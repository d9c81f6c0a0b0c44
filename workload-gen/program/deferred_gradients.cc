#include "workload-gen/program/deferred_gradients.h"

namespace drydock {

bool DeferredGradients::Take(uint32_t submodule, ProgramBuilder::OpId after) {
  if (collects_) kept_.emplace_back(submodule, after);
  return collects_;
}

void DeferredGradients::OnGradient(ParameterKind kind, int layer) {
  if (!collects_) return listener_.OnGradient(kind, layer);
  gradients_.emplace_back(kind, layer);
}

void DeferredGradients::Write() {
  collects_ = false;
  for (const auto& [submodule, after] : std::exchange(kept_, {})) {
    builder_.Wait(after);
    builder_.Compute(submodule);
  }
  for (const auto& [kind, layer] : std::exchange(gradients_, {})) {
    listener_.OnGradient(kind, layer);
  }
}

}  // namespace drydock
