// Bounds of counts, sizes and factors in cluster.topo, for its readers and for the check of stored
// topologies. Those of rates and latencies are in core/schema/fabric/limits.h.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_CLUSTER_LIMITS_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_CLUSTER_LIMITS_H_

#include <cstdint>

#include "core/base/units.h"

namespace drydock {

inline constexpr int kMaxHosts = 131072;
inline constexpr int kMaxGpus = 128, kMaxTrays = 128, kMaxNics = 128;  // of a host
inline constexpr int kMaxNicPorts = 4;
inline constexpr int kMaxMeshLinks = 64;                               // between two GPUs
inline constexpr int kMaxNvSwitches = 64;
inline constexpr int kMaxSockets = 8;
inline constexpr double kMinLaunchSpeed = 0.05, kMaxLaunchSpeed = 100;
inline constexpr int kMinPcieGeneration = 3, kMaxPcieGeneration = 6, kMaxPcieLanes = 16;
inline constexpr int kMinComputeCapability = 60, kMaxComputeCapability = 150;
inline constexpr int kMaxSms = 4096;
inline constexpr int kMinClock = 100, kMaxClock = 10'000;  // MHz
inline constexpr int kMaxWatts = 10'000;                   // of a GPU
// The least share of a GPU's power or clock to which a host may limit it. The drivers take 100 W of
// an A100's 400 and 200 W of an H100's 700.
inline constexpr double kMinLimitShare = 0.25;
// A share of a link's rate. Much smaller shares would round the rate to 0.
inline constexpr double kMinLinkShare = 0.01;

inline constexpr int64_t kMinMtu = 256, kMaxMtu = 65535;  // a packet's length has 16 bits
inline constexpr int64_t kMaxFrameOverhead = 1024;        // bytes
inline constexpr int kMaxPacketsPerAck = 65536;

inline constexpr double kMaxBitErrors = 0.01;
inline constexpr double kMaxSlowdown = 1000;
inline constexpr double kMaxJitter = 0.3;  // standard deviation, a share
inline constexpr Time kMaxCallDelay = Time::Us(1'000'000);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_CLUSTER_LIMITS_H_
