// Max-min fair rates of flows that share links.
//
// A flow crosses links with a share of its bits: all of them, or a part where it is split over
// equal paths. Its acknowledgements take a share of its rate on other links. Rates are max-min fair
// if a flow can gain only at the expense of a flow with no higher rate (Bertsekas and Gallager,
// Data Networks, 6.5.2). Water-filling finds them: it fixes, link by link, the flows of the link
// that has the least to offer to each.
//
// Solve updates only the part of the network that a change reaches: from flow to link to flow, over
// links that are a bottleneck of some flow or would be overfull. This is sufficient. Rates are
// max-min fair if no link is overfull and each flow is limited, by its own bound or by a full link
// on which no flow has a higher rate. Exactly one set of rates is max-min fair. After a solution,
// the flows in it are limited by a link in it or by their bounds. If one of these flows crosses a
// link outside the solution, Solve has added up the rates on that link and found it not overfull. A
// flow outside the solution is limited by the same link as before: if a flow of that link had been
// solved again, the link, being a bottleneck, would be in the solution with all of its flows.
// (Rates are whole numbers. So where several links become full at once, a flow may differ by a bit
// or two per second from the solution of the whole network.)
//
// When a link is solved, the capacity that acknowledgements and Reserve take at that time is
// subtracted. If this part changes later by more than 1/64 of the capacity, the link is solved
// again by itself.
//
// Integers throughout: rates are whole bits per second, rounded down. Not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_SHARING_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_SHARING_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace drydock {

class FluidSharing {
 public:
  static constexpr int64_t kWhole = 1 << 14;  // all bits of a flow
  // Above all rates, so that kWhole times a rate fits into 64 bits.
  static constexpr int64_t kNoLimit = int64_t{1} << 48;

  // A link that a flow crosses with `share` / kWhole of its bits. The share is above 0, and above
  // kWhole for a flow that represents several.
  struct Use {
    uint32_t link = 0;
    uint32_t share = 0;
    uint32_t place = 0;  // of the flow in Link::flows
  };

  // Capacities in bits per second, by link; 0: the link is down.
  explicit FluidSharing(std::vector<int64_t> capacities);

  // Returns the number of the flow, counted from 0. It is idle at first. `limit` is the sender's
  // own limit, above 0.
  uint32_t AddFlow(std::span<const Use> data, std::span<const Use> acknowledgements, int64_t limit);
  // The flow takes another path from now on. Without links its rate is 0.
  void Move(uint32_t flow, std::span<const Use> data, std::span<const Use> acknowledgements);
  void Begin(uint32_t flow);
  // The flow shares only its first link and has no more than `pace`, which is above 0.
  void BeginAtFirstLink(uint32_t flow, int64_t pace);
  void End(uint32_t flow);
  void SetCapacity(uint32_t link, int64_t bits_per_second);
  // Reserves a part of the capacity, which flows cannot share. Replaces the last reservation.
  void Reserve(uint32_t link, int64_t bits_per_second);

  bool settled() const { return dirty_links_.empty() && dirty_flows_.empty(); }
  // Makes all rates fair. Returns the flows whose rates changed.
  const std::vector<uint32_t>& Solve();

  int64_t rate(uint32_t flow) const { return flows_[flow].rate; }
  // Returns the rate that the flow has if it is alone on its path.
  int64_t bound(uint32_t flow) const { return flows_[flow].bound; }
  std::span<const Use> data(uint32_t flow) const {
    return {uses_.data() + flows_[flow].data, flows_[flow].data_count};
  }
  std::span<const Use> acknowledgements(uint32_t flow) const {
    return {uses_.data() + flows_[flow].data + flows_[flow].data_count, flows_[flow].ack_count};
  }
  size_t flows_on(uint32_t link) const { return links_[link].flows.size(); }

