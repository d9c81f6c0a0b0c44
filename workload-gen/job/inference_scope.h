// Inference is out of scope; whoever asks for it is told so, and not of unknown keys.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_INFERENCE_SCOPE_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_INFERENCE_SCOPE_H_

#include <string_view>

#include "core/base/result.h"
#include "core/base/yaml.h"

namespace drydock {

inline constexpr const char* kInferenceText =
    "inference is out of scope: Drydock rehearses iterations of training";

// A word for it, or the name of a framework that does nothing else.
bool MeansInference(std::string_view word);

// An error at the section, key or value of model.yaml that asks for it.
Status CheckAsksForTraining(const YamlNode& root);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_INFERENCE_SCOPE_H_
