// Max-min fair rates of flows that share links.
//
// A flow crosses links with a share of its bits (all of them, or where it is split over equal ways
// a part), and has acknowledgements that take a share of its rate on other links. A rate is max-min
// fair if it can only grow at the expense of a flow that has no more (Bertsekas and Gallager, Data
// Networks, 6.5.2): water-filling fixes, link by link, the flows of the link with the least to
// give.
//
// A change solves again only what it reaches: from flow to link to flow, over links that hold
// somebody back, or would be asked for more than they have. That is enough. Rates are max-min fair
// if no link gives more than it has and each flow is held back, by its own bound or by a full link
// on which nobody has more; and only one set of rates is. After a solution, flows in it are held
// back by a link in it or their bound; a link outside it that one of them crosses was summed up
// and has enough. A flow outside it is held back by a link as before: had one of that link's flows
// been solved again, the link would have been, as it holds somebody back, and with it all of its
// flows. (Rates are whole numbers, so where links are full to the bit at once, a flow may have a
// bit or two a second more or less than if all were solved.)
//
// Acknowledgements, and what else is set aside, are taken off a link as they are when it is solved;
// it is looked at again by itself where they have changed by more than 1/64 of the link since.
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
  // Rates are below it, so that kWhole times one is a number.
  static constexpr int64_t kNoLimit = int64_t{1} << 48;

  // A link that a flow crosses with `share` / kWhole of its bits, share > 0; more than kWhole where
  // it stands for several.
  struct Use {
    uint32_t link = 0;
    uint32_t share = 0;
    uint32_t place = 0;  // of the flow among those of the link
  };

  // Rates in bits per second, by link; 0 is a link that is down.
  explicit FluidSharing(std::vector<int64_t> capacities);

  // Flows are numbered from 0, and idle at first. `limit`: its sender's own; above 0.
  uint32_t AddFlow(std::span<const Use> data, std::span<const Use> acknowledgements, int64_t limit);
  // It takes another way from now on. Without links it gets nothing.
  void Move(uint32_t flow, std::span<const Use> data, std::span<const Use> acknowledgements);
  void Begin(uint32_t flow);
  // Shares its first link alone, and takes what it has there, `pace` at most; above 0.
  void BeginAtFirstLink(uint32_t flow, int64_t pace);
  void End(uint32_t flow);
  void SetCapacity(uint32_t link, int64_t bits_per_second);
  // What of the link is not for flows to share.
  void SetAside(uint32_t link, int64_t bits_per_second);

  bool settled() const { return dirty_links_.empty() && dirty_flows_.empty(); }
  // After this all rates are fair. The flows whose rates are others than before.
  const std::vector<uint32_t>& Solve();

  int64_t rate(uint32_t flow) const { return flows_[flow].rate; }
  // The most it could ever have on its whole way, with nothing else about.
  int64_t bound(uint32_t flow) const { return flows_[flow].bound; }
  std::span<const Use> data(uint32_t flow) const {
    return {uses_.data() + flows_[flow].data, flows_[flow].data_count};
  }
  std::span<const Use> acknowledgements(uint32_t flow) const {
    return {uses_.data() + flows_[flow].data + flows_[flow].data_count, flows_[flow].ack_count};
  }
  size_t flows_on(uint32_t link) const { return links_[link].flows.size(); }

  struct Counts {
    int64_t solutions = 0;  // that concerned flows that meet
    int64_t flows = 0;      // in all of them
    int64_t most = 0;       // in one
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Flow {
    uint32_t data = 0;  // into uses_; its acknowledgements follow
    uint32_t data_count = 0, ack_count = 0;
    bool active = false;
    bool at_first_link = false;
    uint32_t solved = 0;  // number of the solution that it was last in
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
    int64_t wanted = 0;       // by its flows at most
    int64_t aside = 0;        // what acknowledgements and SetAside take at present, times kWhole
    int64_t aside_known = 0;  // when it was last solved
    int64_t set_aside = 0;    // of that, but in bits per second
    // In a solution: what is left to give and how many want of it, both times kWhole.
    int64_t left = 0, shares = 0;
    uint32_t solved = 0, touched = 0;  // numbers of the solutions that it was last in, or near
    bool dirty = false;
    bool holds_back = false;  // some of its flows, when it was last solved
    std::vector<Crossing> flows;
  };
  struct Level {  // what a link has for each flow that is not fixed
    int64_t rate = 0;
    uint32_t link = 0;
    friend bool operator<(const Level& a, const Level& b) {
      return a.rate != b.rate ? a.rate < b.rate : a.link < b.link;
    }
  };

  // What is left of it to share, times kWhole.
  static int64_t Room(const Link& link) {
    return std::max<int64_t>(link.capacity * kWhole - link.aside, 0);
  }
  static bool IsContended(const Link& link) { return link.wanted > Room(link) / kWhole; }
  static int64_t Part(int64_t rate, uint32_t share) {
    return share == kWhole ? rate : (rate * share + kWhole - 1) / kWhole;
  }
  // Those that it shares as it is.
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
  void Add(uint32_t link, int64_t aside);

  std::vector<Flow> flows_;
  std::vector<Link> links_;
  std::vector<Use> uses_;
  std::vector<uint32_t> dirty_links_, dirty_flows_;
  uint32_t solution_ = 0;  // number
  std::vector<uint32_t> in_flows_, in_links_, alone_, changed_;
  std::vector<uint32_t> touched_;  // links that flows of the solution cross
  size_t expanded_ = 0;            // of in_flows_: whose links are in the solution or touched
  std::vector<Level> levels_;      // a heap, the lowest first; too low where flows were fixed since
  Counts counts_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_SHARING_H_
