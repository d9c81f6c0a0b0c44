// How far the models behind a prediction are from measurements (configs/bands.yaml, and for
// exchanges of tokens configs/token-exchange.yaml): mean absolute errors as shares of the measured
// time. Plain data; immutable once read.
#ifndef DRYDOCK_REPORT_BAND_BAND_ERRORS_H_
#define DRYDOCK_REPORT_BAND_BAND_ERRORS_H_

#include <array>
#include <string>

#include "core/base/result.h"
#include "core/model/kernel_times.h"
#include "core/schema/tokens/token_costs.h"

namespace drydock {

struct BandErrors {
  double coverage = 0;  // the share of runs that a band is to hold, above 0 and below 1
  std::array<double, kTimeSourceCount> kernels = {};  // by TimeSource
  TokenCostTable tokens;                              // exchanges of tokens state their own
  double inside_hosts = 0;                            // communication of a group within one host
  double between_hosts = 0;                           // communication of a group over several hosts
  double launches = 0;                                // waits for the host
  double memory = 0;                                  // loads and stores of the host's memory
  double dense = 0;                                   // of a whole run, beyond all of the above
  double experts = 0;                                 // the same, of a model with experts
  double hybrid = 0;  // the same, of a model with state-space or delta-rule layers
};

// Reports all mistakes together, each with its location. `tokens` stays empty.
Result<BandErrors> ParseBandErrors(const std::string& text, const std::string& file_name);

// configs/bands.yaml of this installation.
std::string BandErrorsPath();

// Both files of this installation.
Result<BandErrors> LoadBandErrors();

}  // namespace drydock

#endif  // DRYDOCK_REPORT_BAND_BAND_ERRORS_H_
