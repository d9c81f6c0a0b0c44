// The cluster: hosts with GPUs and NICs, and the fabric of switches and links between the NICs.
// Read from a cluster.topo (core/schema/cluster/cluster_file.h). Plain data; immutable once built.
#ifndef DRYDOCK_CORE_MODEL_TOPOLOGY_H_
#define DRYDOCK_CORE_MODEL_TOPOLOGY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/model/cost.h"
#include "core/model/gpu.h"
#include "core/model/host_memory.h"

namespace drydock {

enum class ScaleUpKind : uint8_t { kNvSwitch, kNvLinkMesh, kPcie };

// `count` NVLinks from one GPU of a host to another; a < b.
struct MeshLink {
  int a = 0, b = 0;
  int count = 0;
  bool operator==(const MeshLink&) const = default;
};

// How the GPUs of a host are connected.
struct ScaleUp {
  ScaleUpKind kind = ScaleUpKind::kNvSwitch;
  int switches = 0;            // NVSwitch chips
  Bandwidth bandwidth;         // per GPU, each direction
  Time latency;                // GPU to GPU
  bool multicast = false;      // NVLS: multicast and in-switch reduction
  std::vector<MeshLink> mesh;  // kNvLinkMesh: by (a, b)
  bool operator==(const ScaleUp&) const = default;
};

// The board that connects GPUs and NICs; each tray has its own.
struct Board {
  std::string cpu;  // one of CpuNames(); empty = the DGX of the GPU's generation
  int sockets = 2;  // with equal parts of the GPUs, in order
  // GPUs on a PCIe switch, with their NICs; 0: on root ports of the CPU; -1: as in the DGX of that
  // PCIe generation (docs/reference/cluster-file.md).
  int gpus_per_switch = -1;
  Bandwidth socket_link;  // between two sockets, each direction; 0: no limit
  Bandwidth c2c;          // NVLink-C2C of a GPU to its CPU, each direction; 0: none
  // Launch speed of a core, relative to the CPU of configs/host-launch.yaml.
  double launch_speed = 1;
  bool operator==(const Board&) const = default;
};

// Processors that NCCL distinguishes: "epyc", "xeon-broadwell", ...
const std::vector<std::string>& CpuNames();

struct Nics {
  int count = 0;
  Bandwidth rate;  // per NIC, each direction
  int pcie_generation = 0;
  int pcie_lanes = 16;
  Time latency;  // GPU memory to wire (or back), without serialization
  Time message;  // NIC time per message, in addition to its bytes
  // Per direction, after encoding: generation 3: 8 GT/s, 4: 16, 5: 32, 6: 64, times lanes.
  Bandwidth pcie_bandwidth() const;
  bool operator==(const Nics&) const = default;
};

// What a host's administrator sets for its GPUs (nvidia-smi -pl and -lgc). 0: nothing is set.
struct GpuLimits {
  int watts = 0;
  int mhz = 0;
  bool any() const { return watts > 0 || mhz > 0; }
  bool operator==(const GpuLimits&) const = default;
};

struct HostKind {
  std::string name;
  int gpu = 0;   // index into Topology::gpus
  int gpus = 0;  // number of GPUs
  GpuLimits limits;
  ScaleUp scale_up;
  // Machines with their own operating system in one NVLink domain (NVL72: 18 compute trays), with
  // equal parts of the GPUs and NICs, in order. 1: an ordinary host.
  int trays = 1;
  Board board;
  HostMemory memory;  // as cluster.topo states it
  Nics nics;
  std::string nccl_topology_xml;   // text of an XML dump of a real machine; empty: generated
  std::string nccl_topology_file;  // its name, for messages
  // Board::gpus_per_switch, or its default; 0: no switches.
  int gpus_per_switch() const;
  // Board::cpu, or that of the DGX of a GPU of this compute capability.
  std::string CpuName(int compute_capability) const;
  // The PCIe switch (or root port) and the socket of a GPU.
  int SlotOf(int gpu_index) const;
  int SocketOf(int gpu_index) const;
  int gpus_per_tray() const { return gpus / trays; }
  int nics_per_tray() const { return nics.count / trays; }
  // The nearest NIC of a GPU, as NCCL finds it: GPUs share NICs evenly.
  int NicOfGpu(int gpu_index) const { return nics.count == 0 ? -1 : gpu_index * nics.count / gpus; }
  bool operator==(const HostKind&) const = default;
};

struct FabricSwitch {
  std::string name;  // "leaf3"
  int tier = 0;      // 0: next to the hosts
  Time latency;      // port to port, without serialization
  Bytes buffer;
  bool operator==(const FabricSwitch&) const = default;
};

// One end of a cable: a NIC of a host, or a switch.
struct LinkEnd {
  bool is_switch = false;
  int index = 0;  // host or switch
  int nic = 0;    // of a host
  bool operator==(const LinkEnd&) const = default;
};

// A cable: full duplex, `rate` in each direction.
struct FabricLink {
  LinkEnd a, b;
  Bandwidth rate;
  Time delay;
  bool operator==(const FabricLink&) const = default;
};

// Switches sum the data they receive (InfiniBand SHARP).
struct Sharp {
  Time latency;  // of a sum, in addition to the links into and out of the switch
  bool operator==(const Sharp&) const = default;
};

// How a switch chooses among equally short routes.
enum class Routing : uint8_t {
  kEcmp,      // per queue pair
  kFlowlet,   // per queue pair, again after a pause
  kAdaptive,  // the emptiest port, per packet
  kSpray,     // per packet
};
const std::vector<std::string>& RoutingNames();
std::string_view ToString(Routing routing);

struct Fabric {
  std::string kind;  // the generator that made it; empty: the cluster file has no fabric
  std::vector<FabricSwitch> switches;
  std::vector<FabricLink> links;
  std::optional<Sharp> sharp;
  Routing routing = Routing::kEcmp;
  bool operator==(const Fabric&) const = default;
};

enum class TransportKind : uint8_t { kRoceV2, kInfiniBand };
const std::vector<std::string>& TransportKindNames();
std::string_view ToString(TransportKind kind);

// The rule by which a sender chooses its rate or window; transport_attribute_table.h says what each
// one does.
enum class CongestionControl : uint8_t { kNone, kDcqcn, kHpcc, kTimely, kSwift, kDctcp };
const std::vector<std::string>& CongestionControlNames();
std::string_view ToString(CongestionControl control);

// What a switch does when its buffer is full.
enum class FlowControl : uint8_t {
  kIdeal,  // keeps all packets, and counts
  kPfc,    // pauses the sender
  kNone,   // drops
  kTrim,   // drops the payload, forwards the header
};
const std::vector<std::string>& FlowControlNames();
std::string_view ToString(FlowControl control);

// How a queue pair repairs losses.
enum class Retransmission : uint8_t { kGoBackN, kSelectiveRepeat };
const std::vector<std::string>& RetransmissionNames();
std::string_view ToString(Retransmission retransmission);

struct Transport {
  TransportKind kind = TransportKind::kRoceV2;
  Bytes mtu{4096};   // payload of a full packet
  Bytes header{82};  // Ethernet, IP, UDP, BTH, FCS and gap around each packet
  Bytes ack{84};     // an acknowledgement on the wire, gap included
  int packets_per_ack = 16;
  CongestionControl congestion_control = CongestionControl::kNone;
  FlowControl flow_control = FlowControl::kIdeal;
  Retransmission retransmission = Retransmission::kGoBackN;  // has an effect if frames can be lost
  // Parameters of the packet network by name, "Dcqcn::Gain", as text; sorted by name.
  std::vector<std::pair<std::string, std::string>> attributes;
  bool operator==(const Transport&) const = default;
};

// A change of cables at one time of the run.
struct Fault {
  enum class Kind {
    kDown,    // the cables deliver nothing
    kRate,    // the cables run at `rate`, if it is lower than their own
    kErrors,  // a bit is wrong with probability `bit_errors`, and its frame is lost
  };
  Time at;
  Kind kind = Kind::kDown;
  bool ends = false;       // true: the end of an earlier fault of this kind
  std::vector<int> links;  // into fabric.links
  Bandwidth rate;
  double bit_errors = 0;
  bool operator==(const Fault&) const = default;
};

struct Topology {
  std::string name;
  std::vector<GpuSpec> gpus;
  std::vector<HostKind> host_kinds;
  std::vector<int> hosts;  // kind of each host
  Fabric fabric;
  Transport transport;
  std::vector<Fault> faults;                                       // by time
  std::vector<std::pair<std::string, std::string>> nccl_settings;  // sorted by name
  std::optional<Cost> cost;                                        // if it is stated
  std::optional<Storage> storage;                                  // if it is stated

