// Fields of a config.json that no key of model.yaml reads, and the values that the generated model
// has for them. Any other value would change the time or the memory of an iteration.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_EXPECTED_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_EXPECTED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/yaml.h"

namespace drydock {

struct HfExpected {
  enum class Effect : uint8_t {
    kLarge,  // another value is an error
    kSmall   // another value is noted, and an error only if strict
  };
  const char* field;
  std::vector<const char*> values;  // that are generated; a number by its value. Null always is
  const char* what;                 // what another value means
  const char* advice = "";          // what to write instead, if model.yaml can state it
  Effect effect = Effect::kLarge;
};

// Null if no value of the field changes what is generated.
const HfExpected* FindHfExpected(const std::string& field);
const std::vector<HfExpected>& HfExpectedFields();

// True if `value` is null, empty, or one of the values that are generated.
bool IsExpected(const HfExpected& expected, const YamlNode& value);

// "'residual_in_fp32' is true: residuals in fp32 are not generated; expected false"
std::string UnexpectedMessage(const HfExpected& expected, const YamlNode& value);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_EXPECTED_H_
