#include "exec-engine/replay/memory_traffic.h"

#include <algorithm>

#include "core/base/check.h"

namespace drydock {
namespace {

// The granularity of sharing, in bytes. It is of the order of NCCL's slices, so that neither side
// of a shared link gains by larger requests.
constexpr int64_t kPiece = int64_t{1} << 20;
// Huge transfers have larger pieces, which bounds the work of simulating them.
constexpr int64_t kMaxPieces = 8192;

}  // namespace

MemoryTraffic::MemoryTraffic(HostId host, const Workload& workload, const PortMap& ports,
                             Communication* communication, Communication::Owner* owner)
    : workload_(workload), pcie_(ports), communication_(communication), owner_(owner) {
  if (workload.transfers.empty()) return;
  const Topology& topology = workload.topology;
  const HostKind& kind = topology.kind_of_host(host);
  const auto kind_index = static_cast<size_t>(topology.hosts[static_cast<size_t>(host)]);
  CHECK_NOTE(kind_index < workload.host_memory.size(),
             "the workload does not describe the host's memory");
  ports_.emplace(kind, topology.gpus[static_cast<size_t>(kind.gpu)],
                 workload.host_memory[kind_index], topology.host_count(), ports);
}

MemoryTraffic::Running* MemoryTraffic::Find(int gpu, uint32_t op) {
  const auto found = std::find_if(running_.begin(), running_.end(), [&](const Running& running) {
    return running.gpu == gpu && running.op == op;
  });
  CHECK(found != running_.end());
  return &*found;
}

void MemoryTraffic::Start(int gpu, uint32_t op, const Op& what, Time now) {
  const MemoryTransfer& transfer = workload_.transfers[what.work];
  Running running;
  running.gpu = gpu;
  running.op = op;
  running.kind = what.kind;
  running.tier = transfer.tier;
  running.path = ports_->PciePath(gpu, what.kind, transfer.tier);
  running.left = transfer.bytes.count();
  running.stated = transfer.time;
  running.piece = std::max(kPiece, (running.left + kMaxPieces - 1) / kMaxPieces);
  running.ready = now + ports_->Latency(what.kind, transfer.tier);
  if (running.path.out != kNoPort) {
    pcie_.AddClasses(running.path, &running.port_classes);
    communication_->TakePorts(running.port_classes, now);
  }
  events_.Push({running.ready, gpu, op});
  running_.push_back(std::move(running));
}

void MemoryTraffic::RunNext() {
  const Event event = events_.Pop();
  Running& running = *Find(event.gpu, event.op);
  if (running.stated > Time()) {
    return owner_->OnOpWillEnd(event.gpu, event.op, event.time + running.stated, running.ready);
  }
  const int64_t bytes = std::min(running.left, running.piece);
  running.left -= bytes;
  Time end = ports_->Take(event.gpu, running.kind, running.tier, event.time, bytes);
  if (running.path.out != kNoPort) {
    const int64_t wire = ports_->LinkBytes(bytes);
    end = std::max(end, communication_->Cross(running.path, event.time, wire));
  }
  if (running.left > 0) return events_.Push({end, event.gpu, event.op});
  owner_->OnOpWillEnd(event.gpu, event.op, end, running.ready);
}

void MemoryTraffic::Ended(int gpu, uint32_t op) {
  const Running* running = Find(gpu, op);
  communication_->GivePortsBack(running->port_classes);
  running_.erase(running_.begin() + (running - running_.data()));
}

}  // namespace drydock
