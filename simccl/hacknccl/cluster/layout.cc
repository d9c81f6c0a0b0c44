#include "simccl/hacknccl/cluster/layout.h"

#include <algorithm>
#include <iterator>
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
             " already belongs to another rank";
    }
  }
  return "";
}

std::string CheckNics(const std::vector<HostClass>& classes, const Layout& layout) {
  if (layout.hosts.size() < 2) return "";
  for (const Layout::Host& host : layout.hosts) {
    const hacknccl_place& place = layout.places[static_cast<size_t>(host.ranks.front())];
    if (!classes[static_cast<size_t>(place.host_class)].nics.empty()) continue;
    const std::string who = "host " + std::to_string(place.host);
    const std::vector<int>& neighbors =
        layout.neighborhoods[static_cast<size_t>(host.neighborhood)];
    if (neighbors.size() == host.ranks.size()) return who + " has no NIC to reach the other hosts";
    return "NCCL divides the GPUs of " + who +
           " into several hosts, as they cannot reach each other, and the host has no NIC";
  }
  return "";
}

namespace {

Neighbors NeighborsAt(const Layout& layout, const std::vector<int>& ranks) {
  Neighbors neighbors;
  neighbors.host_class = layout.places[static_cast<size_t>(ranks.front())].host_class;
  for (const int rank : ranks) {
    neighbors.gpus.push_back(layout.places[static_cast<size_t>(rank)].gpu);
  }
  return neighbors;
}

bool AllInRacks(const std::vector<HostClass>& classes, const std::vector<hacknccl_place>& places) {
  return std::all_of(places.begin(), places.end(), [&](const hacknccl_place& place) {
    return classes[static_cast<size_t>(place.host_class)].trays > 1;
  });
}

void AddOnce(int value, std::vector<int>* list) {
  if (std::find(list->begin(), list->end(), value) == list->end()) list->push_back(value);
}

class Maker {
 public:
  Maker(const std::vector<HostClass>& classes, const std::vector<hacknccl_place>& places,
        const Findings& findings)
      : classes_(classes), findings_(findings) {
    layout_.places = places;
  }

  Layout Make() {
    Seat();
    FormHosts();
    for (size_t h = 0; h < layout_.hosts.size(); ++h) FindKind(static_cast<int>(h));
    return std::move(layout_);
  }

 private:
  int TrayOf(int rank) const {
    const hacknccl_place& place = layout_.places[static_cast<size_t>(rank)];
    return classes_[static_cast<size_t>(place.host_class)].TrayOf(place.gpu);
  }

  void Seat() {
    const bool racks = findings_.multi_node_nvlink && AllInRacks(classes_, layout_.places);
    std::map<std::pair<int, int>, int> index_of_machine;
    for (int r = 0; r < layout_.ranks(); ++r) {
      const int host = layout_.places[static_cast<size_t>(r)].host;
      const std::pair machine(host, racks ? 0 : TrayOf(r));
      const auto next = static_cast<int>(layout_.neighborhoods.size());
      const auto [entry, added] = index_of_machine.emplace(machine, next);
      if (added) layout_.neighborhoods.emplace_back();
      std::vector<int>& ranks = layout_.neighborhoods[static_cast<size_t>(entry->second)];
      neighborhood_of_rank_.push_back(entry->second);
      layout_.seat_of_rank.push_back(static_cast<int>(ranks.size()));
      ranks.push_back(r);
    }
    for (const std::vector<int>& ranks : layout_.neighborhoods) {
      divisions_.push_back(findings_.DivisionOf(NeighborsAt(layout_, ranks)));
    }
  }

  void FormHosts() {
    std::map<std::pair<int, int>, int> index_of_host;
    for (int r = 0; r < layout_.ranks(); ++r) {
      const int neighborhood = neighborhood_of_rank_[static_cast<size_t>(r)];
      const auto seat = static_cast<size_t>(layout_.seat_of_rank[static_cast<size_t>(r)]);
      const std::pair host(neighborhood, divisions_[static_cast<size_t>(neighborhood)][seat]);
      const auto next = static_cast<int>(layout_.hosts.size());
      const auto [entry, added] = index_of_host.emplace(host, next);
      if (added) layout_.hosts.emplace_back().neighborhood = neighborhood;
      std::vector<int>& ranks = layout_.hosts[static_cast<size_t>(entry->second)].ranks;
      layout_.host_of_rank.push_back(entry->second);
      layout_.local_of_rank.push_back(static_cast<int>(ranks.size()));
      ranks.push_back(r);
    }
  }

  void FindKind(int index) {
    Layout::Host& host = layout_.hosts[static_cast<size_t>(index)];
    const std::vector<int>& neighbors = layout_.NeighborsOn(index);
    Layout::Kind kind;
    kind.model = index;
    kind.neighbors = NeighborsAt(layout_, neighbors);
    for (const int rank : host.ranks) {
      kind.seats.push_back(layout_.seat_of_rank[static_cast<size_t>(rank)]);
    }
    for (const int rank : neighbors) AddOnce(TrayOf(rank), &kind.trays);
    const auto next = static_cast<int>(layout_.kinds.size());
    const auto [entry, added] = index_of_kind_.emplace(std::pair(kind.neighbors, kind.seats), next);
    host.kind = entry->second;
    if (added) layout_.kinds.push_back(std::move(kind));
  }

  const std::vector<HostClass>& classes_;
  const Findings& findings_;
  Layout layout_;
  std::vector<int> neighborhood_of_rank_;
  std::vector<std::vector<int>> divisions_;  // by neighborhood
  std::map<std::pair<Neighbors, std::vector<int>>, int> index_of_kind_;
};

}  // namespace

std::vector<int> Findings::DivisionOf(const Neighbors& neighbors) const {
  const auto found = divisions.find(neighbors);
  if (found != divisions.end()) return found->second;
  return std::vector<int>(neighbors.gpus.size(), 0);
}

bool Findings::Add(const Layout& layout, int rank, const Correction& correction) {
  if (correction.no_multi_node_nvlink) return std::exchange(multi_node_nvlink, false);
  const Layout::Host& host = layout.host_of(rank);
  if (correction.host.empty() || correction.host.size() >= host.ranks.size()) return false;
  const Neighbors& neighbors = layout.kind_of(rank).neighbors;
  std::vector<int> division = DivisionOf(neighbors);
  const auto seat = [&layout](int r) { return layout.seat_of_rank[static_cast<size_t>(r)]; };
  const auto make_host = [&](const std::vector<int>& ranks) {
    for (const int r : ranks) division[static_cast<size_t>(seat(r))] = seat(ranks.front());
  };
  std::vector<int> others;
  std::set_difference(host.ranks.begin(), host.ranks.end(), correction.host.begin(),
                      correction.host.end(), std::back_inserter(others));
  make_host(correction.host);
  make_host(others);
  divisions[neighbors] = std::move(division);
  return true;
}

std::vector<int> RanksOfColor(const std::vector<SplitRequest>& requests, int color) {
  std::vector<int> ranks;
  for (size_t r = 0; r < requests.size(); ++r) {
    if (requests[r].color == color) ranks.push_back(static_cast<int>(r));
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&requests](int a, int b) {
    return requests[static_cast<size_t>(a)].key < requests[static_cast<size_t>(b)].key;
  });
  return ranks;
}

Layout MakeLayout(const std::vector<HostClass>& classes, const std::vector<hacknccl_place>& places,
                  const Findings& findings) {
  return Maker(classes, places, findings).Make();
}

}  // namespace drydock
