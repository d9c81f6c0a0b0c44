#include "layout.h"

#include <algorithm>
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

namespace {

bool IsOff(const char* setting) {
  const char* value = Setting(setting);
  return value != nullptr && std::string(value) == "0";
}

bool UsesMultiNodeNvlink(const std::vector<HostClass>& classes,
                         const std::vector<hacknccl_place>& places) {
  if (IsOff("NCCL_MNNVL_ENABLE") || IsOff("NCCL_CUMEM_ENABLE")) return false;
  return std::all_of(places.begin(), places.end(), [&](const hacknccl_place& place) {
    return classes[static_cast<size_t>(place.host_class)].trays > 1;
  });
}

void AddOnce(int value, std::vector<int>* list) {
  if (std::find(list->begin(), list->end(), value) == list->end()) list->push_back(value);
}

}  // namespace

Layout MakeLayout(const std::vector<HostClass>& classes,
                  const std::vector<hacknccl_place>& places) {
  Layout layout;
  layout.places = places;
  const bool racks = UsesMultiNodeNvlink(classes, places);
  const auto tray_of = [&](const hacknccl_place& place) {
    return classes[static_cast<size_t>(place.host_class)].TrayOf(place.gpu);
  };
  std::map<std::pair<int, int>, int> index_of_host;
  for (size_t r = 0; r < places.size(); ++r) {
    const std::pair host(places[r].host, racks ? 0 : tray_of(places[r]));
    const auto [entry, added] = index_of_host.emplace(host, static_cast<int>(layout.hosts.size()));
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
    for (const int rank : host.ranks) {
      const hacknccl_place& place = places[static_cast<size_t>(rank)];
      kind.gpus.push_back(place.gpu);
      AddOnce(tray_of(place), &kind.trays);
    }
    const auto [entry, added] = index_of_kind.emplace(std::pair(kind.host_class, kind.gpus),
                                                      static_cast<int>(layout.kinds.size()));
    host.kind = entry->second;
    if (added) layout.kinds.push_back(std::move(kind));
  }
  return layout;
}

}  // namespace drydock
