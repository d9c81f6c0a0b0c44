#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/base/check.h"
#include "tests/oracle/facts.h"
#include "tests/oracle/ranks.h"

namespace drydock {
namespace {

// The fields of a line of RealRanks that identify a connection.
struct Asked {
  int graph = 0, channel = 0;
  int from = 0, to = 0;
  bool receiver_tells = false;
};

bool ParseConnection(const std::string& line, Asked* out) {
  constexpr std::array kGraphs = {std::pair("ring", HACKNCCL_GRAPH_RING),
                                  std::pair("tree", HACKNCCL_GRAPH_TREE),
                                  std::pair("NVLS", HACKNCCL_GRAPH_NVLS),
                                  std::pair("message", HACKNCCL_GRAPH_P2P),
                                  std::pair("CollNet up", HACKNCCL_GRAPH_COLLNET_UP),
                                  std::pair("CollNet down", HACKNCCL_GRAPH_COLLNET_DOWN)};
  const size_t colon = line.find(" connection: Channel ");
  if (colon == std::string::npos) return false;
  for (const auto& [name, graph] : kGraphs) {
    if (line.compare(0, colon, name) == 0) out->graph = graph;
  }
  const char* text = line.c_str() + line.find("Channel ");
  // Connections through shared memory are logged without an index.
  if (std::sscanf(text, "Channel %d/%*d : %d[%*d] -> %d[%*d]", &out->channel, &out->from,
                  &out->to) != 3) {
    CHECK(std::sscanf(text, "Channel %d : %d[%*d] -> %d[%*d]", &out->channel, &out->from,
                      &out->to) == 3);
  }
  out->receiver_tells = line.find("[receive]") != std::string::npos;
  return true;
}

class SoloRank {
 public:
  // `places` are the places of the communicator's ranks.
  SoloRank(const OracleCase& of, const NcclCommunicator& communicator,
           const std::vector<hacknccl_place>& places, int number)
      : case_(of), communicator_(communicator), places_(places), number_(number) {}

  Status AddShapes(Lines* lines) const {
    const hacknccl_shape& shape = communicator_.shape();
    AddShape(shape, lines);
    for (int c = 0; c < shape.ring_channels; ++c) {
      AddRing(c, number_, communicator_.Ring(c), lines);
      AddTree(c, communicator_.Tree(c)[static_cast<size_t>(number_)], lines);
    }
    for (int c = 0; c < shape.nvls_channels; ++c) {
      AddNvls(c, communicator_.Nvls(c)[static_cast<size_t>(number_)], lines);
    }
    for (int c = 0; shape.collnet_heads > 0 && c < shape.ring_channels; ++c) {
      ASSIGN_OR_RETURN(const std::vector<hacknccl_collnet> collnet, communicator_.CollNet(c));
      AddCollNet(c, collnet[static_cast<size_t>(number_)], lines);
    }
    return OkStatus();
  }

  Status AddStep(const OracleStep& step, Lines* lines) const {
    ASSIGN_OR_RETURN(const NcclPlan plan, communicator_.Launch(number_, step.calls(number_)));
    AddPlan(step.name, plan, lines);
    return OkStatus();
  }

  // The part of `line` that names the connection, and the link as NCCL's log describes it.
  Result<std::string> Connection(const std::string& line, const Asked& asked) const {
    ASSIGN_OR_RETURN(const hacknccl_link link,
                     communicator_.Link(asked.graph, asked.channel, asked.from, asked.to));
    const std::string start = line.substr(0, line.find("] -> "));
    std::string text = fmt::format("{}] -> {}[{}]", start, asked.to, Gpu(asked.to));
    const std::string read = link.kind == HACKNCCL_LINK_P2P_READ ? "/read" : "";
    if (link.kind == HACKNCCL_LINK_SHM) return text + " via SHM/direct/direct";
    if (link.kind != HACKNCCL_LINK_NET) {
      if (link.relay == -1) return text + " via P2P/CUMEM" + read;
      return fmt::format("{} via P2P/indirect/{}[{}]{}", text, link.relay, Gpu(link.relay), read);
    }
    const NcclHost& host = HostOf(asked.receiver_tells ? asked.to : asked.from);
    const int nic = asked.receiver_tells ? link.recv_nic : link.send_nic;
    text += fmt::format(" [{}] via NET/IB/{}", asked.receiver_tells ? "receive" : "send",
                        nic % OfATray(host.nics, host));
    if (!asked.receiver_tells && link.proxy != -1) text += fmt::format("({})", link.proxy);
    if (asked.receiver_tells ? link.recv_gdr : link.send_gdr) text += "/GDRDMA";
    return text;
  }

