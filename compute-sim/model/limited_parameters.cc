#include "compute-sim/model/limited_parameters.h"

#include <algorithm>
#include <cmath>

namespace drydock {
namespace {

void Multiply(double factor, Bandwidth* rate) {
  *rate = Bandwidth::FromBytesPerSecond(rate->bytes_per_second() * factor);
}
void Multiply(double factor, FlopRate* rate) {
  *rate = FlopRate(rate->flops_per_second() * factor);
}
void Multiply(double factor, Time* time) { *time = Time::FromUs(time->us() * factor); }

template <typename Change>
void ForEachPass(AttentionParameters* library, Change change) {
  for (AttentionPass* pass :
       {&library->forward, &library->backward, &library->wide_forward, &library->wide_backward}) {
    change(pass);
  }
}

}  // namespace

FlopRate SustainedRate(const GemmParameters& set) {
  return FlopRate(set.tensor_rate.flops_per_second() / (1 + set.derate));
}

void SetSustainedRate(FlopRate sustained, GemmParameters* set) {
  const double derate = set->tensor_rate.flops_per_second() / sustained.flops_per_second() - 1;
  set->derate = std::max(derate, 1 / (1 + set->long_rows) - 1);
}

void ChangePower(double ratio, GemmParameters* set) {
  if (set->power_exponent == 0) return;
  const double rates = std::pow(ratio, set->power_exponent);
  SetSustainedRate(FlopRate(SustainedRate(*set).flops_per_second() * rates), set);
}

void ChangePower(double ratio, KernelParameters* parameters) {
  for (AttentionParameters& library : parameters->attention) {
    if (library.types.empty()) continue;
    const GemmParameters* set = parameters->GemmFor(library.types.front());
    if (set == nullptr || set->power_exponent == 0) continue;
    const double rates = std::pow(ratio, set->power_exponent);
    ForEachPass(&library, [rates](AttentionPass* pass) {
      pass->derate.time = std::max(0.0, (1 + pass->derate.time) / rates - 1);
      if (pass->derate.at.us() == 0) pass->derate.at = kSettling;
    });
  }
  for (GemmParameters& set : parameters->gemm) ChangePower(ratio, &set);
}

void LimitClock(double share, KernelParameters* parameters) {
  for (GemmParameters& set : parameters->gemm) {
    const FlopRate sustained = SustainedRate(set);
    Multiply(share, &set.tensor_rate);
    Multiply(share, &set.l2_to_sm);
    Multiply(1 / share, &set.tile_start);
    Multiply(1 / share, &set.tile_store);
    SetSustainedRate(sustained, &set);
  }
  for (AttentionParameters& library : parameters->attention) {
    ForEachPass(&library, [share](AttentionPass* pass) {
      Multiply(share, &pass->tensor_rate);
      pass->scores_per_ps *= share;
      Multiply(1 / share, &pass->block_start);
      if (pass->derate.time > 0) {
        pass->derate.time = std::max(0.0, (1 + pass->derate.time) * share - 1);
      }
    });
  }
  Multiply(share, &parameters->memory.l2);
}

}  // namespace drydock
