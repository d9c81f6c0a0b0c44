#include "simccl/hacknccl/solo/link_memory.h"

#include "core/containers/hash.h"

namespace drydock {

size_t LinkMemory::HashOf::operator()(const Key& key) const {
  uint64_t hash = 0;
  for (const int part : {key.graph, key.channel, key.from_kind, key.from_seat, key.to_kind,
                         key.to_seat, 4 * key.same_host + 2 * key.neighbors + key.same_domain}) {
    hash = HashCombine(hash, static_cast<uint64_t>(part));
  }
  return hash;
}

LinkMemory::Key LinkMemory::KeyOf(int graph, int channel, int from, int to) const {
  const auto f = static_cast<size_t>(from), t = static_cast<size_t>(to);
  const int from_host = layout_.host_of_rank[f], to_host = layout_.host_of_rank[t];
  Key key;
  key.graph = graph;
  key.channel = channel;
  key.from_kind = layout_.hosts[static_cast<size_t>(from_host)].kind;
  key.from_seat = layout_.seat_of_rank[f];
  key.to_kind = layout_.hosts[static_cast<size_t>(to_host)].kind;
  key.to_seat = layout_.seat_of_rank[t];
  key.same_host = from_host == to_host;
  key.neighbors = layout_.AreNeighbors(from_host, to_host);
  key.same_domain = layout_.places[f].host == layout_.places[t].host;
  return key;
}

bool LinkMemory::Find(int graph, int channel, int from, int to, hacknccl_link* link) const {
  const auto found = links_.find(KeyOf(graph, channel, from, to));
  if (found == links_.end()) return false;
  *link = found->second;
  const std::vector<int>& ranks =
      layout_.NeighborsOn(layout_.host_of_rank[static_cast<size_t>(from)]);
  if (link->proxy != -1) link->proxy = ranks[static_cast<size_t>(link->proxy)];
  if (link->relay != -1) link->relay = ranks[static_cast<size_t>(link->relay)];
  return true;
}

void LinkMemory::Add(int graph, int channel, int from, int to, const hacknccl_link& link) {
  hacknccl_link& kept = links_[KeyOf(graph, channel, from, to)];
  kept = link;
  const std::vector<int>& seats = layout_.seat_of_rank;
  if (link.proxy != -1) kept.proxy = seats[static_cast<size_t>(link.proxy)];
  if (link.relay != -1) kept.relay = seats[static_cast<size_t>(link.relay)];
}

}  // namespace drydock
