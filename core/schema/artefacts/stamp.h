// Tells whether a stage has to run again. RUN/.stamps/<stage> holds the inputs, options, program
// and outputs of the last completed run. A stamp only saves work: no result depends on it.
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_STAMP_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_STAMP_H_

#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

struct CommonOptions;
struct ToolInfo;

struct Stamp {
  std::string run;                   // run directory
  std::string stage;                 // "simccl"
  std::vector<std::string> inputs;   // files
  std::vector<std::string> options;  // flags that change the result
  std::vector<std::string> outputs;  // files
};

// Returns true if inputs, options, outputs and this program are those of the last SaveStamp.
bool IsUpToDate(const Stamp& stamp);
Status SaveStamp(const Stamp& stamp);

// Returns true and reports "up to date" if --if-changed is given, --check is not, and IsUpToDate.
bool SkipsRun(const Stamp& stamp, const ToolInfo& tool, const CommonOptions& common);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_STAMP_H_