  Status AddConnections(const Lines& real, Lines* lines) const {
    for (const std::string& line : real) {
      Asked asked;
      if (!ParseConnection(line, &asked)) continue;
      ASSIGN_OR_RETURN(std::string found, Connection(line, asked));
      lines->push_back(std::move(found));
    }
    return OkStatus();
  }

 private:
  const NcclHost& HostOf(int rank) const {
    const hacknccl_place& place = places_[static_cast<size_t>(rank)];
    return case_.host_classes[static_cast<size_t>(place.host_class)];
  }
  // GPUs and NICs are counted from 0 on each machine of a rack.
  template <class Parts>
  static int OfATray(const Parts& parts, const NcclHost& host) {
    return std::max(1, static_cast<int>(parts.size()) / host.trays);
  }
  int Gpu(int rank) const {
    const NcclHost& host = HostOf(rank);
    return places_[static_cast<size_t>(rank)].gpu % OfATray(host.gpu_bus_ids, host);
  }

  const OracleCase& case_;
  const NcclCommunicator& communicator_;
  const std::vector<hacknccl_place>& places_;
  int number_;
};

constexpr const char* kRankEnds = "--";

// The lines of the ranks of a part; `ranks` are their ranks in the whole communicator.
Status DescribePart(const OracleCase& of, bool full, const NcclCommunicator& communicator,
                    const std::vector<int>& ranks, const std::vector<Lines>& real,
                    std::vector<Lines>* by_rank) {
  std::vector<hacknccl_place> places;
  for (const int rank : ranks) places.push_back(of.places[static_cast<size_t>(rank)]);
  const std::vector<OracleStep> steps = OracleSteps(of, static_cast<int>(ranks.size()), full);
  for (size_t r = 0; r < ranks.size(); ++r) {
    const SoloRank rank(of, communicator, places, static_cast<int>(r));
    Lines* lines = &(*by_rank)[static_cast<size_t>(ranks[r])];
    RETURN_IF_ERROR(rank.AddShapes(lines));
    for (const OracleStep& step : steps) RETURN_IF_ERROR(rank.AddStep(step, lines));
    RETURN_IF_ERROR(rank.AddConnections(real[static_cast<size_t>(ranks[r])], lines));
  }
  return OkStatus();
}

Status DescribeAll(const OracleCase& of, bool full, const std::vector<Lines>& real,
                   std::vector<Lines>* by_rank) {
  ASSIGN_OR_RETURN(std::shared_ptr<NcclLibrary> library, NcclLibrary::Load());
  ASSIGN_OR_RETURN(const NcclWorld world,
                   NcclWorld::Create(std::move(library), of.host_classes, of.settings));
  ASSIGN_OR_RETURN(const NcclCommunicator whole, world.CreateCommunicator(of.places));
  const Parting& parting = of.parting;
  for (const std::vector<int>& ranks : parting.Parts(of.ranks())) {
    if (parting.name.empty()) return DescribePart(of, full, whole, ranks, real, by_rank);
    const auto first = static_cast<size_t>(ranks.front());
    ASSIGN_OR_RETURN(const NcclCommunicator part,
                     parting.colors.empty()
                         ? whole.Shrink(parting.excluded)
                         : whole.Split(parting.colors, parting.keys, parting.colors[first]));
    RETURN_IF_ERROR(DescribePart(of, full, part, ranks, real, by_rank));
  }
  return OkStatus();
}

}  // namespace

// Runs in a separate process, because NCCL keeps its settings for the life of the library.
Result<std::vector<Lines>> SoloRanks(const OracleCase& of, bool full,
                                     const std::vector<Lines>& real) {
  const auto describe = [&](int, Lines* lines) -> Status {
    std::vector<Lines> by_rank(static_cast<size_t>(of.ranks()));
    RETURN_IF_ERROR(DescribeAll(of, full, real, &by_rank));
    for (const Lines& of_rank : by_rank) {
      lines->insert(lines->end(), of_rank.begin(), of_rank.end());
      lines->push_back(kRankEnds);
    }
    return OkStatus();
  };
  ASSIGN_OR_RETURN(const std::vector<Lines> all, RunInProcesses(1, describe));
  std::vector<Lines> by_rank(1);
  for (const std::string& line : all.front()) {
    if (line == kRankEnds) {
      by_rank.emplace_back();
    } else {
      by_rank.back().push_back(line);
    }
  }
  by_rank.pop_back();
  return by_rank;
}

}  // namespace drydock
