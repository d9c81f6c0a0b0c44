#include "compute-sim/fit/fit_variables.h"

#include <algorithm>
#include <cmath>

namespace drydock {
namespace {

FitVariable Of(double* value, double low, double high, bool logarithmic = true) {
  return {[value] { return *value; }, [value](double x) { *value = x; }, low, high, logarithmic};
}
FitVariable Of(Time* time, double low_us, double high_us) {
  return {[time] { return time->us(); }, [time](double us) { *time = Time::FromUs(us); }, low_us,
          high_us};
}
FitVariable LaunchOf(Time* time, double low_us, double high_us) {
  FitVariable variable = Of(time, low_us, high_us);
  variable.launch = true;
  return variable;
}
FitVariable Of(Bandwidth* rate, double low, double high) {
  return {[rate] { return rate->bytes_per_second(); },
          [rate](double x) { *rate = Bandwidth::FromBytesPerSecond(x); }, low, high};
}
FitVariable Of(FlopRate* rate, double low, double high) {
  return {[rate] { return rate->flops_per_second(); }, [rate](double x) { *rate = FlopRate(x); },
          low, high};
}

}  // namespace

double FitVariable::Get() const {
  const double value = std::clamp(read(), low, high);
  double share =
      logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  share = std::clamp(share, 0.001, 0.999);  // the ends of the range map to infinity
  return std::log(share / (1 - share));
}

void FitVariable::Set(double at) const {
  const double share = 1 / (1 + std::exp(-at));
  write(logarithmic ? low * std::pow(high / low, share) : low + (high - low) * share);
}

FitVariable DerateVariable(GemmParameters* set) { return Of(&set->derate, 0.005, 0.4); }

std::vector<FitVariable> GemmVariables(const GpuSpec& spec, GemmParameters* set) {
  const double dense = spec.RateOf(set->types.front()).flops_per_second();
  const double hbm = spec.memory_bandwidth.bytes_per_second();
  const double l2 = set->l2_to_sm.bytes_per_second();
  std::vector<FitVariable> variables = {Of(&set->tensor_rate, 0.4 * dense, dense),
                                        Of(&set->memory, 0.4 * hbm, hbm),
                                        Of(&set->l2_to_sm, l2 / 8, l2 * 8),
                                        LaunchOf(&set->launch, 0.5, 10),
                                        Of(&set->tile_start, 0.02, 10),
                                        Of(&set->tile_store, 0.1, 20),
                                        Of(&set->persistence, 0, 1, false),
                                        Of(&set->overlap, 1, 8),
                                        Of(&set->split_sync, 0.1, 20),
                                        DerateVariable(set),
                                        Of(&set->derate_at, 50, 20000),
                                        Of(&set->l2_warm, 0.05, 2)};
  // A GPU whose main loop does not slow down with long rows keeps long_rows at 0.
  if (set->long_rows > 0) variables.push_back(Of(&set->long_rows, 0.01, 0.5));
  return variables;
}

std::vector<FitVariable> AttentionVariables(const GpuSpec& spec, DataType type,
                                            AttentionPass* pass) {
  const double dense = spec.RateOf(type).flops_per_second();
  const double stated = pass->tensor_rate.flops_per_second();
  const double rate = dense > 0 ? std::min(stated, dense) : stated;
  const double most = dense > 0 ? std::min(rate * 6, dense) : rate * 6;
  std::vector<FitVariable> variables = {
      Of(&pass->tensor_rate, rate / 6, most), LaunchOf(&pass->launch, 0.5, 40),
      Of(&pass->scores_per_ps, pass->scores_per_ps / 20, pass->scores_per_ps * 20),
      Of(&pass->block_start, 0.02, 40)};
  // A pass without serial work keeps serial_passes at 0.
  if (pass->serial_passes > 0) variables.push_back(Of(&pass->serial_passes, 0.5, 40, true));
  return variables;
}

std::vector<FitVariable> MemoryVariables(const GpuSpec& spec, MemoryParameters* memory) {
  const double hbm = spec.memory_bandwidth.bytes_per_second();
  return {Of(&memory->hbm, 0.3 * hbm, hbm), LaunchOf(&memory->launch, 0.3, 20),
          Of(&memory->l2, 0.5 * hbm, 20 * hbm), Of(&memory->l2_share, 0.05, 1)};
}

std::vector<FitVariable> QuantizeVariables(QuantizeStage* stage) {
  return {Of(&stage->bytes, 1, 20), LaunchOf(&stage->launch, 0.5, 40)};
}

}  // namespace drydock
