// How long the iteration would take if something were faster, each found by a replay of its own.
// Made by exec-engine what-if; what report shows. Plain data.
#ifndef DRYDOCK_CORE_MODEL_WHAT_IF_H_
#define DRYDOCK_CORE_MODEL_WHAT_IF_H_

#include <string>
#include <vector>

#include "core/base/units.h"

namespace drydock {

struct WhatIfAnswer {
  std::string name;     // "compute"
  std::string changed;  // what was made faster, in words
  Time iteration;       // then
};

struct WhatIf {
  std::string network;  // that carried all the replays
  double better = 0;    // per cent: rates times 1 + better / 100, times divided by it
  Time iteration;       // as it is
  std::vector<WhatIfAnswer> answers;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_WHAT_IF_H_