  struct Counts {
    int64_t solutions = 0;  // with flows that share a link
    int64_t flows = 0;      // in all solutions
    int64_t largest = 0;    // flows in the largest solution
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Flow {
    uint32_t data = 0;  // into uses_; its acknowledgements follow
    uint32_t data_count = 0, ack_count = 0;
    bool active = false;
    bool at_first_link = false;
    uint32_t solved = 0;  // number of the last solution that contains it
    int64_t limit = 0, pace = 0;
    int64_t bound = 0, first_bound = 0;
    int64_t rate = 0, fair = 0;
  };
  struct Crossing {
    uint32_t flow = 0;
    uint32_t use = 0;  // into uses_
  };
  struct Link {
    int64_t capacity = 0;
    int64_t wanted = 0;    // sum of its flows' bounds
    int64_t reserved = 0;  // by acknowledgements and Reserve at present, times kWhole
    int64_t reserved_when_solved = 0;
    int64_t reserved_rate = 0;  // by Reserve, in bits per second
    // During a solution: the rest of the capacity and the sum of the shares of unfixed flows, both
    // times kWhole.
    int64_t left = 0, shares = 0;
    uint32_t solved = 0, touched = 0;  // numbers of the last solutions that contain or touch it
    bool dirty = false;
    bool is_bottleneck = false;  // of some flow, when it was last solved
    std::vector<Crossing> flows;
  };
  struct Level {  // the rate that a link can offer to each unfixed flow
    int64_t rate = 0;
    uint32_t link = 0;
    friend bool operator<(const Level& a, const Level& b) {
      return a.rate != b.rate ? a.rate < b.rate : a.link < b.link;
    }
  };

  // Returns the capacity that flows can share, times kWhole.
  static int64_t Room(const Link& link) {
    return std::max<int64_t>(link.capacity * kWhole - link.reserved, 0);
  }
  static bool IsContended(const Link& link) { return link.wanted > Room(link) / kWhole; }
  static int64_t Part(int64_t rate, uint32_t share) {
    return share == kWhole ? rate : (rate * share + kWhole - 1) / kWhole;
  }
  // Returns the links that the flow shares at present.
  std::span<Use> UsesOf(const Flow& flow) {
    return {uses_.data() + flow.data,
            flow.at_first_link ? std::min(flow.data_count, 1U) : flow.data_count};
  }
  static int64_t BoundOf(const Flow& flow) {
    return flow.at_first_link ? std::min(flow.first_bound, flow.pace) : flow.bound;
  }
  void SetUses(Flow* flow, std::span<const Use> data, std::span<const Use> acks);
  void FindBound(Flow* flow);
  void Enter(uint32_t flow);
  void Leave(uint32_t flow);
  void MarkDirty(uint32_t link);
  void SolveOnce();
  void Collect();
  bool SettleAlone(uint32_t flow);
  void AddToSolution(uint32_t flow);
  void AddLink(uint32_t link);
  void Touch(uint32_t link);
  void Expand();
  bool AddOverfull(bool all);
  bool IsOverfull(const Link& link) const;
  void StartLink(Link* link);
  void StartLevels();
  void Fill();
  bool FindLowest();
  void Fix(uint32_t flow, int64_t rate);
  Level LevelOf(uint32_t link) const;
  void Apply();
  void SetRate(uint32_t flow, int64_t rate);
  void Add(uint32_t link, int64_t reserved);

  std::vector<Flow> flows_;
  std::vector<Link> links_;
  std::vector<Use> uses_;
  std::vector<uint32_t> dirty_links_, dirty_flows_;
  uint32_t solution_ = 0;  // number
  std::vector<uint32_t> in_flows_, in_links_, alone_, changed_;
  std::vector<uint32_t> touched_;  // links that flows of the solution cross
  size_t expanded_ = 0;            // of in_flows_: flows whose links are in the solution or touched
  std::vector<Level> levels_;      // a heap, the lowest first; entries may be too low
  Counts counts_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_SHARING_H_
