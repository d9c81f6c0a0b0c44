#include "simccl/explain/communicator_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/model/calls/rank_list.h"

namespace drydock {
namespace {

constexpr size_t kRanksShown = 64;
constexpr size_t kLinesShown = 16;

// Lines of text and the channels that each is for, ordered by first channel.
class ChannelLines {
 public:
  void Add(int channel, const std::string& text) {
    for (auto& [known, channels] : lines_) {
      if (known == text) return channels.push_back(channel);
    }
    lines_.push_back({text, {channel}});
  }
  std::string Text() const {
    std::string text;
    for (const auto& [line, channels] : lines_) {
      text += fmt::format("  channel{} {}: {}\n", channels.size() == 1 ? "" : "s",
                          RanksText(channels, channels.size()), line);
    }
    return text;
  }

 private:
  std::vector<std::pair<std::string, std::vector<int>>> lines_;
};

std::string RanksInOrder(const ShownCommunicator& shown, const std::vector<int>& members) {
  std::string text;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!shown.verbose && members.size() > kRanksShown && i == kRanksShown / 2) {
      text += " ...";
      i = members.size() - kRanksShown / 4;
    }
    text += fmt::format("{}{}", i == 0 ? "" : " ", shown.ranks[static_cast<size_t>(members[i])]);
  }
  return text;
}

// Edges from a member to its children.
using Children = std::vector<std::vector<int>>;

void AppendTree(const ShownCommunicator& shown, const Children& children, int root, size_t* left,
                std::string* text) {
  for (int member = root;;) {
    if (*left == 0) {
      *text += "...";
      return;
    }
    if (!shown.verbose) --*left;
    *text += std::to_string(shown.ranks[static_cast<size_t>(member)]);
    const std::vector<int>& below = children[static_cast<size_t>(member)];
    if (below.empty()) return;
    *text += ' ';
    if (below.size() > 1) {
      *text += '(';
      for (size_t i = 0; i < below.size(); ++i) {
        if (i > 0) *text += " | ";
        AppendTree(shown, children, below[i], left, text);
      }
      *text += ')';
      return;
    }
    member = below[0];
  }
}

std::string TreeText(const ShownCommunicator& shown, const Children& children, int root) {
  std::string text;
  size_t left = kRanksShown;
  AppendTree(shown, children, root, &left, &text);
  return text;
}

struct Edge {
  int channel, from, to;
  auto operator<=>(const Edge&) const = default;
};

// Adds the edges between child and parent in both directions, if both exist.
void AddBoth(int channel, int a, int b, std::vector<Edge>* edges) {
  if (b < 0) return;
  edges->push_back({channel, a, b});
  edges->push_back({channel, b, a});
}

