#include "core/model/fabric/transport_attribute_table.h"

#include <fmt/format.h>

#include <utility>

namespace drydock {
namespace {

using Kind = TransportAttribute::Kind;
using Rows = std::vector<TransportAttribute>;

constexpr char kMaxUint32[] = "4294967295";

// Sums of many durations must stay below 106 days, the range of Time.
TransportAttribute TimeRow(const char* name, const char* min, const char* default_value,
                           const char* help) {
  return {name, Kind::kTime, "", default_value, min, "1000 s", help, ""};
}

TransportAttribute RateRow(const char* name, const char* min, const char* default_value,
                           const char* help) {
  return {name, Kind::kRate, "", default_value, min, "", help, ""};
}

TransportAttribute NumberRow(const char* name, const char* unit, const char* min, const char* max,
                             const char* default_value, const char* help) {
  return {name, Kind::kNumber, unit, default_value, min, max, help, ""};
}

TransportAttribute CountRow(const char* name, const char* unit, const char* min, const char* max,
                            const char* default_value, std::string help) {
  return {name, Kind::kCount, unit, default_value, min, max, std::move(help), ""};
}

TransportAttribute FlagRow(const char* name, const char* default_value, const char* help) {
  return {name, Kind::kFlag, "", default_value, "", "", help, ""};
}

TransportAttribute ClassRow(const char* name, const char* default_value, const char* help) {
  return CountRow(name, "traffic class", "0", "7", default_value, help);
}

TransportAttribute DerivedRow(const char* name, const char* derived_from) {
  return {name, Kind::kDerived, "", "", "", "", "", derived_from};
}

Rows RdmaTransportRows() {
  return {
      NumberRow(kWindowBdp.name, "bandwidth-delay products", "0", "1000000", "2",
                "Bytes that a queue pair may have unacknowledged, in bandwidth-delay products of "
                "its own idle path. The bytes of `packets_per_ack` packets are added for "
                "acknowledgements that are coalesced. HPCC (SIGCOMM 2019) starts a flow with one "
                "product in flight; the second leaves room for acknowledgements that queue behind "
                "data."),
      ClassRow("RdmaTransport::DataPriority", "3",
               "Traffic class of packets with data. 3: usual for RoCE."),
      ClassRow("RdmaTransport::AckPriority", "3",
               "Traffic class of acknowledgements. 3: that of the data, as RoCE NICs send them."),
      ClassRow("RdmaTransport::CnpPriority", "6",
               "Traffic class of congestion notifications. 6: ConnectX's default."),
      CountRow("RdmaTransport::TurnBytes", "bytes", "0", kMaxUint32, "0",
               "Bytes, headers included, that a queue pair sends before the next queue pair of its "
               "NIC takes its turn (deficit round robin); at least a full packet. 0: turns of one "
               "packet (round robin), as in the NIC of the HPCC simulations."),
      TimeRow("RdmaTransport::CnpInterval", "0 s", "50 us",
              "Minimum time between two congestion notifications to one queue pair. 50 us: DCQCN "
              "(SIGCOMM 2015), 3.2."),
      TimeRow("RdmaTransport::AckTimeout", "1 ns", "4.294967296 s",
              "Time without progress after which a queue pair sends again. 4.096 us x 2^20 = 4.29 "
              "s: InfiniBand's formula with NCCL's default exponent (NCCL_IB_TIMEOUT)."),
      CountRow("RdmaTransport::RetryCount", "timeouts", "0", kMaxUint32, "7",
               "Timeouts without progress that a queue pair survives. 7: NCCL's default "
               "(NCCL_IB_RETRY_CNT)."),
      TimeRow("RdmaTransport::NackInterval", "0 s", "500 us",
              "Minimum time before a receiver asks for the same missing packet again. 500 us: the "
              "NIC of the HPCC simulations."),
      TimeRow("RdmaTransport::ReorderTime", "0 s", "100 us",
              "A packet that was overtaken this long ago counts as lost, where packets may "
              "overtake each other. 100 us: above the difference between the delays of paths under "
              "load, a choice."),
      DerivedRow("RdmaTransport::CongestionControl", "'congestion_control' of the transport"),
      DerivedRow("RdmaTransport::Mtu", "'mtu' of the transport"),
      DerivedRow("RdmaTransport::PacketsPerAck", "'packets_per_ack' of the transport"),
      DerivedRow("RdmaTransport::QueuePairsPerConnection", "NCCL_IB_QPS_PER_CONNECTION of nccl"),
      DerivedRow("RdmaTransport::Reordering", "'routing' of the fabric"),
      DerivedRow("RdmaTransport::Retransmission", "'retransmission' of the transport"),
      DerivedRow("RdmaTransport::SplitData", "NCCL_IB_SPLIT_DATA_ON_QPS of nccl"),
  };
}

Rows FabricSwitchRows() {
  return {
      CountRow("FabricSwitch::EcmpSeed", "seed", "0", kMaxUint32, "0",
               "Seed of the hash that chooses among equally short paths. 0: derived from the index "
               "of the switch, so that switches choose differently, as operators configure them. A "
               "choice."),
      CountRow(kCutThrough.name, "bytes", "0", "65535", "0",
               "Bytes of a frame that must arrive before the switch forwards the frame. Where the "
               "output is faster than the input, the last bits leave as they arrive. 0: all bytes "
               "(store and forward), a choice."),
      TimeRow("FabricSwitch::FlowletGap", "0 s", "50 us",
              "A queue pair that was idle for longer may change its path (`routing: flowlet`). 50 "
              "us: above the difference between the delays of paths under load, below the 500 us "
              "of LetFlow (NSDI 2017), which is for TCP. A choice."),
      CountRow(
          "FabricSwitch::FlowletTableBits", "bits", "0", "24", "16",
          "A switch distinguishes 2 to the power of this many flowlets. 16: the 64K entries of "
          "CONGA (SIGCOMM 2014)."),
      ClassRow(
          "FabricSwitch::TrimPriority", "6",
          "Traffic class of headers whose payload was cut off (`flow_control: trim`). 6: above "
          "the data, with the notifications. Trimming relies on headers that overtake data "
          "(Handley et al., NDP, SIGCOMM 2017, 3)."),
      NumberRow("FabricSwitch::PauseAlpha", "times the free buffer", "0", "1000000", "0.125",
                "An input port is paused when it holds more than this times the free buffer. 1/8: "
                "the switch of the HPCC simulations (SIGCOMM 2019, 5.1)."),
      {"FabricSwitch::ResumeOffset", Kind::kInteger, "bytes", "3000", "0", "",
       "A paused port resumes when it holds this many bytes less than its share. 3 KB: the switch "
       "of the HPCC simulations.",
       ""},
      NumberRow("FabricSwitch::DropAlpha", "times the free buffer", "0", "1000000", "1",
                "A queue of a class that is not lossless holds at most this times the free buffer. "
                "1: Choudhury and Hahne (ToN 1998)."),
      CountRow("FabricSwitch::EcnMin", "bytes", "0", "", "100000",
               "Bytes in a queue of a 25 Gb/s port up to which no packet is marked; in proportion "
               "for other rates. 100 KB: HPCC (SIGCOMM 2019, 5.1)."),
      CountRow("FabricSwitch::EcnMax", "bytes", "0", "", "400000",
               "Bytes in a queue of a 25 Gb/s port above which every packet is marked; in "
               "proportion for other rates. Equal to `EcnMin`, the two are a step. 400 KB: HPCC "
               "(SIGCOMM 2019, 5.1)."),
      NumberRow(
          "FabricSwitch::EcnProbability", "probability", "0", "1", "0.2",
          "Probability of a mark at `EcnMax`; it grows from 0 at `EcnMin`. 0.2: HPCC (SIGCOMM "
          "2019, 5.1)."),
      FlagRow("FabricSwitch::EcnAtDequeue", "false",
              "Marks by the queue that a frame leaves behind, not by the queue that it joins. "
              "false: frames are marked on arrival, as RED does (Floyd and Jacobson, ToN 1993)."),
      DerivedRow("FabricSwitch::Buffer", "'buffer' of the switches"),
      DerivedRow("FabricSwitch::Ecn", "'congestion_control' of the transport"),
      DerivedRow("FabricSwitch::FlowControl", "'flow_control' of the transport"),
      DerivedRow("FabricSwitch::LosslessClasses", "RdmaTransport::DataPriority and AckPriority"),
      DerivedRow("FabricSwitch::Routing", "'routing' of the fabric"),
  };
}

Rows FabricNodeRows() {
  Rows rows = {
      TimeRow("FabricNode::PauseWatchdog", "1 ns", "200 ms",
              "A traffic class that is paused for this long without a break is in a deadlock: the "
              "run fails. 200 ms: the detection time of SONiC's PFC watchdog."),
  };
  for (int priority = 0; priority < 8; ++priority) {
    rows.push_back(CountRow(
        "", "weight", "0", "1000", "0",
        fmt::format("Share of traffic class {} in the bandwidth that strict classes leave at a "
                    "port of a switch or host, in proportion to the other weights. 0: strict, the "
                    "highest class first (IEEE 802.1Qaz).",
                    priority)));
    rows.back().name = fmt::format("FabricNode::Weight{}", priority);
  }
  return rows;
}

Rows FaultInjectorRows() {
  return {
      TimeRow(kRerouteTime.name, "0 s", "10 ms",
              "Time from the failure or repair of a cable until switches route accordingly. 10 ms: "
              "a choice, for switches that see the loss of light themselves."),
  };
}

Rows DcqcnRows() {
  return {
      NumberRow("Dcqcn::Gain", "weight", "0", "1", "0.00390625",
                "g: weight of a new observation in alpha. DCQCN paper, table 14: 1/256."),
      TimeRow("Dcqcn::AlphaInterval", "1 ns", "55 us",
              "Time without a notification after which alpha decays. Paper: 55 us."),
      TimeRow("Dcqcn::DecreaseInterval", "0 s", "50 us",
              "Minimum time between two cuts of the rate. Paper: 50 us, the notification period."),
      TimeRow("Dcqcn::IncreaseInterval", "1 ns", "55 us",
              "Period of the timer that raises the rate. Paper: 55 us."),
      CountRow("Dcqcn::IncreaseBytes", "bytes", "1", "", "10000000",
               "Bytes sent after which the rate is raised as well. Paper: 10 MB."),
      CountRow("Dcqcn::FastRecoveries", "steps", "1", kMaxUint32, "5",
               "F: steps half-way back before the target rate itself grows. Paper: 5."),
      RateRow("Dcqcn::AdditiveIncrease", "0 bps", "50 Mbps",
              "Step of the target rate on a 25 Gb/s line, in proportion for other lines. 50 Mb/s: "
              "HPCC's configuration of DCQCN."),
      RateRow("Dcqcn::HyperIncrease", "0 bps", "500 Mbps",
              "Step of the target rate on a 25 Gb/s line when timer and byte counter are both past "
              "fast recovery. Ten times the additive step, as in HPCC's configuration."),
      RateRow("Dcqcn::MinRate", "1 Mbps", "100 Mbps",
              "The rate of a queue pair is never cut below this. 100 Mb/s: HPCC's configuration."),
  };
}

Rows HpccRows() {
  return {
      NumberRow("Hpcc::Target", "share of the link", "0.01", "1", "0.95",
                "eta: share of a link that flows may fill. HPCC paper, 5.1: 0.95."),
      CountRow("Hpcc::MaxStage", "increases", "0", kMaxUint32, "5",
               "Additive increases before a multiplicative one. Paper, 5.1: 5."),
      CountRow("Hpcc::AdditiveIncrease", "bytes", "0", kMaxUint32, "80",
               "W_AI: bytes by which a window grows each time. Paper, 5.1: 80."),
      CountRow(
          "Hpcc::HeaderBytes", "bytes", "1", "1024", "42",
          "Bytes that telemetry adds to each frame and its acknowledgement. 42: five hops of 8 "
          "bytes, and 2 bytes for their number (paper, 4.1)."),
  };
}

Rows TimelyRows() {
  return {
      NumberRow("Timely::Weight", "weight", "0", "1", "0.875",
                "alpha: weight of a new round-trip difference in the average. HPCC's configuration "
                "of TIMELY: 0.875."),
      NumberRow("Timely::Decrease", "factor", "0", "1", "0.8",
                "beta: factor of the gradient in a decrease of the rate. TIMELY paper, 5: 0.8."),
      TimeRow("Timely::LowRoundTrip", "0 s", "50 us",
              "Tlow: below this round trip the rate always grows. Paper, 4.4: 50 us."),
      TimeRow("Timely::HighRoundTrip", "1 ns", "500 us",
              "Thigh: above this round trip the rate always falls. Paper, 4.4: 500 us."),
      TimeRow("Timely::MinRoundTrip", "1 ns", "20 us",
              "Unit in which round-trip differences are measured. Paper, 4.3: 20 us."),
      RateRow("Timely::AdditiveIncrease", "0 bps", "25 Mbps",
              "delta: step of the rate on a 25 Gb/s line, in proportion for other lines. Paper, 5: "
              "10 Mb/s at 10 Gb/s."),
      CountRow("Timely::HyperactiveAfter", "completions", "1", kMaxUint32, "5",
               "Consecutive completions without a growing round trip after which steps are five "
               "times as large. Paper, 4.3: 5."),
      RateRow("Timely::MinRate", "1 Mbps", "100 Mbps",
              "The rate of a queue pair is never below this. 100 Mb/s: HPCC's configuration."),
  };
}

Rows SwiftRows() {
  return {
      TimeRow("Swift::BaseTarget", "0 s", "10 us",
              "Queueing delay that Swift aims at, beyond the idle round trip. The paper gives no "
              "value for fabrics other than its authors'; 10 us is a choice."),
      TimeRow("Swift::HopTarget", "0 s", "1 us",
              "Addition to the target for each switch. A choice."),
      TimeRow("Swift::FlowRange", "0 s", "50 us",
              "Maximum addition to the target for a small window. Five times the base: a choice."),
      NumberRow("Swift::FlowMin", "packets", "0.000001", "1000000", "0.1",
                "Window at and below which all of `FlowRange` is added. Swift paper, 3.5: 0.1."),
      NumberRow("Swift::FlowMax", "packets", "0.000001", "1000000", "100",
                "Window at and above which nothing is added. Paper, 3.5: 100."),
      NumberRow("Swift::AdditiveIncrease", "packets", "0", "1000000", "1",
                "ai: packets by which a window grows each round trip. A choice."),
      NumberRow("Swift::Decrease", "factor", "0", "1", "0.8",
                "beta: factor of the relative excess of a round trip. A choice."),
      NumberRow("Swift::MaxDecrease", "share of the window", "0", "0.99", "0.5",
                "max_mdf: maximum share of a window that one cut removes. A choice."),
      NumberRow("Swift::MinWindow", "packets", "0.000001", "1000000", "0.01",
                "The window is never smaller than this. A choice."),
  };
}

Rows DctcpRows() {
  return {
      NumberRow("Dctcp::Gain", "weight", "0", "1", "0.0625",
                "g: weight of a new share of marks in alpha. DCTCP paper, 4: 1/16."),
  };
}

Rows AllRows() {
  Rows all;
  for (const Rows& rows :
       {RdmaTransportRows(), FabricSwitchRows(), FabricNodeRows(), FaultInjectorRows(), DcqcnRows(),
        HpccRows(), TimelyRows(), SwiftRows(), DctcpRows()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

}  // namespace

const std::vector<TransportAttribute>& TransportAttributes() {
  static const Rows rows = AllRows();
  return rows;
}

const std::vector<CongestionAlgorithm>& CongestionAlgorithms() {
  static const std::vector<CongestionAlgorithm> algorithms = {
      {CongestionControl::kNone, "queue pairs send at line rate, within their window", ""},
      {CongestionControl::kDcqcn, "marks, notifications and rates (Zhu et al., SIGCOMM 2015)",
       "Dcqcn"},
      {CongestionControl::kHpcc,
       "windows from the load that switches write into packets (Li et al., SIGCOMM 2019)", "Hpcc"},
      {CongestionControl::kTimely,
       "rates from the gradient of round-trip times (Mittal et al., SIGCOMM 2015)", "Timely"},
      {CongestionControl::kSwift,
       "windows that hold round trips at a target (Kumar et al., SIGCOMM 2020)", "Swift"},
      {CongestionControl::kDctcp,
       "windows cut by the share of marked packets (Alizadeh et al., SIGCOMM 2010)", "Dctcp"},
  };
  return algorithms;
}

}  // namespace drydock
