// A network that, while no message is in flight, behaves as if none had ever been. The replay may
// then leave out messages whose effect it knows, and send them after all if something else turns
// out to meet them (exec-engine/index/spanning_calls.h).
#ifndef DRYDOCK_CORE_NETWORK_FORGETFUL_NETWORK_H_
#define DRYDOCK_CORE_NETWORK_FORGETFUL_NETWORK_H_

#include <cstdint>
#include <functional>

#include "core/base/units.h"

namespace drydock {

class ForgetfulNetwork {
 public:
  struct Traffic {
    int64_t messages = 0, bytes = 0;
    friend Traffic operator-(const Traffic& a, const Traffic& b) {
      return {a.messages - b.messages, a.bytes - b.bytes};
    }
  };
  virtual ~ForgetfulNetwork() = default;
  // Returns whether the network is forgetful on this cluster.
  virtual bool Forgets() const = 0;
  // Counts messages that were left out, or no longer counts them.
  virtual void Count(const Traffic& traffic) = 0;
  virtual Traffic traffic() const = 0;
  // Goes back to `from`, calls `begin`, and runs what follows from it until the present event of a
  // host, in whose callback this is called. REQUIRES: apart from that, nothing is to happen between
  // the two.
  virtual void CatchUp(Time from, const std::function<void()>& begin) = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_NETWORK_FORGETFUL_NETWORK_H_
