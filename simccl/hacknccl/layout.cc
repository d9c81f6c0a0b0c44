#include "layout.h"

#include <map>
#include <set>
#include <utility>

namespace drydock {

std::string CheckPlaces(const std::vector<HostClass>& classes,
                        const std::vector<hacknccl_place>& places) {
  if (places.empty()) return "a communicator needs at least one rank";
  std::map<int, int> class_of_host;
  std::set<std::pair<int, int>> taken;
  for (size_t r = 0; r < places.size(); ++r) {
    const hacknccl_place& place = places[r];
    const std::string rank = "rank " + std::to_string(r) + ": ";
    if (place.host_class < 0 || static_cast<size_t>(place.host_class) >= classes.size()) {
      return rank + "no host class " + std::to_string(place.host_class);
    }
    const HostClass& host = classes[static_cast<size_t>(place.host_class)];
    if (place.gpu < 0 || static_cast<size_t>(place.gpu) >= host.gpu_bus_ids.size()) {
      return rank + "no GPU " + std::to_string(place.gpu) + " on its host, which has " +
             std::to_string(host.gpu_bus_ids.size());
    }
    if (class_of_host.emplace(place.host, place.host_class).first->second != place.host_class) {
      return rank + "host " + std::to_string(place.host) + " was of another class before";
    }
    if (!taken.emplace(place.host, place.gpu).second) {
      return rank + "GPU " + std::to_string(place.gpu) + " of host " + std::to_string(place.host) +
             " is already another rank's";
    }
  }
  if (class_of_host.size() < 2) return "";
  for (const auto& [host, host_class] : class_of_host) {
    if (!classes[static_cast<size_t>(host_class)].nics.empty()) continue;
    return "host " + std::to_string(host) + " has no NIC to reach the other hosts";
  }
  return "";
}

Layout MakeLayout(const std::vector<hacknccl_place>& places) {
  Layout layout;
  layout.places = places;
  std::map<int, int> index_of_host;
  for (size_t r = 0; r < places.size(); ++r) {
    const auto [entry, added] =
        index_of_host.emplace(places[r].host, static_cast<int>(layout.hosts.size()));
    if (added) layout.hosts.emplace_back();
    std::vector<int>& ranks = layout.hosts[static_cast<size_t>(entry->second)].ranks;
    layout.host_of_rank.push_back(entry->second);
    layout.local_of_rank.push_back(static_cast<int>(ranks.size()));
    ranks.push_back(static_cast<int>(r));
  }
  std::map<std::pair<int, std::vector<int>>, int> index_of_kind;
  for (size_t h = 0; h < layout.hosts.size(); ++h) {
    Layout::Host& host = layout.hosts[h];
    Layout::Kind kind;
    kind.model = static_cast<int>(h);
    kind.host_class = places[static_cast<size_t>(host.ranks.front())].host_class;
    for (const int rank : host.ranks) kind.gpus.push_back(places[static_cast<size_t>(rank)].gpu);
    const auto [entry, added] = index_of_kind.emplace(std::pair(kind.host_class, kind.gpus),
                                                      static_cast<int>(layout.kinds.size()));
    host.kind = entry->second;
    if (added) layout.kinds.push_back(std::move(kind));
  }
  return layout;
}

}  // namespace drydock
