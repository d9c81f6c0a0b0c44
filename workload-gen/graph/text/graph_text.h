// A slice of a workload as a picture's source: Graphviz's dot, or GraphML (yEd, Gephi, networkx).
//
// A node is an op of a rank; edges are what it depends on, the op before it on its stream, and
// what ranks exchange: a send points to its receive, and the ops of a collective hang on a node of
// its own. What leads out of the slice is not drawn.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_GRAPH_TEXT_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_GRAPH_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/workload.h"
#include "workload-gen/graph/text/slice.h"

namespace drydock {

// A slice as nodes and edges, in an order that depends on nothing but the workload and the slice.
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
  std::vector<Collective> collectives;  // those with two members or more in the slice
};
// The workload passed `check`.
OpGraph MakeOpGraph(const Workload& workload, const Slice& slice);

std::string DotText(const Workload& workload, const OpGraph& graph);
std::string GraphmlText(const Workload& workload, const OpGraph& graph);

// One line an op of a rank, with groups and peers in numbers that hold in the whole run.
std::string RankText(const Workload& workload, int rank, const Slice& slice);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_GRAPH_TEXT_H_
