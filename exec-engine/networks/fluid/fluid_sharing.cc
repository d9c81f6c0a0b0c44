#include "exec-engine/networks/fluid/fluid_sharing.h"

#include <algorithm>

#include "core/base/check.h"

namespace drydock {
namespace {

// Bounds of the method.
constexpr int64_t kDrift = 64;  // a reservation may change by 1 / kDrift of a link unnoticed
constexpr int kMaxTries = 4;    // after them, a solution includes all links that it touches
constexpr int kMaxRounds = 8;   // later changes by acknowledgements wait for the next Solve

}  // namespace

FluidSharing::FluidSharing(std::vector<int64_t> capacities) : links_(capacities.size()) {
  for (size_t i = 0; i < capacities.size(); ++i) {
    CHECK(capacities[i] >= 0 && capacities[i] < kNoLimit);
    links_[i].capacity = capacities[i];
  }
}

uint32_t FluidSharing::AddFlow(std::span<const Use> data, std::span<const Use> acknowledgements,
                               int64_t limit) {
  CHECK(limit > 0 && limit <= kNoLimit);
  Flow flow;
  flow.limit = limit;
  SetUses(&flow, data, acknowledgements);
  flows_.push_back(flow);
  return static_cast<uint32_t>(flows_.size() - 1);
}

void FluidSharing::SetUses(Flow* flow, std::span<const Use> data, std::span<const Use> acks) {
  flow->data = static_cast<uint32_t>(uses_.size());
  flow->data_count = static_cast<uint32_t>(data.size());
  flow->ack_count = static_cast<uint32_t>(acks.size());
  uses_.insert(uses_.end(), data.begin(), data.end());
  uses_.insert(uses_.end(), acks.begin(), acks.end());
  FindBound(flow);
}

void FluidSharing::FindBound(Flow* flow) {
  flow->bound = flow->first_bound = flow->data_count == 0 ? 0 : flow->limit;
  for (uint32_t i = flow->data; i < flow->data + flow->data_count; ++i) {
    const int64_t alone = links_[uses_[i].link].capacity * kWhole / uses_[i].share;
    flow->bound = std::min(flow->bound, alone);
    if (i == flow->data) flow->first_bound = flow->bound;
  }
}

// The flow keeps its rate until it is solved, so that Solve notices a change.
void FluidSharing::Move(uint32_t number, std::span<const Use> data, std::span<const Use> acks) {
  Flow& flow = flows_[number];
  const int64_t rate = flow.rate;
  if (flow.active) Leave(number);
  SetRate(number, 0);  // frees the old links of its acknowledgements
  SetUses(&flow, data, acks);
  if (!flow.active) return;
  SetRate(number, rate);
  Enter(number);
  dirty_flows_.push_back(number);
}

void FluidSharing::MarkDirty(uint32_t link) {
  if (links_[link].dirty) return;
  links_[link].dirty = true;
  dirty_links_.push_back(link);
}

// Adds the flow to its links.
void FluidSharing::Enter(uint32_t number) {
  const Flow& flow = flows_[number];
  uint32_t i = flow.data;
  for (Use& use : UsesOf(flow)) {
    Link& link = links_[use.link];
    use.place = static_cast<uint32_t>(link.flows.size());
    link.flows.push_back({number, i++});
    link.wanted += Part(BoundOf(flow), use.share);
    if (link.is_bottleneck) MarkDirty(use.link);
  }
}

void FluidSharing::Leave(uint32_t number) {
  const Flow& flow = flows_[number];
  for (const Use& use : UsesOf(flow)) {
    Link& link = links_[use.link];
    if (link.is_bottleneck) MarkDirty(use.link);
    link.wanted -= Part(BoundOf(flow), use.share);
    link.flows[use.place] = link.flows.back();
    uses_[link.flows[use.place].use].place = use.place;
    link.flows.pop_back();
  }
}

void FluidSharing::Begin(uint32_t number) {
  Flow& flow = flows_[number];
  CHECK(!flow.active);
  flow.active = true;
  flow.at_first_link = false;
  Enter(number);
  dirty_flows_.push_back(number);
}

void FluidSharing::BeginAtFirstLink(uint32_t number, int64_t pace) {
  Flow& flow = flows_[number];
  CHECK(!flow.active && pace > 0);
  flow.active = true;
  flow.at_first_link = true;
  flow.pace = pace;
  Enter(number);
  dirty_flows_.push_back(number);
}

void FluidSharing::End(uint32_t flow) {
  CHECK(flows_[flow].active);
  Leave(flow);
  flows_[flow].active = false;
  SetRate(flow, 0);
}

void FluidSharing::SetCapacity(uint32_t number, int64_t bits_per_second) {
  CHECK(bits_per_second >= 0 && bits_per_second < kNoLimit);
  std::vector<uint32_t> crossing;
  for (const Crossing& each : links_[number].flows) crossing.push_back(each.flow);
  for (const uint32_t flow : crossing) Leave(flow);
  links_[number].capacity = bits_per_second;
  // Idle flows have bounds as well.
  for (uint32_t flow_number = 0; flow_number < flows_.size(); ++flow_number) {
    const std::span<const Use> uses = data(flow_number);
    if (std::any_of(uses.begin(), uses.end(), [&](const Use& u) { return u.link == number; })) {
      FindBound(&flows_[flow_number]);
    }
  }
  for (const uint32_t flow : crossing) {
    Enter(flow);
    dirty_flows_.push_back(flow);
  }
  MarkDirty(number);
}

void FluidSharing::Reserve(uint32_t link, int64_t bits_per_second) {
  const int64_t change = bits_per_second - links_[link].reserved_rate;
  if (change == 0) return;
  links_[link].reserved_rate = bits_per_second;
  Add(link, change * kWhole);
}

// Adds to what is reserved.
void FluidSharing::Add(uint32_t number, int64_t reserved) {
  Link& link = links_[number];
  link.reserved += reserved;
  const int64_t drift = link.reserved - link.reserved_when_solved;
  if (!link.flows.empty() && std::abs(drift) / kWhole > link.capacity / kDrift) MarkDirty(number);
}

void FluidSharing::SetRate(uint32_t number, int64_t rate) {
  Flow& flow = flows_[number];
  const int64_t change = rate - flow.rate;
  flow.rate = rate;
  for (const Use& use : acknowledgements(number)) Add(use.link, change * use.share);
}

const std::vector<uint32_t>& FluidSharing::Solve() {
  changed_.clear();
  for (int round = 0; round < kMaxRounds && !settled(); ++round) SolveOnce();
  return changed_;
}

void FluidSharing::SolveOnce() {
  ++solution_;
  Collect();
  if (!in_flows_.empty()) {
    Fill();
    for (int tries = 1; AddOverfull(/*all=*/tries == kMaxTries); ++tries) Fill();
    ++counts_.solutions;
    counts_.flows += static_cast<int64_t>(in_flows_.size());
    counts_.largest = std::max(counts_.largest, static_cast<int64_t>(in_flows_.size()));
  }
  Apply();
}

// A flow that is alone on each contended link of its path needs no water-filling: its rate is what
// the links can offer. Returns false if it is not alone.
bool FluidSharing::SettleAlone(uint32_t number) {
  Flow& flow = flows_[number];
  if (flow.solved == solution_ || !flow.active) return true;
  int64_t fair = BoundOf(flow);
  for (const Use& use : UsesOf(flow)) {
    Link& link = links_[use.link];
    if (link.flows.size() == 1) link.reserved_when_solved = link.reserved;
    if (!IsContended(link)) continue;
    if (link.flows.size() > 1) return false;
    fair = std::min(fair, Room(link) / use.share);
  }
  flow.solved = solution_;
  flow.fair = fair;
  alone_.push_back(number);
  return true;
}

void FluidSharing::AddToSolution(uint32_t number) {
  Flow& flow = flows_[number];
  if (flow.solved == solution_ || !flow.active) return;
  flow.solved = solution_;
  flow.fair = -1;
  in_flows_.push_back(number);
}

void FluidSharing::AddLink(uint32_t number) {
  Link& link = links_[number];
  if (link.solved == solution_) return;
  link.solved = solution_;
  link.reserved_when_solved = link.reserved;
  in_links_.push_back(number);
  for (const Crossing& crossing : link.flows) AddToSolution(crossing.flow);
}

void FluidSharing::Touch(uint32_t number) {
  Link& link = links_[number];
  if (link.touched == solution_) return;
  link.touched = solution_;
  touched_.push_back(number);
}

// Follows the flows in the solution to their links, and these to further flows.
void FluidSharing::Expand() {
  for (; expanded_ < in_flows_.size(); ++expanded_) {
    for (const Use& use : UsesOf(flows_[in_flows_[expanded_]])) {
      const Link& link = links_[use.link];
      if (!IsContended(link)) continue;
      if (link.is_bottleneck) {
        AddLink(use.link);
      } else {
        Touch(use.link);
      }
    }
  }
}

// Collects the flows and links that the changes certainly reach.
void FluidSharing::Collect() {
  in_flows_.clear();
  in_links_.clear();
  alone_.clear();
  touched_.clear();
  expanded_ = 0;
  for (const uint32_t number : dirty_links_) {
    Link& link = links_[number];
    link.dirty = false;
    if (link.flows.empty()) continue;
    if (link.flows.size() == 1 && SettleAlone(link.flows.front().flow)) continue;
    AddLink(number);
  }
  for (const uint32_t flow : dirty_flows_) {
    if (!SettleAlone(flow)) AddToSolution(flow);
  }
  dirty_links_.clear();
  dirty_flows_.clear();
  Expand();
}

bool FluidSharing::IsOverfull(const Link& link) const {
  const int64_t room = Room(link);
  int64_t load = 0;
  for (const Crossing& crossing : link.flows) {
    const Flow& flow = flows_[crossing.flow];
    load += (flow.solved == solution_ ? flow.fair : flow.rate) * uses_[crossing.use].share;
    if (load > room) return true;
  }
  return false;
}

// Adds the touched links that the solution overfills, or (`all`) all touched links. Returns false
// if there are none, so that the solution is valid.
bool FluidSharing::AddOverfull(bool all) {
  const size_t before = in_links_.size();
  for (const uint32_t link : touched_) {
    if (links_[link].solved == solution_) continue;
    if (all || IsOverfull(links_[link])) AddLink(link);
  }
  if (in_links_.size() == before) return false;
  do {
    Expand();
    if (!all) break;
    for (size_t i = 0; i < touched_.size(); ++i) AddLink(touched_[i]);
  } while (expanded_ < in_flows_.size());
  return true;
}

FluidSharing::Level FluidSharing::LevelOf(uint32_t number) const {
  const Link& link = links_[number];
  return {link.left / link.shares, number};
}

namespace {

constexpr auto kHigher = [](const auto& a, const auto& b) { return b < a; };

}  // namespace

void FluidSharing::StartLink(Link* link) {
  link->is_bottleneck = false;
  link->left = Room(*link);
  link->shares = 0;
  for (const Crossing& crossing : link->flows) {
    const Flow& flow = flows_[crossing.flow];
    const uint32_t share = uses_[crossing.use].share;
    if (flow.fair >= 0) {  // settled alone
      link->left = std::max<int64_t>(link->left - flow.fair * share, 0);
    } else {
      link->shares += share;
    }
  }
}

void FluidSharing::StartLevels() {
  for (const uint32_t flow : in_flows_) flows_[flow].fair = -1;
  levels_.clear();
  for (const uint32_t link : in_links_) {
    StartLink(&links_[link]);
    if (links_[link].shares > 0) levels_.push_back(LevelOf(link));
  }
  std::make_heap(levels_.begin(), levels_.end(), kHigher);
  std::sort(in_flows_.begin(), in_flows_.end(), [this](uint32_t a, uint32_t b) {
    const int64_t bound_a = BoundOf(flows_[a]), bound_b = BoundOf(flows_[b]);
    return bound_a != bound_b ? bound_a < bound_b : a < b;
  });
}

// Brings the lowest level to the front; returns false if no link has unfixed flows. Flows are fixed
// at or below the lowest level, so that the other levels only rise.
bool FluidSharing::FindLowest() {
  while (!levels_.empty()) {
    const Level front = levels_.front();
    if (links_[front.link].shares > 0 && LevelOf(front.link).rate == front.rate) return true;
    std::pop_heap(levels_.begin(), levels_.end(), kHigher);
    levels_.pop_back();
    if (links_[front.link].shares == 0) continue;
    levels_.push_back(LevelOf(front.link));
    std::push_heap(levels_.begin(), levels_.end(), kHigher);
  }
  return false;
}

// Water-filling: fixes the flows that have reached their own bound or the level of their link.
void FluidSharing::Fill() {
  StartLevels();
  size_t next = 0;  // of in_flows_, by bound
  for (;;) {
    while (next < in_flows_.size() && flows_[in_flows_[next]].fair >= 0) ++next;
    const bool limited = FindLowest();
    if (next < in_flows_.size() &&
        (!limited || BoundOf(flows_[in_flows_[next]]) <= levels_.front().rate)) {
      Fix(in_flows_[next], BoundOf(flows_[in_flows_[next]]));
      continue;
    }
    if (!limited) return;
    const Level lowest = levels_.front();
    links_[lowest.link].is_bottleneck = true;
    for (const Crossing& crossing : links_[lowest.link].flows) {
      if (flows_[crossing.flow].fair < 0) Fix(crossing.flow, lowest.rate);
    }
  }
}

void FluidSharing::Fix(uint32_t number, int64_t rate) {
  Flow& flow = flows_[number];
  flow.fair = rate;
  for (const Use& use : UsesOf(flow)) {
    Link& link = links_[use.link];
    if (link.solved != solution_) continue;
    link.left = std::max<int64_t>(link.left - rate * use.share, 0);
    link.shares -= use.share;
  }
}

void FluidSharing::Apply() {
  for (const auto* flows : {&alone_, &in_flows_}) {
    for (const uint32_t number : *flows) {
      if (flows_[number].fair == flows_[number].rate) continue;
      SetRate(number, flows_[number].fair);
      changed_.push_back(number);
    }
  }
}

}  // namespace drydock
