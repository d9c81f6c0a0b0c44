// The rows of a fit: which are fitted, and how far predictions are from them.
#ifndef DRYDOCK_COMPUTE_SIM_FIT_FIT_ROWS_H_
#define DRYDOCK_COMPUTE_SIM_FIT_FIT_ROWS_H_

#include <functional>
#include <vector>

#include "compute-sim/fit/fit.h"

namespace drydock {

struct FitRow {
  Kernel kernel;
  double us = 0;
  bool burst = false;
  bool quantised = false;  // Profile::quantised
  double weight = 1;       // what training runs is worth more than a serving decode's slivers
};

// All rows of the kinds and types, in the order of profiles and tables.
std::vector<FitRow> RowsOf(const std::vector<ProfilePtr>& profiles,
                           const std::function<bool(KernelKind, DataType)>& wanted);
// True for half of all extents, whatever the file.
bool IsFitted(const Kernel& kernel);
std::vector<FitRow> Half(const std::vector<FitRow>& rows, bool fitted);
// Every n-th, such that `most` stay, as many of the heavy ones as of the others.
std::vector<FitRow> Thinned(const std::vector<FitRow>& rows, size_t most);

// Rows whose extents, kind or type no other has: how many parameters they can tell at most.
size_t CountShapes(const std::vector<FitRow>& rows);

// The GPU's prediction of a row as it was measured.
using RowPredictor = std::function<double(const FitRow&)>;
Residuals ResidualsOf(const std::string& what, const std::vector<FitRow>& rows,
                      const RowPredictor& predict);
// What a fit makes small: the weighted mean of |log(predicted / measured)|, and half of the same of
// the weighted sums, without which large kernels come out too fast.
double LossOf(const std::vector<FitRow>& rows, const RowPredictor& predict);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_FIT_FIT_ROWS_H_
