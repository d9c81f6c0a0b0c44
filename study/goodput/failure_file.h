// Reads a failures file (docs/reference/failures-file.md). Reports all mistakes at once, with their
// places.
#ifndef DRYDOCK_STUDY_GOODPUT_FAILURE_FILE_H_
#define DRYDOCK_STUDY_GOODPUT_FAILURE_FILE_H_

#include <string>
#include <vector>

#include "core/base/yaml.h"
#include "study/goodput/failure_model.h"

namespace drydock {

// `overrides`: the --set assignments.
Result<FailureModel> LoadFailures(const std::string& path,
                                  const std::vector<std::string>& overrides);

Result<FailureModel> ReadFailures(const YamlNode& root);

// The seconds of "90 s", "10 min", "4 h", "2 days" or "5 years" (of 365.25 days); at most 10,000
// years.
Result<double> ParseDuration(const std::string& text);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_GOODPUT_FAILURE_FILE_H_
