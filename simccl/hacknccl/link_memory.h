// What NCCL said of links, so that it is asked once for all that it cannot tell apart: links on the
// same channel of the same graph, between ranks with the same seats beside hosts of the same kinds,
// that stay in their host, their neighbourhood and their NVLink domain or leave them.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_LINK_MEMORY_H_
#define DRYDOCK_SIMCCL_HACKNCCL_LINK_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <unordered_map>

#include "simccl/hacknccl/session.h"

namespace drydock {

// Of one communicator, whose layout must outlive it.
class LinkMemory {
 public:
  explicit LinkMemory(const Layout& layout) : layout_(layout) {}
  LinkMemory(const LinkMemory&) = delete;
  LinkMemory& operator=(const LinkMemory&) = delete;

  // Whether a link like this one is known; *link is then what NCCL would say of this one.
  bool Find(int graph, int channel, int from, int to, hacknccl_link* link) const;
  void Add(int graph, int channel, int from, int to, const hacknccl_link& link);

 private:
  struct Key {
    int graph = 0, channel = 0;
    int from_kind = 0, from_seat = 0;
    int to_kind = 0, to_seat = 0;
    bool same_host = false, neighbours = false, same_domain = false;
    auto Tied() const {
      return std::tie(graph, channel, from_kind, from_seat, to_kind, to_seat, same_host, neighbours,
                      same_domain);
    }
    bool operator==(const Key& other) const { return Tied() == other.Tied(); }
  };
  struct HashOf {
    size_t operator()(const Key& key) const;
  };
  Key KeyOf(int graph, int channel, int from, int to) const;

  const Layout& layout_;
  // Ranks on the way are the sender's neighbours, and kept as their seats.
  std::unordered_map<Key, hacknccl_link, HashOf> links_;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_LINK_MEMORY_H_