  int host_count() const { return static_cast<int>(hosts.size()); }
  const HostKind& kind_of_host(int host) const {
    return host_kinds[static_cast<size_t>(hosts[static_cast<size_t>(host)])];
  }
  int gpu_count() const;
  bool operator==(const Topology&) const = default;
};

// Returns the rate of one NVLink, one direction, of GPUs of a compute capability. NVIDIA's
// architecture whitepapers: P100 20 GB/s; V100, A100, H100 25; Blackwell 50.
Bandwidth NvLinkRate(int compute_capability);

// Returns the same number of links between any two GPUs. REQUIRES: `gpus` - 1 divides `links`, the
// links of a GPU.
std::vector<MeshLink> EvenMesh(int gpus, int links);
// The hybrid cube mesh of a DGX-1 with V100: 8 GPUs of 6 links each, as NCCL issue 671 lists them.
std::vector<MeshLink> CubeMesh();

// The GPU of each rank: ranks fill hosts in order, GPU by GPU.
struct Placement {
  struct Slot {
    int host = 0;
    int gpu = 0;
  };
  explicit Placement(const Topology& topology);
  std::vector<Slot> slots;  // by rank
  const Slot& of(int rank) const { return slots[static_cast<size_t>(rank)]; }
};

// Returns an error that names two NICs if one cannot reach the other over the fabric. A cluster of
// one host needs no fabric.
Status CheckConnected(const Topology& topology);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_TOPOLOGY_H_
