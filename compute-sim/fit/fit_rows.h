// The rows of a fit: which rows are fitted, and how far predictions are from them.
#ifndef DRYDOCK_COMPUTE_SIM_FIT_FIT_ROWS_H_
#define DRYDOCK_COMPUTE_SIM_FIT_FIT_ROWS_H_

#include <functional>
#include <vector>

#include "compute-sim/fit/fit.h"

namespace drydock {

struct FitRow {
  Kernel kernel;
  double us = 0;
  KernelParameters::Clocks clocks = KernelParameters::Clocks::kSustained;  // Profile::clocks
  bool quantized = false;                                                  // Profile::quantized
  double weight = 1;                                                       // FitWeights
};

// All rows of the kinds and types, in the order of profiles and tables.
std::vector<FitRow> RowsOf(const std::vector<ProfilePtr>& profiles, const FitWeights& weights,
                           const std::function<bool(KernelKind, DataType)>& wanted);
// True for half of all extents. Depends on the extents only, not on the file.
bool IsFitted(const Kernel& kernel);
std::vector<FitRow> Half(const std::vector<FitRow>& rows, bool fitted);
// At most `most` rows, taken at even distances; half of them have weight 1 if there are enough.
std::vector<FitRow> Thinned(const std::vector<FitRow>& rows, size_t most);

// The number of distinct kernels (kind, type, extents): the most parameters that the rows
// determine.
size_t CountShapes(const std::vector<FitRow>& rows);

// Predicts the time of a row, in microseconds, under the conditions of its measurement.
using RowPredictor = std::function<double(const FitRow&)>;
Residuals ResidualsOf(const std::string& what, const std::vector<FitRow>& rows,
                      const RowPredictor& predict);
// The loss that a fit minimizes: the weighted mean of |log(predicted / measured)|, plus
// `sum_weight` times |log| of the ratio of the weighted sums.
double LossOf(const std::vector<FitRow>& rows, double sum_weight, const RowPredictor& predict);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_FIT_FIT_ROWS_H_
