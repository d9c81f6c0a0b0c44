#include "simccl/hacknccl/communicator/describe.h"

#include <iterator>

#include "graph.h"

namespace drydock {

hacknccl_shape Described(const ncclComm& comm) {
  hacknccl_shape shape = {};
  shape.ranks = comm.nRanks;
  shape.hosts = comm.nNodes;
  shape.ring_channels = comm.nChannels;
  shape.nvls_channels = comm.nvlsSupport ? comm.nvlsChannels : 0;
  shape.nvls_heads = shape.nvls_channels > 0 ? comm.channels[0].nvls.nHeads : 0;
  shape.collnet_heads = comm.config.collnetEnable ? comm.collNetHeadsNum : 0;
  shape.p2p_channels = comm.p2pnChannels;
  shape.p2p_channels_per_peer = comm.p2pnChannelsPerPeer;
  shape.p2p_chunk_bytes = comm.p2pChunkSize;
  for (int p = 0; p < NCCL_NUM_PROTOCOLS; ++p) shape.buffer_bytes[p] = comm.buffSizes[p];
  shape.slots = NCCL_STEPS;
  shape.collnet = comm.config.collnetEnable;
  shape.pxn = ncclPxnDisable(const_cast<ncclComm*>(&comm)) == 0;
  shape.min_ctas = comm.config.minCTAs;
  shape.max_ctas = comm.config.maxCTAs;
  return shape;
}

std::string MissingChannel(const hacknccl_shape& shape, int graph, int channel) {
  constexpr const char* kGraphs[] = {"ring", "tree", "NVLS", "message", "CollNet", "CollNet"};
  const int collnet = shape.collnet_heads > 0 ? shape.ring_channels : 0;
  const int channels[] = {
      shape.ring_channels, shape.ring_channels, shape.nvls_channels, MAXCHANNELS, collnet, collnet};
  if (graph < 0 || static_cast<size_t>(graph) >= std::size(channels)) {
    return "there is no graph " + std::to_string(graph);
  }
  if (channel >= 0 && channel < channels[graph]) return "";
  return std::string("there is no ") + kGraphs[graph] + " channel " + std::to_string(channel);
}

hacknccl_tree Described(const ncclTree& tree) {
  return {tree.up, {tree.down[0], tree.down[1], tree.down[2]}};
}

hacknccl_nvls Described(const ncclNvls& nvls) {
  return {nvls.headRank, nvls.treeUp, {nvls.treeDown[1], nvls.treeDown[2]}};
}

hacknccl_collnet DescribedCollNet(const ncclComm& comm, const ncclChannel& channel) {
  const ncclTree& chain = channel.collnetChain;
  // NCCL numbers the network after the last rank.
  return {chain.up == comm.nRanks ? -1 : chain.up, chain.down[0], -1, 0, -1, -1, 0};
}

}  // namespace drydock
