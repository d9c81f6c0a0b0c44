// One aggregation node at work: adds up, piece by piece, what its children send, sends the sum to
// its parent, and what comes down from there (or, at the root, the sum) to each child that takes
// it.
//
// Every child tells something of every piece: its contribution, or that it has none and has room. A
// piece is summed when the last of them has arrived whole; a child's arrive in order, so its next
// one belongs to the oldest piece it is missing in.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_AGGREGATOR_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_AGGREGATOR_H_

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "exec-engine/network/message_tag.h"
#include "exec-engine/network/network.h"
#include "exec-engine/transfer/aggregation.h"

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
  // One reduction of one call, while pieces of it are to come.
  struct Sums {
    struct Piece {
      size_t heard = 0;     // children
      Bytes size;           // of the contributions; none: nobody below has one
      uint64_t cookie = 0;  // the largest: the latest start that any contributor knew of
    };
    std::deque<Piece> pieces;   // oldest first
    std::vector<size_t> ahead;  // by child: pieces above of which it has told
    int64_t summed = 0, passed_down = 0;
  };
  using Key = std::pair<uint64_t, const AggregationPlace*>;
  void Contribute(const AggregationPlace& place, const MessageTag& tag, const Message& message,
                  Sums* sums);
  void PassOn(const AggregationPlace& place, const Message& message, Sums* sums);
  void SendDown(const AggregationPlace& place, int64_t piece, const Message& sum, Sums* sums);
  void SendTo(const AggregationPlace::Peer& peer, const AggregationPlace& place, bool empty,
              const Message& like);

  const HostId node_;
  const Aggregation& aggregation_;
  HostPort* port_;
  std::map<Key, Sums> sums_;  // only looked up
  MessageId next_message_ = 1;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_AGGREGATOR_H_
