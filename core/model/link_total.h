// Totals of one link over a whole run.
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
  Bytes max_queued;                 // maximum backlog; 0 at a NIC
  int64_t marked = 0, dropped = 0;  // frames for this link
  int64_t repeated = 0;             // packets that the sending NIC retransmitted
  Time paused;                      // while the receiver paused any of its classes
  Time busy;                        // transmission of `sent` at the current rates

  // Returns the share of `time` in which the link was busy.
  double Utilization(Time time) const {
    if (time <= Time()) return 0;
    return static_cast<double>(busy.ps()) / static_cast<double>(time.ps());
  }
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_LINK_TOTAL_H_
