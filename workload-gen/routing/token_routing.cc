#include "workload-gen/routing/token_routing.h"

#include <algorithm>
#include <cmath>

namespace drydock {
namespace {

int64_t DivideUp(int64_t value, int64_t by) { return (value + by - 1) / by; }

// The most copies that one sender may dispatch to the experts of one rank.
int64_t CapacityOfRank(const TrainingJob& job, const ParallelLayout& layout, int64_t copies) {
  const int experts = job.model.moe.experts;
  const double each = static_cast<double>(copies) / experts * job.training.moe.capacity_factor;
  return static_cast<int64_t>(std::ceil(each)) * (experts / layout.expert);
}

// An all-to-all-v in which each rank sends `width` elements for each copy.
CommCall ByPairs(const TokenRouting& routing, const ParallelLayout& layout, DataType type,
                 int64_t width, bool back) {
  CommCall call;
  call.collective = CollectiveType::kAllToAllV;
  call.type = type;
  call.group_size = layout.expert;
  const auto ranks = static_cast<size_t>(layout.expert);
  for (size_t from = 0; from < ranks; ++from) {
    for (size_t to = 0; to < ranks; ++to) {
      const bool busiest = (back ? from : to) == 0;
      call.pair_counts.push_back((busiest ? routing.to_busiest : routing.to_each) * width);
    }
  }
  call.count = std::max(routing.sent, routing.to_busiest * layout.expert) * width;
  return call;
}

}  // namespace

TokenRouting RouteTokens(const TrainingJob& job, const ParallelLayout& layout, ExpertLoad load) {
  TokenRouting routing;
  routing.tokens = job.tensor_rank_tokens();
  const int64_t copies = routing.tokens * job.model.moe.per_token;
  const int64_t ranks = layout.expert;
  routing.to_busiest = routing.to_each = DivideUp(copies, ranks);
  if (load != ExpertLoad::kMean) {
    routing.to_busiest = static_cast<int64_t>(std::llround(
        static_cast<double>(copies) * job.training.moe.imbalance / static_cast<double>(ranks)));
    routing.to_each = DivideUp(copies - routing.to_busiest, ranks - 1);
  }
  if (job.training.moe.capacity_factor > 0) {
    const int64_t capacity = CapacityOfRank(job, layout, copies);
    routing.padded = job.training.moe.pad_to_capacity;
    routing.to_busiest = routing.padded ? capacity : std::min(routing.to_busiest, capacity);
    routing.to_each = routing.padded ? capacity : std::min(routing.to_each, capacity);
  }
  routing.sent = routing.to_busiest + (ranks - 1) * routing.to_each;
  const int64_t mine = load == ExpertLoad::kBusiest ? routing.to_busiest : routing.to_each;
  routing.received = mine * ranks * layout.expert_tensor;
  return routing;
}

CommCall TokenExchange(const TokenRouting& routing, const ParallelLayout& layout, DataType type,
                       int64_t width, bool back) {
  if (routing.to_busiest != routing.to_each) return ByPairs(routing, layout, type, width, back);
  CommCall call;
  call.collective = CollectiveType::kAllToAll;
  call.type = type;
  call.group_size = layout.expert;
  call.count = routing.sent * width;
  return call;
}

CommCall LowLatencyExchange(const TokenRouting& routing, const ParallelLayout& layout,
                            DataType type, int64_t width, bool back) {
  CommCall call = ByPairs(routing, layout, type, width, back);
  call.buffers = BufferKind::kDeepEpLowLatency;
  call.sms = 1;  // the costs are those of the whole kernel
  return call;
}

double ShareInPart(int experts, int per_token, int parts, double load) {
  // The probability that no expert of a token is in a part of mean load: C(E - E/R, k) / C(E, k).
  const int part = experts / parts;
  double none = 1;
  for (int i = 0; i < per_token; ++i) {
    none *= std::max(0.0, static_cast<double>(experts - part - i)) / (experts - i);
  }
  return load == 1 ? 1 - none : 1 - std::pow(none, load);
}

CommCall LibraryExchange(const TrainingJob& job, const ParallelLayout& layout, int gpus,
                         int64_t tokens, DataType type, int64_t width, bool back) {
  const int ranks = layout.expert * layout.expert_tensor;
  const int in_host = std::min(gpus, ranks), hosts = ranks / in_host;
  const ExpertShape& moe = job.model.moe;
  const ExpertRules& rules = job.training.moe;
  double busiest = rules.imbalance;
  if (rules.pad_to_capacity)
    busiest = 1;
  else if (rules.capacity_factor > 0)
    busiest = std::min(busiest, rules.capacity_factor);
  busiest = std::max(busiest, 1.0);
  const double other = layout.expert > 1 ? (layout.expert - busiest) / (layout.expert - 1) : 1;
  const auto rows = [&](int parts, double load, int senders) {
    const double parts_needed = parts * ShareInPart(moe.experts, moe.per_token, parts, load);
    const double share = static_cast<double>(tokens) * parts_needed / parts;
    return static_cast<int64_t>(std::ceil(share * senders)) * width;
  };
  // Expert-tensor ranks hold parts of the same experts, so a token goes to all of them.
  const auto is_busiest = [&](int rank) { return rank / layout.expert_tensor == 0; };
  const int experts_in_host = std::max(1, in_host / layout.expert_tensor);
  const double busiest_host = (busiest + (experts_in_host - 1) * other) / experts_in_host;
  const auto to_rank = [&](int rank) {
    return rows(layout.expert, is_busiest(rank) ? busiest : other, /*senders=*/hosts);
  };
  const auto to_host = [&](int rank) {
    return rows(hosts, rank < in_host ? busiest_host : other, /*senders=*/1);
  };
  CommCall call;
  call.collective = CollectiveType::kAllToAllV;
  call.type = type;
  call.group_size = ranks;
  call.buffers = job.training.moe.exchange();
  call.sms = job.training.moe.dispatch_sms;
  if (call.sms == 0) {
    call.sms = call.buffers == BufferKind::kHybridEp ? kHybridEpSms : kDeepEpSms;
  }
  std::vector<int64_t> sent(static_cast<size_t>(ranks)), received(static_cast<size_t>(ranks));
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      const bool same_host = from / in_host == to / in_host;
      const bool same_place = from % in_host == to % in_host;
      const int experts = back ? from : to;  // the rank that computes these tokens
      const int64_t count = same_host ? to_rank(experts) : same_place ? to_host(experts) : 0;
      call.pair_counts.push_back(count);
      sent[static_cast<size_t>(from)] += count;
      received[static_cast<size_t>(to)] += count;
    }
  }
  call.count = std::max(*std::max_element(sent.begin(), sent.end()),
                        *std::max_element(received.begin(), received.end()));
  return call;
}

}  // namespace drydock
