// Draws a slice of a workload as Graphviz's dot or as GraphML (yEd, Gephi, networkx).
//
// A node is an op of a rank. Edges are dependencies, the order of a stream, and communication: a
// send points to its receive, and the ops of a collective are connected to a node of the call.
// Edges out of the slice are omitted.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_GRAPH_TEXT_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_GRAPH_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/workload.h"
#include "workload-gen/graph/text/slice.h"

namespace drydock {

// A slice as nodes and edges, in an order that only the workload and the slice determine.
struct OpGraph {
  struct Node {
    int rank = 0;
    uint32_t op = 0;
  };
  enum class EdgeKind : uint8_t { kData, kStream, kMessage };
  struct Edge {
    uint32_t from = 0, to = 0;  // nodes
    EdgeKind kind = EdgeKind::kData;
  };
  struct Collective {
    std::string label;
    std::vector<uint32_t> nodes;
  };
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::vector<Collective> collectives;  // calls with two or more members in the slice
};
// REQUIRES: the workload passed `check`.
OpGraph MakeOpGraph(const Workload& workload, const Slice& slice);

std::string DotText(const Workload& workload, const OpGraph& graph);
std::string GraphmlText(const Workload& workload, const OpGraph& graph);

// Prints one line per op of a rank, with absolute numbers of groups and peers.
std::string RankText(const Workload& workload, int rank, const Slice& slice);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_GRAPH_TEXT_H_
