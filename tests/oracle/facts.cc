#include "tests/oracle/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "core/base/check.h"

namespace drydock {
namespace {

std::string Text(const hacknccl_collective& work) {
  return fmt::format(
      "call {}: function {} algorithm {} protocol {} of {} B, root {}, channels {}-{}, {} warps, "
      "even {}, "
      "count {} = {} {} {}, chunks {} {} {}, steps {}/{}, direct {}",
      work.call, work.function, work.algorithm, work.protocol, work.element_bytes, work.root,
      work.channel_lo, work.channel_hi, work.warps, work.even, work.count, work.count_lo,
      work.count_mid, work.count_hi, work.chunk_lo, work.chunk_mid, work.chunk_hi, work.chunk_steps,
      work.slice_steps, work.direct);
}

std::string Text(const hacknccl_exchange& work) {
  return fmt::format(
      "send {} B to {} over {} channels, chunk {}, LL {}; receive {} B from {} over {} channels, "
      "chunk {}, LL {}; from channel {}, direct {} {}",
      work.send_bytes, work.send_peer, work.send_channels, work.send_chunk, work.send_ll,
      work.recv_bytes, work.recv_peer, work.recv_channels, work.recv_chunk, work.recv_ll,
      work.channel_base, work.send_direct, work.recv_direct);
}

std::string Text(const hacknccl_broadcast& work) {
  return fmt::format(
      "call {}: root {}, channel {}, protocol {}, {} warps: {} B at {} in chunks of {}", work.call,
      work.root, work.channel, work.protocol, work.warps, work.bytes, work.offset, work.chunk);
}

std::string Text(const hacknccl_proxy_op& op) {
  return fmt::format("channel {} protocol {}: {} steps of {}/{}, chunk {} slice {} loop {}, {} B",
                     op.channel, op.protocol, op.steps, op.chunk_steps, op.slice_steps,
                     op.chunk_bytes, op.slice_bytes, op.loop_bytes, op.bytes);
}

std::string Text(const hacknccl_decision& decision) {
  std::string text =
      fmt::format("function {} of {} B: algorithm {} protocol {} among", decision.function,
                  decision.bytes, decision.algorithm, decision.protocol);
  for (const auto& protocols : decision.estimates) {
    for (const hacknccl_estimate& estimate : protocols) {
      text += fmt::format(" {:.4g}{}", estimate.time_us, estimate.why_not[0] == '\0' ? "" : "*");
    }
  }
  return text;
}

}  // namespace

void AddShape(const hacknccl_shape& shape, Lines* lines) {
  lines->push_back(fmt::format(
      "shape: {} ranks on {} hosts; channels: {} of rings and trees, {} NVLS with {} heads, {} of "
      "messages, {} a peer, {} B a chunk; buffers {} of {} slots; CollNet {} PXN {} CTAs {}-{}",
      shape.ranks, shape.hosts, shape.ring_channels, shape.nvls_channels, shape.nvls_heads,
      shape.p2p_channels, shape.p2p_channels_per_peer, shape.p2p_chunk_bytes,
      fmt::join(shape.buffer_bytes, " "), shape.slots, shape.collnet, shape.pxn, shape.min_ctas,
      shape.max_ctas));
}

void AddRing(int channel, int rank, const std::vector<int>& order, Lines* lines) {
  std::vector<int> from_zero = order;
  const auto zero = std::find(from_zero.begin(), from_zero.end(), 0);
  CHECK(zero != from_zero.end());
  std::rotate(from_zero.begin(), zero, from_zero.end());
  const size_t n = from_zero.size();
  const auto index =
      static_cast<size_t>(std::find(from_zero.begin(), from_zero.end(), rank) - from_zero.begin());
  lines->push_back(fmt::format("ring {}: {} -> {} -> {}, place {} in {}", channel,
                               from_zero[(index + n - 1) % n], rank, from_zero[(index + 1) % n],
                               index, fmt::join(from_zero, " ")));
}

void AddTree(int channel, const hacknccl_tree& tree, Lines* lines) {
  lines->push_back(
      fmt::format("tree {}: up {}, down {}", channel, tree.up, fmt::join(tree.down, " ")));
}

void AddNvls(int channel, const hacknccl_nvls& nvls, Lines* lines) {
  lines->push_back(fmt::format("NVLS {}: head {}, tree up {}, down {}", channel, nvls.head,
                               nvls.tree_up, fmt::join(nvls.tree_down, " ")));
}

void AddCollNet(int channel, const hacknccl_collnet& collnet, Lines* lines) {
  lines->push_back(fmt::format("CollNet {}: chain up {}, down {}; head {}, shift {}", channel,
                               collnet.chain_up, collnet.chain_down, collnet.head, collnet.shift));
  if (collnet.nic < 0) return;
  lines->push_back(fmt::format("CollNet {}: by NIC {} on rail {}, GDR {}", channel, collnet.nic,
                               collnet.rail, collnet.gdr));
}

void AddPlan(const std::string& step, const NcclPlan& plan, Lines* lines) {
  lines->push_back(fmt::format("{}: plan of kind {}, {} kernels of {} threads", step, plan.kind,
                               plan.kernels, plan.threads));
  const auto add = [&](const char* what, const auto& parts) {
    for (const auto& part : parts) {
      lines->push_back(fmt::format("{}: {}: {}", step, what, Text(part)));
    }
  };
  add("decision", plan.decisions);
  add("collective", plan.collectives);
  add("exchange", plan.exchanges);
  add("broadcast", plan.broadcasts);
  add("proxy op", plan.proxy_ops);
  for (const hacknccl_batch& batch : plan.batches) {
    const auto works = std::span(plan.batch_works).subspan(batch.first, batch.count);
    constexpr const char* kWorks[] = {"collectives", "exchanges", "broadcasts"};
    lines->push_back(fmt::format("{}: batch of kernel {} channel {}: {} {}", step, batch.kernel,
                                 batch.channel, kWorks[batch.works], fmt::join(works, " ")));
  }
}

}  // namespace drydock
