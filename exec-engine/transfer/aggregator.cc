#include "exec-engine/transfer/aggregator.h"

#include <algorithm>

#include "core/base/check.h"

namespace drydock {

void Aggregator::OnDelivered(const Message& message) {
  const MessageTag tag = MessageTag::Of(message);
  const AggregationPlace& place = aggregation_.PlaceOf(node_, tag.call, tag.connection);
  const Key key(message.tag, &place);
  Sums& sums = sums_[key];
  if (message.source == place.parent.host) {
    SendDown(place, place.parent.takes.At(sums.passed_down), message, &sums);
  } else {
    Contribute(place, tag, message, &sums);
  }
  const int64_t to_pass = place.parent.host >= 0 ? place.parent.takes.count() : sums.summed;
  if (sums.summed == place.pieces && sums.passed_down == to_pass) sums_.erase(key);
}

void Aggregator::Contribute(const AggregationPlace& place, const MessageTag& tag,
                            const Message& message, Sums* sums) {
  const auto child = std::find_if(
      place.children.begin(), place.children.end(), [&message](const AggregationPlace::Peer& peer) {
        return peer.host == message.source && peer.nic == message.source_nic;
      });
  CHECK(child != place.children.end());
  sums->ahead.resize(place.children.size());
  size_t& ahead = sums->ahead[static_cast<size_t>(child - place.children.begin())];
  if (ahead == sums->pieces.size()) sums->pieces.emplace_back();
  Sums::Piece& piece = sums->pieces[ahead];
  ++ahead;
  piece.cookie = std::max(piece.cookie, message.cookie);
  if (!tag.credit) piece.size = std::max(piece.size, message.size);
  if (++piece.heard == place.children.size()) PassOn(place, message, sums);
}

// The oldest piece is summed. `message` is the last one that arrived for it.
void Aggregator::PassOn(const AggregationPlace& place, const Message& message, Sums* sums) {
  const Sums::Piece piece = sums->pieces.front();
  sums->pieces.pop_front();
  for (size_t& told : sums->ahead) --told;
  const int64_t number = sums->summed++;
  const bool empty = piece.size.count() == 0;
  Message sum = message;
  sum.route = 0;  // the sum takes another path
  sum.cookie = piece.cookie;
  if (!empty) sum.size = piece.size;
  if (place.parent.host >= 0) {
    SendTo(place.parent, place, empty, sum);
  } else {
    CHECK_NOTE(!empty, "no member sends a piece that the switches sum");
    SendDown(place, number, sum, sums);
  }
}

void Aggregator::SendDown(const AggregationPlace& place, int64_t piece, const Message& sum,
                          Sums* sums) {
  ++sums->passed_down;
  for (const AggregationPlace::Peer& child : place.children) {
    if (child.takes.Has(piece)) SendTo(child, place, /*empty=*/false, sum);
  }
}

void Aggregator::SendTo(const AggregationPlace::Peer& peer, const AggregationPlace& place,
                        bool empty, const Message& like) {
  Message message = like;
  message.id = next_message_++;
  message.source = node_;
  message.source_nic = 0;
  message.destination = peer.host;
  message.destination_nic = peer.nic;
  message.flow = place.flow;
  MessageTag{like.tag, peer.connection, empty}.Write(&message);
  port_->Send(message);
}

}  // namespace drydock
