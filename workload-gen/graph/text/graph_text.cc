#include "workload-gen/graph/text/graph_text.h"

#include <fmt/format.h>

#include <iterator>

#include "core/model/calls/grouped_call.h"
#include "core/model/calls/rank_list.h"
#include "core/schema/artefacts/trace_file.h"
#include "workload-gen/graph/text/workload_text.h"

namespace drydock {
namespace {

using Out = std::back_insert_iterator<std::string>;

const Op& OpOf(const Workload& w, const OpGraph::Node& node) {
  const auto rank_class = static_cast<size_t>(w.class_of_rank[static_cast<size_t>(node.rank)]);
  return w.programs[rank_class].ops[node.op];
}

// Escapes quotes and markup, because names come from files.
std::string Escaped(const std::string& text, bool xml) {
  std::string out;
  for (const char c : text) {
    if (xml && c == '&') {
      out += "&amp;";
    } else if (xml && c == '<') {
      out += "&lt;";
    } else if (xml && c == '"') {
      out += "&quot;";
    } else if (!xml && (c == '"' || c == '\\')) {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out;
}

const char* ShapeOf(OpKind kind) {
  switch (kind) {
    case OpKind::kCompute:
      return "box";
    case OpKind::kCollective:
      return "ellipse";
    case OpKind::kSend:
      return "rarrow";
    case OpKind::kRecv:
      return "larrow";
    case OpKind::kLoad:
      return "cds";
    case OpKind::kStore:
      return "cylinder";
    case OpKind::kHostWork:
      return "component";
  }
  return "box";
}

const char* const kEdgeNames[] = {"data", "stream", "message"};
const char* const kEdgeStyles[] = {"solid", "dotted", "bold"};

// "all-reduce bf16 1 KB over 2 in group 0 (ranks 0-1)", "send 32 B to rank 2, tag 7".
std::string WorkText(const Workload& w, int rank, const Op& op) {
  if (op.kind == OpKind::kCompute) return w.blocks[op.work].name;
  if (UsesMemory(op.kind)) return TransferText(w.transfers[op.work], op.kind);
  const CommCall& call = w.calls[op.work];
  const int index = w.group_of_rank[op.role][static_cast<size_t>(rank)];
  const std::vector<int>& ranks = w.groups[static_cast<size_t>(index)].ranks;
  if (op.kind == OpKind::kCollective) {
    return fmt::format("{} in group {} '{}' (ranks {})", NameOf(call), index, w.roles[op.role].name,
                       RanksText(ranks));
  }
  const bool sends = op.kind == OpKind::kSend;
  return fmt::format("{} {} {} rank {} in group {} '{}', tag {}", sends ? "send" : "receive",
                     ToString(call.bytes()), sends ? "to" : "from",
                     ranks[static_cast<size_t>(sends ? call.peer : call.root)], index,
                     w.roles[op.role].name, op.tag);
}

}  // namespace

std::string DotText(const Workload& w, const OpGraph& graph) {
  std::string text = "digraph workload {\n  rankdir=LR;\n  node [fontsize=10];\n";
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const OpGraph::Node& node = graph.nodes[n];
    if (n == 0 || graph.nodes[n - 1].rank != node.rank) {
      fmt::format_to(Out(text), "{}  subgraph cluster_rank{} {{\n    label=\"rank {}\";\n",
                     n == 0 ? "" : "  }\n", node.rank, node.rank);
    }
    const Op& op = OpOf(w, node);
    fmt::format_to(Out(text), "    n{} [shape={}, label=\"{} {}\\n{}\"];\n", n, ShapeOf(op.kind),
                   node.op, Escaped(OpName(w, op), false), Escaped(w.streams[op.stream], false));
  }
  if (!graph.nodes.empty()) text += "  }\n";
  for (const OpGraph::Edge& edge : graph.edges) {
    fmt::format_to(Out(text), "  n{} -> n{} [style={}];\n", edge.from, edge.to,
                   kEdgeStyles[static_cast<size_t>(edge.kind)]);
  }
  for (size_t c = 0; c < graph.collectives.size(); ++c) {
    fmt::format_to(Out(text), "  c{} [shape=diamond, label=\"{}\"];\n", c,
                   Escaped(graph.collectives[c].label, false));
    for (const uint32_t node : graph.collectives[c].nodes) {
      fmt::format_to(Out(text), "  n{} -> c{} [dir=none, style=dashed];\n", node, c);
    }
  }
  return text + "}\n";
}

std::string GraphmlText(const Workload& w, const OpGraph& graph) {
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n";
  for (const char* key : {"label", "kind", "stream", "phase"}) {
    fmt::format_to(Out(text),
                   "  <key id=\"{0}\" for=\"node\" attr.name=\"{0}\" attr.type=\"string\"/>\n",
                   key);
  }
  for (const char* key : {"rank", "op", "layer", "microbatch"}) {
    fmt::format_to(Out(text),
                   "  <key id=\"{0}\" for=\"node\" attr.name=\"{0}\" attr.type=\"int\"/>\n", key);
  }
  text +=
      "  <key id=\"edge\" for=\"edge\" attr.name=\"kind\" attr.type=\"string\"/>\n"
      "  <graph id=\"workload\" edgedefault=\"directed\">\n";
  const auto data = [&text](const char* key, const auto& value) {
    fmt::format_to(Out(text), "<data key=\"{}\">{}</data>", key, value);
  };
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Op& op = OpOf(w, graph.nodes[n]);
    fmt::format_to(Out(text), "    <node id=\"n{}\">", n);
    data("label", Escaped(OpName(w, op), true));
    data("kind", OpKindName(op.kind));
    data("stream", Escaped(w.streams[op.stream], true));
    data("phase", PhaseNames()[static_cast<size_t>(op.phase)]);
    data("rank", graph.nodes[n].rank);
    data("op", graph.nodes[n].op);
    data("layer", op.layer);
    data("microbatch", op.microbatch);
    text += "</node>\n";
  }
  const auto edge = [&](const std::string& from, const std::string& to, const char* kind) {
    fmt::format_to(Out(text),
                   "    <edge source=\"{}\" target=\"{}\"><data key=\"edge\">{}</data></edge>\n",
                   from, to, kind);
  };
  for (const OpGraph::Edge& each : graph.edges) {
    edge(fmt::format("n{}", each.from), fmt::format("n{}", each.to),
         kEdgeNames[static_cast<size_t>(each.kind)]);
  }
  for (size_t c = 0; c < graph.collectives.size(); ++c) {
    fmt::format_to(Out(text), "    <node id=\"c{}\">", c);
    data("label", Escaped(graph.collectives[c].label, true));
    data("kind", "call");
    text += "</node>\n";
    for (const uint32_t node : graph.collectives[c].nodes) {
      edge(fmt::format("n{}", node), fmt::format("c{}", c), "collective");
    }
  }
  return text + "  </graph>\n</graphml>\n";
}

std::string RankText(const Workload& w, int rank, const Slice& slice) {
  const int rank_class = w.class_of_rank[static_cast<size_t>(rank)];
  const Program& program = w.programs[static_cast<size_t>(rank_class)];
  std::string text =
      fmt::format("rank {}: class {}, {} ops\n", rank, rank_class, program.ops.size());
  for (uint32_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (!slice.Has(op, i)) continue;
    fmt::format_to(Out(text), "{} {} {}", i, w.streams[op.stream],
                   PhaseNames()[static_cast<size_t>(op.phase)]);
    if (op.microbatch >= 0) fmt::format_to(Out(text), " mb{}.{}", op.microbatch, op.chunk);
    if (op.layer >= 0) fmt::format_to(Out(text), " layer{}", op.layer);
    fmt::format_to(Out(text), ": {}", WorkText(w, rank, op));
    for (const char* lead = " after "; const uint32_t before : program.dependencies(i)) {
      fmt::format_to(Out(text), "{}{}", lead, before);
      lead = ", ";
    }
    text += '\n';
  }
  return text;
}

}  // namespace drydock
