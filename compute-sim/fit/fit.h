// Fits the parameters of a GPU's kernel models (kernel_parameters.h) to measured rows. Half of the
// rows, chosen by their extents alone, are fitted; the other half is what errors are stated of.
#ifndef DRYDOCK_COMPUTE_SIM_FIT_FIT_H_
#define DRYDOCK_COMPUTE_SIM_FIT_FIT_H_

#include <string>
#include <vector>

#include "compute-sim/model/compute_model.h"

namespace drydock {

// What it starts from: the GPU's own parameters, or, if it has none, those of its reference, scaled
// (scaled_parameters.h), with the errors that scaling was seen to make.
Result<KernelParameters> StartingParameters(const GpuData& gpu, const GpuData* reference);

// How far predictions are from a set of rows.
struct Residuals {
  std::string what;  // "gemm bf16, fitted half"
  int64_t rows = 0;
  double mean = 0, p95 = 0;  // of |predicted / measured - 1|
  double sum = 0;            // sum of predicted / sum of measured - 1
};

struct FitOptions {
  int evaluations = 1500;  // of each set of parameters
  size_t most_rows = 600;  // that a set is fitted to; more are thinned evenly
};

struct FitResult {
  KernelParameters parameters;
  // Of each kernel and type that has rows: the fitted and the other half; all rows where they took
  // no part in any fit.
  std::vector<Residuals> residuals;
  std::vector<std::string> kept;  // sets without rows, left as they were
  // Of each set with rows that did not move, or of which only the rate moved: why.
  std::vector<std::string> notes;
};

// `gpu.parameters` is the start; `gpu.profiles` has the rows. What moves is decided by more rows
// than it has parameters: all of a set, else its rate alone, else nothing. An error, with every
// reason, if nothing can move.
Result<FitResult> Fit(GpuData gpu, const FitOptions& options);

// "gemm bf16, other half     17850 rows  mean 6.1 %  p95 18.3 %  sum -0.4 %".
std::string ToString(const Residuals& residuals);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_FIT_FIT_H_
