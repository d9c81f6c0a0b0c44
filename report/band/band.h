// The band of a prediction: the range that holds the measured time of a run with a stated
// probability (docs/explanation/bands.md).
//
// The errors of models are taken as independent and normal in the logarithm of the time. Within a
// model, the errors of all kernels or calls are taken as one. With mean absolute errors e of models
// that decide the shares s of the iteration, and u of the whole run, the standard deviation is
//   sigma = sqrt(pi / 2) sqrt(u^2 + sum (s e)^2)
// and the band is the predicted time times exp(-z sigma) and exp(z sigma), where a standard normal
// variable lies within z with the stated probability. Pure functions.
#ifndef DRYDOCK_REPORT_BAND_BAND_H_
#define DRYDOCK_REPORT_BAND_BAND_H_

#include <string>
#include <vector>

#include "core/base/units.h"
#include "report/band/band_errors.h"
#include "report/band/time_shares.h"

namespace drydock {

struct Band {
  double coverage = 0;  // the probability
  Time low, high;
  double whole_run = 0;           // the error of the whole run, beyond those of its models
  std::string kind;               // its entry in the file of errors: dense, experts or hybrid
  std::vector<TimeShare> shares;  // the largest share first
};

// Returns the band of an iteration. `inputs` says what kind of run it is.
Band BandOf(const Inputs& inputs, Time iteration, std::vector<TimeShare> shares,
            const BandErrors& errors);

// Returns the standard deviation of the logarithm of the time.
double SigmaOf(const Band& band);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_BAND_BAND_H_
