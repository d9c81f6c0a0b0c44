// What one direction of a cable did in a whole run.
#ifndef DRYDOCK_CORE_MODEL_LINK_TOTAL_H_
#define DRYDOCK_CORE_MODEL_LINK_TOTAL_H_

#include <cstdint>
#include <string>

#include "core/base/units.h"

namespace drydock {

struct LinkTotal {
  std::string from, to;             // "host 3/nic0", "leaf0"
  Bandwidth rate;                   // without faults
  Bytes sent;                       // headers and acknowledgements included
  Bytes most_queued;                // that ever waited for it; 0 at a NIC
  int64_t marked = 0, dropped = 0;  // frames that were to leave by it
  int64_t repeated = 0;             // packets that the NIC at its start sent again
  Time paused;                      // some class of it, by the other end
  Time busy;                        // carrying what was sent, at the rate of the moment

  // Share of `time` in which it carried something.
  double Utilisation(Time time) const {
    if (time <= Time()) return 0;
    return static_cast<double>(busy.ps()) / static_cast<double>(time.ps());
  }
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_LINK_TOTAL_H_
