#include "exec-engine/networks/fabric_queues.h"

#include <algorithm>

#include "core/network/flow_ends.h"

namespace drydock {
namespace {

constexpr uint32_t kUnused = UINT32_MAX;

// Returns the time of `share` / whole of the bits that take `once`.
Time Part(Time once, int64_t share, int64_t whole) {
  return Time::Ps(static_cast<int64_t>(static_cast<__int128>(once.ps()) * share / whole));
}

}  // namespace

bool FabricQueues::Applies(const Topology& topology) {
  const bool has_cables =
      std::any_of(topology.fabric.links.begin(), topology.fabric.links.end(),
                  [](const FabricLink& link) { return link.a.is_switch && link.b.is_switch; });
  if (!has_cables || !Spreads(topology)) return has_cables;
  const std::vector<bool> narrow = NarrowLinks(FabricMap(topology));
  return std::find(narrow.begin(), narrow.end(), true) != narrow.end();
}

Time FabricQueues::Serialization(int64_t bytes, Bandwidth rate) const {
  const Transport& transport = topology_.transport;
  const int64_t packets = (bytes + transport.mtu.count() - 1) / transport.mtu.count();
  return rate.TimeFor(Bytes(bytes) + transport.header * packets);
}

Time FabricQueues::Pass(uint32_t number, const Message& message, uint32_t folded, Time now) {
  if (message.control) return now;  // it has no bytes to speak of
  if (number >= connections_.size()) connections_.resize(number + 1);
  Connection& connection = connections_[number];
  if (!connection.known) Add(&connection, message, folded);
  const uint32_t first = connection.first;
  if (shape_.queue_pairs == 1) return PassPart(first, message.size.count(), now);
  const int64_t bytes = message.size.count();
  const uint32_t turn = connection.sent;
  connection.sent = turn + 1 == shape_.queue_pairs ? 0 : turn + 1;
  Time last = connection.passed;
  if (shape_.split_data) {
    for (const MessagePart& part : SplitMessage(bytes, turn, shape_)) {
      last = std::max(last, PassPart(first + part.queue_pair, part.bytes, now));
    }
  } else {
    last = std::max(last, PassPart(first + turn, bytes, now));
  }
  return connection.passed = last;
}

Time FabricQueues::PassPart(uint32_t queue_pair, int64_t bytes, Time now) {
  Time last = now, once;
  Bandwidth rate;
  for (uint32_t i = ends_[queue_pair]; i < ends_[queue_pair + 1]; ++i) {
    const Use& use = uses_[i];
    if (rates_[use.cable] != rate) {
      rate = rates_[use.cable];
      once = Serialization(bytes, rate);
    }
    Time& free = free_[use.cable];
    free = std::max(now, free) + Part(once, use.share, kWhole);
    last = std::max(last, free);
  }
  return last;
}

void FabricQueues::Add(Connection* connection, const Message& message, uint32_t folded) {
  connection->known = true;
  if (!map_) {
    map_.emplace(topology_);
    cable_of_link_.assign(map_->link_count(), kUnused);
    if (spreads_) narrow_ = NarrowLinks(*map_);
  }
  std::vector<FlowEnds> flows;
  if (folded != kNotFolded) flows = replicas_->ReplicaFlows(folded);
  const bool alone = folded != kNotFolded && replicas_->connection(folded).every_member;
  if (flows.empty() && !alone) flows = {FlowEndsOf(message)};
  connection->first = static_cast<uint32_t>(ends_.size());
  std::vector<Use> uses;
  for (uint32_t pair = 0; pair < shape_.queue_pairs; ++pair) {
    uses.clear();
    for (FlowEnds flow : flows) {
      flow.flow = FlowOfQueuePair(flow.flow, pair);
      AddPath(flow, &uses);
    }
    std::sort(uses.begin(), uses.end(),
              [](const Use& a, const Use& b) { return a.cable < b.cable; });
    ends_.push_back(static_cast<uint32_t>(uses_.size()));
    for (const Use& use : uses) {
      if (uses_.size() > ends_.back() && uses_.back().cable == use.cable) {
        uses_.back().share += use.share;
      } else {
        uses_.push_back(use);
      }
    }
  }
  ends_.push_back(static_cast<uint32_t>(uses_.size()));
}

// Appends the cables between switches; NICs limit the others.
void FabricQueues::AddPath(const FlowEnds& flow, std::vector<Use>* uses) {
  const uint32_t hash =
      PathHash(flow.source, flow.source_nic, flow.destination, flow.destination_nic, flow.flow);
  const auto ends =
      map_->PickAccess(static_cast<uint32_t>(flow.source), flow.source_nic,
                       static_cast<uint32_t>(flow.destination), flow.destination_nic, hash);
  if (!ends) return;
  if (spreads_) {
    for (const LinkShare& part : SpreadShares(*map_, *ends, kWhole)) {
      if (narrow_[part.link]) uses->push_back({CableOf(part.link), part.share});
    }
    return;
  }
  for (const uint32_t link : map_->LinksOf(*ends, hash)) {
    const FabricDirection& direction = map_->direction(link);
    if (!map_->IsSwitch(direction.from_node) || !map_->IsSwitch(direction.to_node)) continue;
    uses->push_back({CableOf(link), kWhole});
  }
}

uint32_t FabricQueues::CableOf(uint32_t link) {
  uint32_t& cable = cable_of_link_[link];
  if (cable == kUnused) {
    cable = static_cast<uint32_t>(free_.size());
    free_.emplace_back();
    rates_.push_back(map_->direction(link).rate);
  }
  return cable;
}

void FabricQueues::AppendState(RelativeState* out) const {
  for (const Time free : free_) out->AddFree(free);
  if (shape_.queue_pairs == 1) return;
  for (const Connection& connection : connections_) {
    out->Add(connection.sent);
    out->AddFree(connection.passed);
  }
}

}  // namespace drydock
