// Remembers links, so that NCCL is asked once for all equivalent links. Links are equivalent if
// they are on the same channel of the same graph, between ranks with the same seats on hosts of the
// same kinds, and both stay in, or both leave, their host, neighborhood and NVLink domain.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_SOLO_LINK_MEMORY_H_
#define DRYDOCK_SIMCCL_HACKNCCL_SOLO_LINK_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <unordered_map>

#include "simccl/hacknccl/cluster/layout.h"

namespace drydock {

// The links of one communicator. `layout` must outlive this object.
class LinkMemory {
 public:
  explicit LinkMemory(const Layout& layout) : layout_(layout) {}
  LinkMemory(const LinkMemory&) = delete;
  LinkMemory& operator=(const LinkMemory&) = delete;

  // Returns true if an equivalent link is known, and sets *link to NCCL's answer for this
  // link.
  bool Find(int graph, int channel, int from, int to, hacknccl_link* link) const;
  void Add(int graph, int channel, int from, int to, const hacknccl_link& link);

 private:
  struct Key {
    int graph = 0, channel = 0;
    int from_kind = 0, from_seat = 0;
    int to_kind = 0, to_seat = 0;
    bool same_host = false, neighbors = false, same_domain = false;
    auto Tied() const {
      return std::tie(graph, channel, from_kind, from_seat, to_kind, to_seat, same_host, neighbors,
                      same_domain);
    }
    bool operator==(const Key& other) const { return Tied() == other.Tied(); }
  };
  struct HashOf {
    size_t operator()(const Key& key) const;
  };
  Key KeyOf(int graph, int channel, int from, int to) const;

  const Layout& layout_;
  // Ranks along the path are the sender's neighbors, stored by their seats.
  std::unordered_map<Key, hacknccl_link, HashOf> links_;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_SOLO_LINK_MEMORY_H_
