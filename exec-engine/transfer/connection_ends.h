// The ports of a host that the data of a connection takes at one of its ends.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_CONNECTION_ENDS_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_CONNECTION_ENDS_H_

#include <span>

#include "core/model/flow_plan.h"
#include "exec-engine/host/ports.h"
#include "exec-engine/transfer/aggregation.h"
#include "exec-engine/transfer/local_plan.h"

namespace drydock {

// All arguments outlive this.
class ConnectionEnds {
 public:
  ConnectionEnds(const PortMap& ports, int host, std::span<const int> host_of_member,
                 std::span<const int> gpu_of_member, const Aggregation& aggregation)
      : ports_(ports),
        host_(host),
        host_of_member_(host_of_member),
        gpu_of_member_(gpu_of_member),
        aggregation_(aggregation) {}

  bool Inside(const Connection& c) const {
    return host_of_member_[c.from] == host_of_member_[c.to];
  }
  // Sets the path, the NICs and the ports of one end, which is on this host: the sender's if
  // `sends`, else the receiver's.
  void Resolve(const Connection& c, bool sends, LocalConnection* out) const;

 private:
  void ResolveNet(const Connection& c, bool sends, LocalConnection* out) const;
  void ResolveSwitch(const Connection& c, LocalConnection* out) const;

  const PortMap& ports_;
  const int host_;
  std::span<const int> host_of_member_, gpu_of_member_;
  const Aggregation& aggregation_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_CONNECTION_ENDS_H_
