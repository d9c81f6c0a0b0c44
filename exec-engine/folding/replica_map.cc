#include "exec-engine/folding/replica_map.h"

#include "exec-engine/transfer/message_tag.h"

namespace drydock {

ReplicaMap::ReplicaMap(const std::vector<int>& class_of_host, int classes)
    : replica_count_(class_of_host.size()) {
  std::vector<HostId> first(static_cast<size_t>(classes), -1);
  for (size_t host = 0; host < class_of_host.size(); ++host) {
    HostId& representative = first[static_cast<size_t>(class_of_host[host])];
    if (representative < 0) representative = static_cast<HostId>(host);
    representative_of_.push_back(representative);
    ++replica_count_[static_cast<size_t>(representative)];
  }
}

uint32_t ReplicaMap::Add(const FoldedConnection& connection) {
  connections_.push_back(connection);
  return static_cast<uint32_t>(connections_.size()) - 1;
}

Message ReplicaMap::AtReceiver(const Message& message, uint32_t number) const {
  Message out = message;
  if (number == kNotFolded) return out;
  const FoldedConnection& connection = connections_[number];
  out.source = connection.source;
  out.destination = RepresentativeOf(message.destination);
  MessageTag tag = MessageTag::Of(message);
  tag.call = MakeCallKey(connection.group, static_cast<uint32_t>(tag.call));
  tag.connection = connection.connection;
  tag.Write(&out);
  return out;
}

}  // namespace drydock
