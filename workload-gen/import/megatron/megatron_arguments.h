// Megatron-LM's arguments, as its megatron/training/arguments.py has them in late 2025: which there
// are, how many values each takes, and what each means to a rehearsal.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_ARGUMENTS_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_ARGUMENTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/yaml.h"
#include "workload-gen/import/shell/launch_script.h"
#include "workload-gen/import/tree/import_notes.h"

namespace drydock {

struct MegatronArgument {
  enum class Effect : uint8_t {
    kUsed,        // bears on what the GPUs do, and is understood
    kIgnored,     // does not: data, logging, checkpoints, learning rates
    kUnmodelled,  // does a little, and is not modelled
    kRefused      // makes it another model or another run
  };
  std::string name;   // "--num-layers"
  char values = '0';  // '0' none, '1' one, '+' any number
  Effect effect = Effect::kUsed;
  std::string text;  // kUnmodelled: what it changes; kRefused: why
};

// By name, sorted.
const std::map<std::string, MegatronArgument>& MegatronArguments();

// An argument as it was given; of several, the last, as in Megatron.
struct GivenArgument {
  ScriptWord flag;
  std::vector<ScriptWord> values;
};
using GivenArguments = std::map<std::string, GivenArgument>;

// Sorts the words of a command line. Unknown arguments and those without bearing go to `notes`;
// with `strict`, what is unknown or not modelled is an error.
GivenArguments SortMegatronArguments(const std::vector<ScriptWord>& words, bool strict,
                                     ImportNotes* notes, Diagnostics* diagnostics);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_ARGUMENTS_H_
