// Whether a stage has anything to do: RUN/.stamps/<stage> remembers the inputs, options and
// program of the last completed run and the outputs it left. Only ever saves work: results never
// depend on it.
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_STAMP_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_STAMP_H_

#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

struct Stamp {
  std::string run;                   // run directory
  std::string stage;                 // "simccl"
  std::vector<std::string> inputs;   // files
  std::vector<std::string> options;  // flags that change the result
  std::vector<std::string> outputs;  // files
};

// True if everything is as the last SaveStamp left it, this program included.
bool IsUpToDate(const Stamp& stamp);
Status SaveStamp(const Stamp& stamp);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_STAMP_H_
