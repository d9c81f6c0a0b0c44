#include "compute-sim/model/scaled_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute-sim/model/limited_parameters.h"
#include "compute-sim/model/scaling_facts.h"

namespace drydock {
namespace {

double Rate(const GpuSpec& gpu, DataType type) { return gpu.RateOf(type).flops_per_second(); }

void Multiply(double factor, Bandwidth* rate) {
  *rate = Bandwidth::FromBytesPerSecond(rate->bytes_per_second() * factor);
}
void Multiply(double factor, FlopRate* rate) {
  *rate = FlopRate(rate->flops_per_second() * factor);
}
void Multiply(double factor, Time* time) { *time = Time::FromUs(time->us() * factor); }

// The known differences between the GEMMs of two GPUs that the specifications do not contain.
struct Difference {
  ScalingFacts to, from;

  // The ratio of the shares of the dense rates that GEMMs reach. Where they are not published:
  // within an architecture 1, as the kernels are the same; between architectures that of the
  // nearest type, as a GPU whose 16-bit products fall short of the other's does not make up for it
  // in fp8.
  double ShareRatio(DataType type, DataType from_type) const {
    if (!KnowShares(to, type, from, from_type)) {
      return same_architecture ? 1 : NearestShareRatio(to, type, from);
    }
    return to.matmul_share[static_cast<size_t>(type)] /
           from.matmul_share[static_cast<size_t>(from_type)];
  }
  // If the schedules differ, the set gets persistence 0 or 1.
  void ChangeSchedule(GemmParameters* set) const {
    if (to.schedule == TileSchedule::kUnknown || from.schedule == TileSchedule::kUnknown) return;
    if (to.schedule != from.schedule) set->persistence = to.schedule == TileSchedule::kPersistent;
  }
  // Between architectures, a watt buys different rates.
  bool KnowPower() const { return same_architecture && to.power_limit > 0 && from.power_limit > 0; }
  // The ratio of the rates that the power limits sustain; 0 if it is not known.
  double PowerRatio(double exponent) const {
    if (!KnowPower() || exponent == 0) return 0;
    return std::pow(to.power_limit / from.power_limit, exponent);
  }
  // `sustained`: the sustained tensor rate of the other GPU. Arithmetic at the power limit has the
  // rate that the limit allows, which is at most that of short kernels.
  void ScalePower(FlopRate sustained, GemmParameters* set) const {
    const double ratio = PowerRatio(set->power_exponent);
    if (ratio == 0) return;
    SetSustainedRate(FlopRate(sustained.flops_per_second() * ratio), set);
  }
  // `dense`: the GPU's rate of the type; `sustained`: as ScalePower takes it. What its power limit
  // is known to leave comes before what the ratio of the limits says, unless hosts set the limit,
  // which can only lower it. Nothing sustains more than its short kernels have, so a stated rate
  // above theirs is theirs too.
  void StateSustained(DataType type, double dense, FlopRate sustained, GemmParameters* set) const {
    const double share = to.sustained_share[static_cast<size_t>(type)];
    if (share == 0) return;
    set->tensor_rate = std::max(set->tensor_rate, FlopRate(share * dense));
    double rate = share * dense * (1 + set->long_rows);
    const double ratio = limited ? PowerRatio(set->power_exponent) : 0;
    if (ratio > 0) rate = std::min(rate, sustained.flops_per_second() * ratio);
    SetSustainedRate(FlopRate(rate), set);
  }
  // The ratio of the exponentials of an SM in a cycle; 1 unless both are published.
  double ExponentialsRatio() const {
    if (to.exponentials == 0 || from.exponentials == 0) return 1;
    return to.exponentials / from.exponentials;
  }
  bool same_architecture = false;
  bool limited = false;  // to.power_limit is that of the hosts
};

// The ratios of two GPUs. `sm_clocks`: of SMs times clock, for work that does not use tensor cores.
struct Ratios {
  double flops, bandwidth, sm_clocks;
};

// The SMs of an H100 and an H200 write a tile in nearly the same time, although the H200's memory
// is 1.43 times as fast: a tile goes to L2.
void Scale(const Ratios& ratios, GemmParameters* set) {
  Multiply(ratios.flops, &set->tensor_rate);
  Multiply(ratios.flops, &set->l2_to_sm);
  Multiply(ratios.bandwidth, &set->memory);
  Multiply(1 / ratios.sm_clocks, &set->tile_start);
  Multiply(1 / ratios.sm_clocks, &set->tile_store);
}

// `power`: the ratio of the rates that the power limits sustain; 0: not known.
void Scale(double flops, double exponentials, double power, AttentionPass* pass) {
  Multiply(flops, &pass->tensor_rate);
  pass->scores_per_ps *= flops * exponentials;
  if (power == 0) return;
  pass->derate.time = std::max(0.0, (1 + pass->derate.time) * flops / power - 1);
  if (pass->derate.at.us() == 0) pass->derate.at = kSettling;
}

// Removes the types that only one GPU has. Returns the ratio of the rates of the first type that
// both have, or 0 if there is none.
double KeepCommon(const GpuSpec& to, const GpuSpec& from, std::vector<DataType>* types) {
  std::erase_if(*types,
                [&](DataType type) { return Rate(to, type) == 0 || Rate(from, type) == 0; });
  return types->empty() ? 0 : Rate(to, types->front()) / Rate(from, types->front());
}

// The ratio of the rates of a type for which both state a rate, 16 bits first; 0 if there is none.
double UsualRatio(const GpuSpec& to, const GpuSpec& from) {
  std::vector<DataType> types = {DataType::kFp16, DataType::kBf16};
  for (int t = 0; t < kDataTypeCount; ++t) types.push_back(static_cast<DataType>(t));
  return KeepCommon(to, from, &types);
}

// The ratio of SMs times clock. If a clock is not stated, the ratio of SMs.
double SmClocks(const GpuSpec& to, const GpuSpec& from) {
  const double sms = static_cast<double>(to.sms) / from.sms;
  if (to.clock_mhz == 0 || from.clock_mhz == 0) return sms;
  return sms * to.clock_mhz / from.clock_mhz;
}

void AddMissingTypes(const GpuSpec& to, const GpuSpec& from, const Difference& difference,
                     const Ratios& usual_ratios, const KernelParameters& original,
                     KernelParameters* p) {
  const GemmParameters* usual = original.GemmFor(DataType::kFp16);
  if (usual == nullptr || Rate(from, DataType::kFp16) == 0) return;
  for (int t = 0; t < kDataTypeCount; ++t) {
    const DataType type = static_cast<DataType>(t);
    if (Rate(to, type) == 0 || p->GemmFor(type) != nullptr) continue;
    // At the power limit, every type keeps the share of its rate that 16 bits keep.
    const GemmParameters* scaled = p->GemmFor(DataType::kFp16);
    const double derate = scaled == nullptr ? usual->derate : scaled->derate;
    GemmParameters& set = p->gemm.emplace_back(*usual);
    set.types = {type};
    set.derate = derate;
    // Operands come from L2 as fast as for any type; only the arithmetic depends on the type.
    Scale(usual_ratios, &set);
    set.tensor_rate = usual->tensor_rate;
    Multiply(
        Rate(to, type) / Rate(from, DataType::kFp16) * difference.ShareRatio(type, DataType::kFp16),
        &set.tensor_rate);
    difference.ChangeSchedule(&set);
    const double types = Rate(to, type) / Rate(to, DataType::kFp16);
    difference.StateSustained(type, Rate(to, type),
                              FlopRate(SustainedRate(*usual).flops_per_second() * types), &set);
  }
}

}  // namespace

Result<KernelParameters> ScaledParameters(const GpuSpec& to, const GpuSpec& from,
                                          const KernelParameters& parameters,
                                          const GpuLimits& limits) {
  const double usual_ratio = UsualRatio(to, from);
  if (usual_ratio == 0) {
    return Error(fmt::format("there is no type that both '{}' and its reference '{}' state a "
                             "'dense:' rate of",
                             to.name, from.name),
                 {to.file_name, 0, 0});
  }
  Difference difference;
  ASSIGN_OR_RETURN(difference.to, ReadScalingFacts(to.file_text, to.file_name));
  ASSIGN_OR_RETURN(difference.from, ReadScalingFacts(from.file_text, from.file_name));
  difference.same_architecture = to.architecture == from.architecture;
  if (parameters.power_limit > 0) difference.from.power_limit = parameters.power_limit;
  const double own_limit = difference.to.power_limit;
  difference.limited = limits.watts > 0 && difference.KnowPower();
  if (difference.limited) difference.to.power_limit = limits.watts;
  KernelParameters p = parameters;
  const double bandwidth =
      to.memory_bandwidth.bytes_per_second() / from.memory_bandwidth.bytes_per_second();
  const double sm_clocks = SmClocks(to, from);
  for (GemmParameters& set : p.gemm) {
    const FlopRate sustained = SustainedRate(set);
    Scale({KeepCommon(to, from, &set.types), bandwidth, sm_clocks}, &set);
    if (set.types.empty()) continue;
    Multiply(difference.ShareRatio(set.types.front(), set.types.front()), &set.tensor_rate);
    difference.ChangeSchedule(&set);
    difference.ScalePower(sustained, &set);
    difference.StateSustained(set.types.front(), Rate(to, set.types.front()), sustained, &set);
  }
  std::erase_if(p.gemm, [](const GemmParameters& set) { return set.types.empty(); });
  AddMissingTypes(to, from, difference, {usual_ratio, bandwidth, sm_clocks}, parameters, &p);
  for (AttentionParameters& library : p.attention) {
    const double flops = KeepCommon(to, from, &library.types);
    if (library.types.empty()) continue;
    // Where both power limits are known, they change the sustained rate of attention as that of the
    // GEMMs of its type, up to the rate of short kernels.
    const GemmParameters* gemm = parameters.GemmFor(library.types.front());
    const double power = gemm == nullptr ? 0 : difference.PowerRatio(gemm->power_exponent);
    for (AttentionPass* pass :
         {&library.forward, &library.backward, &library.wide_forward, &library.wide_backward}) {
      Scale(flops, difference.ExponentialsRatio(), power, pass);
    }
  }
  if (limits.watts > 0 && !difference.limited) {
    if (own_limit > 0) ChangePower(limits.watts / own_limit, &p);
  }
  p.power_limit = static_cast<int>(limits.watts > 0 ? limits.watts : own_limit);
  if (limits.mhz > 0 && to.clock_mhz > 0) {
    LimitClock(static_cast<double>(limits.mhz) / to.clock_mhz, &p);
  }
  // The errors of the other GPU's predictions do not hold for these predictions.
  for (GemmParameters& set : p.gemm) set.error = {};
  for (AttentionParameters& library : p.attention) library.error = {};
  p.memory.error = {};
  Multiply(bandwidth, &p.memory.hbm);
  Multiply(sm_clocks, &p.memory.l2);
  return p;
}

}  // namespace drydock
