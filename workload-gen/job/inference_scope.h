// Inference is out of scope. Keys of inference get one dedicated error instead of "unknown key".
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_INFERENCE_SCOPE_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_INFERENCE_SCOPE_H_

#include <string_view>

#include "core/base/result.h"
#include "core/base/yaml.h"

namespace drydock {

inline constexpr const char* kInferenceText =
    "inference is out of scope: Drydock rehearses iterations of training";

// True for a word for inference, or the name of a framework that only runs inference.
bool MeansInference(std::string_view word);

// Returns an error at the first section, key or value of model.yaml that concerns inference.
Status RejectInference(const YamlNode& root);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_INFERENCE_SCOPE_H_
