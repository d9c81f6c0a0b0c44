// Fits the parameters of a GPU's kernel models (kernel_parameters.h) to measured rows. Half of the
// rows, chosen by their extents alone, are fitted; errors are stated for the other half.
#ifndef DRYDOCK_COMPUTE_SIM_FIT_FIT_H_
#define DRYDOCK_COMPUTE_SIM_FIT_FIT_H_

#include <string>
#include <vector>

#include "compute-sim/fit/fit_weights.h"
#include "compute-sim/model/gpu_data.h"

namespace drydock {

// The start of a fit: the GPU's own parameters, or else the scaled parameters of its reference
// (scaled_parameters.h), with the errors that scaling is known to make.
Result<KernelParameters> StartingParameters(const GpuData& gpu, const GpuData* reference);

// The errors of predictions over a set of rows.
struct Residuals {
  std::string what;  // "gemm bf16, fitted half"
  int64_t rows = 0;
  double mean = 0, p95 = 0;  // of |predicted / measured - 1|
  double sum = 0;            // sum of predicted / sum of measured - 1
};

struct FitOptions {
  FitWeights weights;
  int evaluations = 1500;  // of each set of parameters
  size_t max_rows = 600;   // of each fit; more rows are thinned evenly
};

struct FitResult {
  KernelParameters parameters;
  // For each kernel and type that has rows: the fitted half and the other half, or all rows if no
  // fit used them.
  std::vector<Residuals> residuals;
  std::vector<std::string> kept;  // sets without rows, which did not change
  // For each set with rows that did not change, or of which only the rate changed: the reason.
  std::vector<std::string> notes;
};

// `gpu.parameters` is the start; `gpu.profiles` has the rows. A fit of a set needs more rows than
// it has parameters: it changes all parameters of the set, or else its rate alone, or else nothing.
// An error with every reason if nothing can change.
Result<FitResult> Fit(GpuData gpu, const FitOptions& options);

// "gemm bf16, other half     17850 rows  mean 6.1 %  p95 18.3 %  sum -0.4 %".
std::string ToString(const Residuals& residuals);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_FIT_FIT_H_
