// One aggregation node at work: adds up, slice by slice, what its children send, sends the sum to
// its parent, and what comes down from there (or, at the root, the sum) to each child.
//
// A slice is summed when the last of its contributions has arrived whole; the contributions of a
// child arrive in order, so each child's next one belongs to the oldest slice it is missing in.
#ifndef DRYDOCK_EXEC_ENGINE_AGGREGATOR_H_
#define DRYDOCK_EXEC_ENGINE_AGGREGATOR_H_

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "exec-engine/aggregation.h"
#include "exec-engine/network.h"

namespace drydock {

class Aggregator final : public HostActor {
 public:
  // Both outlive this.
  Aggregator(HostId node, const Aggregation& aggregation, HostPort* port)
      : node_(node), aggregation_(aggregation), port_(port) {}

  void Start() override {}
  void OnTimer(TimerId) override {}
  void OnSent(const Message&) override {}
  void OnDelivered(const Message& message) override;

 private:
  // Of one reduction of one call, while contributions are missing.
  struct Sums {
    struct Slice {
      size_t contributions = 0;
      uint64_t cookie = 0;  // the largest: the latest start that any contributor knew of
    };
    std::deque<Slice> slices;   // oldest first
    std::vector<size_t> ahead;  // by child: slices above to which it has contributed
  };
  void Contribute(const AggregationPlace& place, const Message& message);
  void SendDown(const AggregationPlace& place, const Message& sum);
  void SendTo(const AggregationPlace::Peer& peer, const AggregationPlace& place,
              const Message& like);

  const HostId node_;
  const Aggregation& aggregation_;
  HostPort* port_;
  std::map<std::pair<uint64_t, const AggregationPlace*>, Sums> sums_;  // only looked up
  MessageId next_message_ = 1;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_AGGREGATOR_H_
