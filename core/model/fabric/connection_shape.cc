#include "core/model/fabric/connection_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>

#include "core/model/fabric/fabric_map.h"

namespace drydock {
namespace {

// Returns `text` as a number from `least` to `most`, parsed as NCCL parses its parameters (strtoll,
// any base).
Result<uint32_t> ReadSetting(const std::string& name, const std::string& text, int64_t least,
                             int64_t most) {
  char* end = nullptr;
  errno = 0;
  const int64_t value = std::strtoll(text.c_str(), &end, 0);
  if (errno != 0 || end == text.c_str() || *end != '\0' || value < least || value > most) {
    return Error(fmt::format("{} is '{}'; it must be {} to {}", name, text, least, most));
  }
  return static_cast<uint32_t>(value);
}

}  // namespace

Result<ConnectionShape> ConnectionShapeOf(const Topology& topology) {
  constexpr int64_t kMaxQueuePairs = 128;  // NCCL_IB_MAX_QPS of net_ib
  ConnectionShape shape;
  for (const auto& [name, text] : topology.nccl_settings) {
    if (name == "NCCL_IB_QPS_PER_CONNECTION") {
      ASSIGN_OR_RETURN(shape.queue_pairs, ReadSetting(name, text, 1, kMaxQueuePairs));
    }
    if (name == "NCCL_IB_SPLIT_DATA_ON_QPS") {
      ASSIGN_OR_RETURN(const uint32_t split, ReadSetting(name, text, 0, 1));
      shape.split_data = split == 1;
    }
  }
  return shape;
}

std::vector<MessagePart> SplitMessage(int64_t bytes, uint64_t number,
                                      const ConnectionShape& shape) {
  const auto first = static_cast<uint32_t>(number % shape.queue_pairs);
  if (!shape.split_data) return {{bytes, first}};
  constexpr int64_t kAlignment = 128;
  const int64_t even = (bytes + shape.queue_pairs - 1) / shape.queue_pairs;
  const int64_t chunk = (even + kAlignment - 1) / kAlignment * kAlignment;
  std::vector<MessagePart> parts;
  for (uint32_t i = 0; i < shape.queue_pairs; ++i) {
    const int64_t left = std::max<int64_t>(bytes - i * chunk, 1);
    parts.push_back({std::min(chunk, left), (first + i) % shape.queue_pairs});
  }
  return parts;
}

int64_t PacketsInFlight(double products, int64_t round_trip, int64_t slowest,
                        int64_t packets_per_ack) {
  const double packets = products * static_cast<double>(round_trip) / static_cast<double>(slowest);
  return static_cast<int64_t>(std::ceil(packets)) + packets_per_ack;
}

uint32_t FlowOfQueuePair(uint32_t flow, uint32_t number) {
  return number == 0 ? flow : FabricMap::EcmpHash(flow ^ FabricMap::EcmpHash(number));
}

}  // namespace drydock