std::vector<Edge> EdgesOf(const NcclCommunicator& c, int algorithm) {
  std::vector<Edge> edges;
  const int ranks = c.shape().ranks;
  const bool nvls = algorithm == HACKNCCL_NVLS_TREE || algorithm == HACKNCCL_NVLS;
  const int channels = nvls ? c.shape().nvls_channels : c.shape().ring_channels;
  for (int channel = 0; channel < channels; ++channel) {
    if (algorithm == HACKNCCL_RING) {
      const std::vector<int> ring = c.Ring(channel);
      for (size_t i = 0; i < ring.size(); ++i) {
        edges.push_back({channel, ring[i], ring[(i + 1) % ring.size()]});
      }
    } else if (algorithm == HACKNCCL_TREE) {
      const std::vector<hacknccl_tree> tree = c.Tree(channel);
      for (int m = 0; m < ranks; ++m) AddBoth(channel, m, tree[static_cast<size_t>(m)].up, &edges);
    } else if (nvls) {
      const std::vector<hacknccl_nvls> heads = c.Nvls(channel);
      for (int m = 0; m < ranks; ++m) {
        AddBoth(channel, m, heads[static_cast<size_t>(m)].tree_up, &edges);
      }
    }
  }
  const bool is_pat = algorithm == HACKNCCL_PAT;
  for (int m = 1; (algorithm < 0 || is_pat) && m < ranks; m = is_pat ? 2 * m : m + 1) {
    edges.push_back({0, 0, m});
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

int GraphOf(int algorithm) {
  switch (algorithm) {
    case HACKNCCL_RING:
      return HACKNCCL_GRAPH_RING;
    case HACKNCCL_TREE:
    case HACKNCCL_PAT:
      return HACKNCCL_GRAPH_TREE;
    case HACKNCCL_NVLS:
    case HACKNCCL_NVLS_TREE:
      return HACKNCCL_GRAPH_NVLS;
    default:
      return HACKNCCL_GRAPH_P2P;
  }
}

std::string LinkText(const ShownCommunicator& shown, const Edge& edge, const hacknccl_link& link) {
  const auto rank = [&shown](int member) { return shown.ranks[static_cast<size_t>(member)]; };
  std::string text = fmt::format("{} to {}, NIC {} to NIC {}", rank(edge.from), rank(edge.to),
                                 link.send_nic, link.recv_nic);
  if (link.proxy >= 0) text += fmt::format(", PXN through the GPU of rank {}", rank(link.proxy));
  const bool direct = link.send_gdr != 0 && link.recv_gdr != 0;
  return text + (direct ? ", GPUDirect" : ", through host memory");
}

}  // namespace

std::string RingsText(const ShownCommunicator& shown) {
  ChannelLines lines;
  for (int channel = 0; channel < shown.communicator.shape().ring_channels; ++channel) {
    lines.Add(channel, RanksInOrder(shown, shown.communicator.Ring(channel)));
  }
  return "Rings:\n" + lines.Text();
}

std::string TreesText(const ShownCommunicator& shown) {
  ChannelLines lines;
  for (int channel = 0; channel < shown.communicator.shape().ring_channels; ++channel) {
    const std::vector<hacknccl_tree> tree = shown.communicator.Tree(channel);
    Children children(tree.size());
    int root = 0;
    for (size_t m = 0; m < tree.size(); ++m) {
      if (tree[m].up < 0) root = static_cast<int>(m);
      for (const int child : tree[m].down) {
        if (child >= 0) children[m].push_back(child);
      }
    }
    lines.Add(channel, TreeText(shown, children, root));
  }
  return "Trees, from the root:\n" + lines.Text();
}

std::string NvlsText(const ShownCommunicator& shown) {
  ChannelLines lines;
  for (int channel = 0; channel < shown.communicator.shape().nvls_channels; ++channel) {
    const std::vector<hacknccl_nvls> members = shown.communicator.Nvls(channel);
    Children children(members.size());
    std::vector<int> heads, roots;
    for (size_t m = 0; m < members.size(); ++m) {
      if (members[m].head >= 0) heads.push_back(static_cast<int>(m));
      for (const int child : members[m].tree_down) {
        if (child >= 0) children[m].push_back(child);
      }
      const bool is_root = members[m].tree_up < 0 && !children[m].empty();
      if (is_root) roots.push_back(static_cast<int>(m));
    }
    std::string text = "heads " + RanksInOrder(shown, heads);
    for (const int root : roots) text += "; tree " + TreeText(shown, children, root);
    lines.Add(channel, text);
  }
  return "NVLS:\n" + lines.Text();
}

Result<std::string> NetworkText(const ShownCommunicator& shown, int algorithm) {
  const NcclCommunicator& c = shown.communicator;
  std::string text;
  size_t between = 0, by_proxy = 0;
  const bool from_first = algorithm < 0 || algorithm == HACKNCCL_PAT;
  for (const Edge& edge : EdgesOf(c, algorithm)) {
    const std::vector<int>& hosts = c.hosts();
    if (hosts[static_cast<size_t>(edge.from)] == hosts[static_cast<size_t>(edge.to)]) continue;
    ASSIGN_OR_RETURN(const hacknccl_link link,
                     c.Link(GraphOf(algorithm), edge.channel, edge.from, edge.to));
    if (link.kind != HACKNCCL_LINK_NET) continue;  // a rack: NVLink between hosts
    ++between;
    if (link.proxy >= 0) ++by_proxy;
    if (!shown.verbose && between > kLinesShown) continue;
    text += from_first ? "  " : fmt::format("  channel {}: ", edge.channel);
    text += LinkText(shown, edge, link) + "\n";
  }
  if (between == 0) return std::string("Nothing goes over a network.\n");
  if (!shown.verbose && between > kLinesShown) {
    text += fmt::format("  ... and {} more (-v)\n", between - kLinesShown);
  }
  return fmt::format("{} connection{} over the network{}, {} by PXN (which is {}):\n", between,
                     between == 1 ? "" : "s", from_first ? " from the first rank" : "", by_proxy,
                     c.shape().pxn != 0 ? "on" : "off") +
         text;
}

}  // namespace drydock
