// Reads the options of a launcher's command line as the launcher's own parser does. An option that
// the launcher does not have is an error, with the nearest one that it has.
#ifndef DRYDOCK_CAPTURE_LAUNCH_OPTIONS_H_
#define DRYDOCK_CAPTURE_LAUNCH_OPTIONS_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/schema/cluster/cluster_limits.h"

namespace drydock::capture {

struct LauncherOption {
  static constexpr int kOptional = -1;  // a value only behind "="
  std::string names;                    // "--ntasks|-n": the first is its name in ParsedOptions
  int values = 1;                       // words that follow
};

struct OptionTable {
  std::string launcher;  // for messages
  std::vector<LauncherOption> options;
  bool underscores = false;  // "--nproc_per_node" is "--nproc-per-node"
  bool prefixes = true;      // "--nproc" is "--nproc-per-node", unless another begins so as well
  bool one_dash = false;     // long options have one dash or two
  bool dash_values = true;   // a value may begin with a dash; not so for argparse
};

struct GivenOption {
  std::string name;
  std::vector<std::string> values;
};

struct ParsedOptions {
  std::string launcher;
  std::vector<GivenOption> given;  // in order
  size_t rest = 0;                 // index of the first word that is no option

  bool Has(const std::string& name) const;
  // The last value of it; "" if it is not given.
  std::string Value(const std::string& name) const;
};

// Reads words[begin], ... up to the first word that is neither an option nor a value of one.
Result<ParsedOptions> ParseOptions(const OptionTable& table, const std::vector<std::string>& words,
                                   size_t begin);

// Text for an error behind options that were read: a value that looks like a word of its own, since
// a variable of the script in front of it is empty; else "".
std::string SuspectedValue(const std::vector<GivenOption>& given);

// Reads a number from 1 to `most`, by default the GPUs of the largest cluster, which are the most
// ranks that a capture can have. `what` names it: "torchrun: --nnodes".
Result<int> PositiveNumber(const std::string& what, const std::string& text,
                           int most = kMaxHosts * kMaxGpus);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LAUNCH_OPTIONS_H_
