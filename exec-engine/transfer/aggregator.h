// One aggregation node: sums, piece by piece, what its children send, and sends the sum to its
// parent. The sums that come down from the parent (at the root: its own sums) go to each child that
// takes them.
//
// Every child sends one message for every piece: its contribution, or that it has none and has
// room. A piece is summed when the messages of all children have arrived. The messages of a child
// arrive in order, so the next one belongs to the oldest piece for which that child is missing.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_AGGREGATOR_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_AGGREGATOR_H_

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "core/network/network.h"
#include "exec-engine/transfer/aggregation.h"
#include "exec-engine/transfer/message_tag.h"

namespace drydock {

class Aggregator final : public HostActor {
 public:
  // Both arguments outlive this.
  Aggregator(HostId node, const Aggregation& aggregation, HostPort* port)
      : node_(node), aggregation_(aggregation), port_(port) {}

  void Start() override {}
  void OnTimer(TimerId) override {}
  void OnSent(const Message&) override {}
  void OnDelivered(const Message& message) override;

 private:
  // One reduction of one call, until its last piece.
  struct Sums {
    struct Piece {
      size_t heard = 0;     // children whose message has arrived
      Bytes size;           // of the contributions; zero while there is none
      uint64_t cookie = 0;  // the largest: the latest start that a contributor knows
    };
    std::deque<Piece> pieces;   // oldest first
    std::vector<size_t> ahead;  // by child: number of `pieces` for which it has sent its message
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
