// How much of an iteration each model decides: the time of the critical path by model. A step of
// the path that takes longer lengthens the iteration by as much, so the share of a model is the
// sensitivity of the iteration to its error. Pure function; deterministic order.
#ifndef DRYDOCK_REPORT_BAND_TIME_SHARES_H_
#define DRYDOCK_REPORT_BAND_TIME_SHARES_H_

#include <string>
#include <vector>

#include "report/band/band_errors.h"
#include "report/inputs/inputs.h"
#include "report/path/critical_path.h"

namespace drydock {

// A model and what it decides.
struct TimeShare {
  std::string name;  // "gemm (model)", "communication between hosts", "host"
  double share = 0;  // of the iteration
  double error = 0;  // stated_error + entry_share x the entry's error
  double stated_error =
      0;              // what the model's kernels with errors of their own add, weighted by time
  std::string entry;  // of the file of errors, for all others: "kernels.model"; empty: none
  double entry_share = 0;  // of the model's time
  bool assumed = false;    // nobody measured the model's rates, so its error is assumed as well
};

// Returns the shares, the largest first; they add up to 1. Empty without a path. A kernel counts
// with its own expected error if it has one, else with that of its source. The error of a model is
// kept in two parts, so that other errors of the file need no other run.
std::vector<TimeShare> TimeSharesOf(const Inputs& inputs, const std::vector<PathStep>& path,
                                    const BandErrors& errors);

// Returns the shares whose errors lengthen the band most, at most `most`, without those of none.
std::vector<TimeShare> LargestErrors(std::vector<TimeShare> shares, size_t most);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_BAND_TIME_SHARES_H_
