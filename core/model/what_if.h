// How long the iteration takes if one thing is faster; each answer comes from a replay. exec-engine
// what-if makes it, report shows it. Plain data.
#ifndef DRYDOCK_CORE_MODEL_WHAT_IF_H_
#define DRYDOCK_CORE_MODEL_WHAT_IF_H_

#include <string>
#include <vector>

#include "core/base/units.h"

namespace drydock {

struct WhatIfAnswer {
  std::string name;     // "compute"
  std::string changed;  // what is faster, in words
  Time iteration;       // with the change
};

struct WhatIf {
  std::string network;  // of all replays
  double better = 0;    // percent: rates are multiplied, times divided by 1 + better / 100
  Time iteration;       // without changes
  std::vector<WhatIfAnswer> answers;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_WHAT_IF_H_
