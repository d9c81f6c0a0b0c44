// The arguments of Megatron-LM (megatron/training/arguments.py of late 2025): their names, the
// number of values that each takes, and their effect on a prediction.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_ARGUMENTS_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_ARGUMENTS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/yaml.h"
#include "workload-gen/import/shell/launch_script.h"
#include "workload-gen/import/tree/import_notes.h"

namespace drydock {

struct MegatronArgument {
  enum class Effect : uint8_t {
    kUsed,       // affects what the GPUs do; is read
    kHint,       // is read where it is known and tells what another argument does not
    kIgnored,    // no effect: data, logging, checkpoints, learning rates
    kUnmodeled,  // a small effect that is not modeled
    kRefused     // changes the model or the run into one that is not generated
  };
  std::string name;   // "--num-layers"
  char values = '0';  // '0' none, '1' one, '+' any number
  Effect effect = Effect::kUsed;
  std::string text;  // kUnmodeled: what it changes; kRefused: why
};

// By name, sorted.
const std::map<std::string, MegatronArgument>& MegatronArguments();

// An argument as given. If it is given several times, the last one counts, as in Megatron-LM.
struct GivenArgument {
  ScriptWord flag;
  std::vector<ScriptWord> values;
};
using GivenArguments = std::map<std::string, GivenArgument>;

struct ArgumentRules {
  bool strict = false;          // unmodeled arguments are errors
  bool ignore_unknown = false;  // otherwise, unknown arguments are errors
  std::set<std::string> set_keys;  // keys of model.yaml that --set gives, such as "model.vocab"
};

// Returns the used arguments of a command line. Ignored arguments, and unmodeled and unknown ones
// that the rules allow, go to `notes`.
GivenArguments SortMegatronArguments(const std::vector<ScriptWord>& words,
                                     const ArgumentRules& rules, ImportNotes* notes,
                                     Diagnostics* diagnostics);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_ARGUMENTS_H_
