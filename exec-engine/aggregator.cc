#include "exec-engine/aggregator.h"

#include <algorithm>

#include "core/base/check.h"
#include "exec-engine/message_tag.h"

namespace drydock {

void Aggregator::OnDelivered(const Message& message) {
  const MessageTag tag = MessageTag::Of(message);
  const AggregationPlace& place = aggregation_.PlaceOf(node_, tag.call, tag.connection);
  if (message.source == place.parent.host) {
    SendDown(place, message);
  } else {
    Contribute(place, message);
  }
}

void Aggregator::Contribute(const AggregationPlace& place, const Message& message) {
  const auto child = std::find_if(
      place.children.begin(), place.children.end(), [&message](const AggregationPlace::Peer& peer) {
        return peer.host == message.source && peer.nic == message.source_nic;
      });
  CHECK(child != place.children.end());
  const std::pair key(message.tag, &place);
  Sums& sums = sums_[key];
  sums.ahead.resize(place.children.size());
  size_t& ahead = sums.ahead[static_cast<size_t>(child - place.children.begin())];
  if (ahead == sums.slices.size()) sums.slices.emplace_back();
  Sums::Slice& slice = sums.slices[ahead];
  ++ahead;
  slice.cookie = std::max(slice.cookie, message.cookie);
  if (++slice.contributions < place.children.size()) return;

  Message sum = message;
  sum.cookie = slice.cookie;
  sums.slices.pop_front();
  for (size_t& contributed : sums.ahead) --contributed;
  if (sums.slices.empty()) sums_.erase(key);
  if (place.parent.host >= 0) {
    SendTo(place.parent, place, sum);
  } else {
    SendDown(place, sum);
  }
}

void Aggregator::SendDown(const AggregationPlace& place, const Message& sum) {
  for (const AggregationPlace::Peer& child : place.children) SendTo(child, place, sum);
}

void Aggregator::SendTo(const AggregationPlace::Peer& peer, const AggregationPlace& place,
                        const Message& like) {
  Message message = like;
  message.id = next_message_++;
  message.source = node_;
  message.source_nic = 0;
  message.destination = peer.host;
  message.destination_nic = peer.nic;
  message.flow = place.flow;
  MessageTag{like.tag, peer.connection, false}.Write(&message);
  port_->Send(message);
}

}  // namespace drydock
