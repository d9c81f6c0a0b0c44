#include "simccl/explain/group_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/model/calls/grouped_call.h"
#include "core/model/calls/rank_list.h"

namespace drydock {
namespace {

class Writer {
 public:
  Writer(const SelectedCall& selected, const GroupOfCalls& calls, int member, const NcclPlan& plan)
      : selected_(selected),
        calls_(calls),
        member_(member),
        plan_(plan),
        offsets_(OffsetsOfParts(selected.call)) {}

  std::string Write() const {
    std::string text = fmt::format("{} kernel{}, on rank {}:\n", plan_.kernels,
                                   plan_.kernels == 1 ? "" : "s", RankOf(member_));
    for (int kernel = 0; kernel < plan_.kernels; ++kernel) {
      if (plan_.kernels > 1) text += fmt::format(" kernel {}\n", kernel);
      text += KernelText(kernel);
    }
    return text;
  }

 private:
  int RankOf(int member) const { return selected_.ranks[static_cast<size_t>(member)]; }

  // Returns the channels of a kernel's works of one kind, by work.
  std::vector<std::set<int>> ChannelsOf(int kernel, int kind, size_t works) const {
    std::vector<std::set<int>> channels(works);
    for (const hacknccl_batch& batch : plan_.batches) {
      if (batch.kernel != kernel || batch.works != kind) continue;
      for (uint32_t i = batch.first; i < batch.first + batch.count; ++i) {
        channels[plan_.batch_works[i]].insert(batch.channel);
      }
    }
    return channels;
  }

  static std::string Line(const std::set<int>& channels, const std::string& what) {
    return fmt::format("  {:<18} {}\n",
                       fmt::format("channel{} {}", channels.size() == 1 ? "" : "s",
                                   RanksText({channels.begin(), channels.end()})),
                       what);
  }

  // Returns the name of the part that call number `call` of the first member belongs to:
  // "all-reduce bf16 2 MB over 8".
  std::string PartText(int call) const {
    const int64_t base = calls_.bases[static_cast<size_t>(call)];
    const auto next = std::upper_bound(offsets_.begin(), offsets_.end(), base);
    return NameOf(selected_.call.parts[static_cast<size_t>(next - offsets_.begin() - 1)]);
  }

  static std::string How(int algorithm, int protocol, int warps, int64_t chunk) {
    return fmt::format(
        "{} with {}, {} warps, chunks of {}", AlgorithmNames()[static_cast<size_t>(algorithm)],
        ProtocolNames()[static_cast<size_t>(protocol)], warps, ToString(Bytes(chunk)));
  }

  std::string KernelText(int kernel) const {
    std::string text;
    const auto collectives = ChannelsOf(kernel, HACKNCCL_COLLECTIVES, plan_.collectives.size());
    for (size_t i = 0; i < collectives.size(); ++i) {
      const hacknccl_collective& work = plan_.collectives[i];
      if (collectives[i].empty()) continue;
      text += Line(collectives[i], PartText(work.call) + ": " +
                                       How(work.algorithm, work.protocol, work.warps,
                                           static_cast<int64_t>(work.chunk_lo)));
    }
    return text + BroadcastsText(kernel) + ExchangesText(kernel);
  }

  std::string BroadcastsText(int kernel) const {
    const auto channels = ChannelsOf(kernel, HACKNCCL_BROADCASTS, plan_.broadcasts.size());
    std::set<int> all, roots;
    const hacknccl_broadcast* first = nullptr;
    for (size_t i = 0; i < channels.size(); ++i) {
      if (channels[i].empty()) continue;
      all.insert(channels[i].begin(), channels[i].end());
      roots.insert(plan_.broadcasts[i].root);
      if (first == nullptr) first = &plan_.broadcasts[i];
    }
    if (first == nullptr) return "";
    return Line(all, fmt::format("broadcasts of {} roots in turns (AllGatherV): {}", roots.size(),
                                 How(HACKNCCL_RING, first->protocol, first->warps, first->chunk)));
  }

  std::string ExchangesText(int kernel) const {
    std::string text;
    const auto channels = ChannelsOf(kernel, HACKNCCL_EXCHANGES, plan_.exchanges.size());
    for (size_t i = 0; i < channels.size(); ++i) {
      if (!channels[i].empty()) text += Line(channels[i], ExchangeText(plan_.exchanges[i]));
    }
    return text;
  }

  std::string ExchangeText(const hacknccl_exchange& work) const {
    const auto end = [this](const char* what, int peer, uint64_t bytes, int ll) {
      return fmt::format("{} rank {}, {} with {}", what, RankOf(peer),
                         ToString(Bytes(static_cast<int64_t>(bytes))), ll != 0 ? "LL" : "Simple");
    };
    std::string text;
    if (work.send_peer >= 0) {
      text = end("message to", work.send_peer, work.send_bytes, work.send_ll);
    }
    if (work.recv_peer < 0) return text;
    return text + (text.empty() ? "" : "; ") +
           end("message from", work.recv_peer, work.recv_bytes, work.recv_ll);
  }

  const SelectedCall& selected_;
  const GroupOfCalls& calls_;
  const int member_;
  const NcclPlan& plan_;
  const std::vector<int64_t> offsets_;
};

}  // namespace

std::string GroupText(const SelectedCall& selected, const GroupOfCalls& calls, int member,
                      const NcclPlan& plan) {
  return Writer(selected, calls, member, plan).Write();
}

}  // namespace drydock
