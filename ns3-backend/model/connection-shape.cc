#include "ns3-backend/model/connection-shape.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>

namespace ns3::rdma
{
namespace
{

using drydock::Error;
using drydock::Result;

/// \p text from \p least to \p most, read as NCCL reads its parameters (strtoll, any base).
Result<uint32_t>
ReadSetting(const std::string& name, const std::string& text, int64_t least, int64_t most)
{
    char* end = nullptr;
    errno = 0;
    const int64_t value = std::strtoll(text.c_str(), &end, 0);
    if (errno != 0 || end == text.c_str() || *end != '\0' || value < least || value > most)
    {
        return Error(fmt::format("{} is '{}'; it must be {} to {}", name, text, least, most));
    }
    return static_cast<uint32_t>(value);
}

} // namespace

Result<ConnectionShape>
ConnectionShapeOf(const drydock::Topology& topology)
{
    constexpr int64_t mostQueuePairs = 128; // NCCL_IB_MAX_QPS of net_ib
    ConnectionShape shape;
    for (const auto& [name, text] : topology.nccl_settings)
    {
        if (name == "NCCL_IB_QPS_PER_CONNECTION")
        {
            ASSIGN_OR_RETURN(shape.queuePairs, ReadSetting(name, text, 1, mostQueuePairs));
        }
        if (name == "NCCL_IB_SPLIT_DATA_ON_QPS")
        {
            ASSIGN_OR_RETURN(const uint32_t split, ReadSetting(name, text, 0, 1));
            shape.splitData = split == 1;
        }
    }
    return shape;
}

} // namespace ns3::rdma
