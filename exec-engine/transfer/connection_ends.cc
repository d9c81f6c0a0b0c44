#include "exec-engine/transfer/connection_ends.h"

#include "core/base/check.h"

namespace drydock {

void ConnectionEnds::Resolve(const Connection& c, bool sends, LocalConnection* out) const {
  if (c.reduction >= 0) return ResolveSwitch(c, out);
  if (c.link == LinkKind::kNet) return ResolveNet(c, sends, out);
  if (c.from == c.to && c.link == LinkKind::kPeerWrite) return;  // no link is between
  CHECK_NOTE(Inside(c), "a connection inside a host joins two hosts");
  const int from = gpu_of_member_[c.from], to = gpu_of_member_[c.to];
  const int relay = c.proxy >= 0 ? gpu_of_member_[static_cast<size_t>(c.proxy)] : -1;
  out->path = c.link == LinkKind::kShared ? ports_.PciePath(from, to, true)
                                          : ports_.ScaleUpPath(from, to, relay);
}

void ConnectionEnds::ResolveNet(const Connection& c, bool sends, LocalConnection* out) const {
  CHECK(c.send_nic >= 0 && c.recv_nic >= 0);
  const int gpu = gpu_of_member_[sends ? c.from : c.to];
  const int proxy = sends && c.proxy >= 0 ? gpu_of_member_[static_cast<size_t>(c.proxy)] : gpu;
  out->local_nic = sends ? c.send_nic : c.recv_nic;
  out->remote_nic = sends ? c.recv_nic : c.send_nic;
  out->remote_host = host_of_member_[sends ? c.to : c.from];
  out->nic = sends ? ports_.NicOut(c.send_nic) : ports_.NicIn(c.recv_nic);
  if (proxy != gpu) {  // PXN: over NVLink into the GPU beside the NIC
    out->path = ports_.ScaleUpPath(gpu, proxy, -1);
  }
  if (sends ? c.send_gdr : c.recv_gdr) {
    out->gpu_dma = sends ? ports_.PcieOut(proxy) : ports_.PcieIn(proxy);
  } else if (proxy == gpu) {  // the thread block stores to, or loads from, host memory
    out->path.out = ports_.PcieOut(gpu);
    out->path.in = ports_.PcieIn(gpu);
  }
}

void ConnectionEnds::ResolveSwitch(const Connection& c, LocalConnection* out) const {
  const bool sends = c.link == LinkKind::kToSwitch;
  const int gpu = gpu_of_member_[c.from];
  out->local_nic = c.send_nic;
  out->remote_nic = 0;
  out->remote_host = aggregation_.Above(host_, c.send_nic);
  out->nic = sends ? ports_.NicOut(c.send_nic) : ports_.NicIn(c.send_nic);
  if (c.send_gdr) {
    out->gpu_dma = sends ? ports_.PcieOut(gpu) : ports_.PcieIn(gpu);
  } else {  // through host memory
    out->path.out = ports_.PcieOut(gpu);
    out->path.in = ports_.PcieIn(gpu);
  }
}

}  // namespace drydock
