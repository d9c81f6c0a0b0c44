// How unlike GPUs of one type are, and so how much longer the slowest of a run's takes. Chips
// differ in what they draw and boards in how they are cooled; under one power limit they settle at
// different clocks. Every rank of a training run waits for the slowest of all, in each
// tensor-parallel layer, for its pipeline's pace or at the gradients' sum, so an iteration takes
// what the slowest GPU's takes (docs/explanation/compute.md, "The slowest GPU").
//
// Plain functions; thread-safe.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_GPU_SPREAD_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_GPU_SPREAD_H_

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/model/gpu.h"

namespace drydock {

// The `spread:` section of a GPU's file: standard deviation of the rate of what tensor cores bound
// over GPUs of the type, as a share of their mean. Nothing if the file has none. Everything wrong
// is reported at once.
Result<std::optional<double>> ReadSpread(const std::string& file_text,
                                         const std::string& file_name);

// Of a cluster's GPU, which need not have the section: its own, or that of its reference, or 0.
Result<double> SpreadOf(const GpuSpec& spec);

// By how many standard deviations the slowest of `count` GPUs is slower than their mean, on
// average: the expected largest of so many normal draws, after Blom (1958), quantile (count - 3/8)
// / (count + 1/4); exact to 1 % from 5 on. 0 for none or one.
double SlowestOf(int count);

// Time of the slowest of `count` GPUs over that of their mean.
double SlowestTime(double spread, int count);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_GPU_SPREAD_H_
