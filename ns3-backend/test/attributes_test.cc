// Does the ns-3 module have every attribute of the table, does each attribute change a run, and
// does a run end with any value?
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "core/model/fabric/transport_attributes.h"
#include "ns3-backend/helper/congestion-table.h"
#include "ns3-backend/packet_network.h"
#include "ns3-backend/test/fabrics_testing.h"
#include "ns3/attribute.h"
#include "ns3/type-id.h"

namespace drydock {
namespace {

using ns3::TypeId;
using Settings = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kClasses[] = {"Dcqcn",         "Dctcp",         "FabricNode",
                                    "FabricSwitch",  "FaultInjector", "Hpcc",
                                    "RdmaTransport", "Swift",         "Timely"};

void ForEachAttribute(
    const std::function<void(const std::string&, const TypeId::AttributeInformation&)>& visit) {
  for (const char* name : kClasses) {
    const TypeId type = TypeId::LookupByName(std::string("ns3::rdma::") + name);
    for (size_t i = 0; i < type.GetAttributeN(); ++i) {
      visit(std::string(name) + "::" + type.GetAttribute(i).name, type.GetAttribute(i));
    }
  }
}

// Whether another key of the cluster file decides the attribute.
bool IsDerived(const std::string& attribute) {
  return FindTransportAttribute(attribute)->kind == TransportAttribute::Kind::kDerived;
}

// ---- The table ------------------------------------------------------------------------------

TEST(Attributes, TheTableAndTheModuleHaveTheSameAttributes) {
  std::set<std::string> in_table, in_module;
  for (const TransportAttribute& each : TransportAttributes()) in_table.insert(each.name);
  ForEachAttribute([&](const std::string& name, const TypeId::AttributeInformation& attribute) {
    in_module.insert(name);
    EXPECT_GT(attribute.help.size(), 20U) << name;
    EXPECT_TRUE(attribute.checker->Check(*attribute.initialValue)) << name;
  });
  EXPECT_EQ(in_table, in_module);
}

TEST(Attributes, TheModuleHasEveryAlgorithmOfTheTable) {
  for (const CongestionAlgorithm& each : CongestionAlgorithms()) {
    EXPECT_EQ(ns3::rdma::MakeCongestionControl(each.control) == nullptr,
              each.control == CongestionControl::kNone)
        << ToString(each.control);
  }
}

// ---- What they do ---------------------------------------------------------------------------

// A congested scenario in which `name` has an effect, and a value other than the default.
struct Case {
  std::string name, value;
  CongestionControl control = CongestionControl::kNone;
  Settings with = {};
  FlowControl flow_control = FlowControl::kPfc;
  Routing routing = Routing::kEcmp;
  int64_t buffer = 32'000'000;
  bool spine_dies = false;
};

Topology TopologyOf(const Case& c) {
  FabricShape shape;
  shape.transport.congestion_control = c.control;
  shape.transport.flow_control = c.flow_control;
  shape.transport.packets_per_ack = 1;
  if (c.routing != Routing::kEcmp)
    shape.transport.retransmission = Retransmission::kSelectiveRepeat;
  Topology topology = RailFabric(9, 1, 3, 2, shape);
  topology.fabric.routing = c.routing;
  for (auto& node : topology.fabric.switches) node.buffer = Bytes(c.buffer);
  if (c.spine_dies) {
    Fault dies;
    dies.at = Time::Us(10);
    for (size_t i = 0; i < topology.fabric.links.size(); ++i) {
      const LinkEnd& upper = topology.fabric.links[i].b;
      if (upper.is_switch && upper.index == 0) dies.links.push_back(static_cast<int>(i));
    }
    topology.faults = {dies};
  }
  return topology;
}

// Eight hosts send to host 0, one of them on two queue pairs; hosts 0, 5 and 7 send to host 4; host
// 2 sends small messages periodically.
std::vector<Order> Traffic() {
  std::vector<Order> orders;
  for (int i = 1; i <= 8; ++i) orders.push_back(Transfer(i, 0, 4'000'000));
  orders.push_back(Transfer(1, 0, 2'000'001, Time(), 1));
  for (const int from : {0, 5, 7}) orders.push_back(Transfer(from, 4, 4'000'000, Time(), 3));
  for (int i = 0; i < 20; ++i) orders.push_back(Transfer(2, 5, 9'000, Time::Us(20 * i), 2));
  return orders;
}

// The notices of every host, and the error if the run failed.
std::string AnswerOf(const Topology& topology) {
  const auto network = MakePacketNetwork(topology, {});
  if (!network.ok()) return network.error().message();
  Outcome out;
  const Status done = RunOrders(topology, network->get(), Traffic(), &out.notices);
  return (done.ok() ? "" : done.error().message()) + " " + std::to_string(out.Hash());
}

std::vector<Case> Cases() {
  const Settings marks = {{"FabricSwitch::EcnMin", "5000"}, {"FabricSwitch::EcnMax", "20000"}};
  const Settings once = {{"Dcqcn::FastRecoveries", "1"}};
  // Cut to nearly 0, so that timer and counter expire long before the next cut.
  const Settings deep = {{"Dcqcn::FastRecoveries", "1"},
                         {"Dcqcn::IncreaseBytes", "20000"},
                         {"Dcqcn::DecreaseInterval", "1 us"},
                         {"Dcqcn::MinRate", "2 Gbps"},
                         {"RdmaTransport::CnpInterval", "1 us"}};
  const Settings soon = {{"RdmaTransport::AckTimeout", "50 us"}};
  std::vector<Case> cases = {
      {"Dcqcn::Gain", "0.5", CongestionControl::kDcqcn},
      {"Dcqcn::AlphaInterval", "5 us", CongestionControl::kDcqcn},
      {"Dcqcn::DecreaseInterval", "200 us", CongestionControl::kDcqcn},
      {"Dcqcn::IncreaseInterval", "5 us", CongestionControl::kDcqcn},
      {"Dcqcn::IncreaseBytes", "50000", CongestionControl::kDcqcn},
      {"Dcqcn::FastRecoveries", "1", CongestionControl::kDcqcn},
      {"Dcqcn::AdditiveIncrease", "500 Mbps", CongestionControl::kDcqcn, once},
      {"Dcqcn::HyperIncrease", "5 Gbps", CongestionControl::kDcqcn, deep},
      {"Dcqcn::MinRate", "40 Gbps", CongestionControl::kDcqcn},
      {"Dctcp::Gain", "0.5", CongestionControl::kDctcp},
      {"Hpcc::Target", "0.8", CongestionControl::kHpcc},
      {"Hpcc::MaxStage", "0", CongestionControl::kHpcc},
      {"Hpcc::AdditiveIncrease", "2000", CongestionControl::kHpcc},
      {"Hpcc::HeaderBytes", "20", CongestionControl::kHpcc},
      {"Timely::Weight", "0.1", CongestionControl::kTimely},
      {"Timely::Decrease", "0.3", CongestionControl::kTimely},
      {"Timely::LowRoundTrip", "5 us", CongestionControl::kTimely},
      {"Timely::HighRoundTrip", "100 us", CongestionControl::kTimely},
      {"Timely::MinRoundTrip", "200 us", CongestionControl::kTimely},
      {"Timely::AdditiveIncrease", "1 Gbps", CongestionControl::kTimely},
      {"Timely::HyperactiveAfter", "1", CongestionControl::kTimely},
      {"Timely::MinRate", "40 Gbps", CongestionControl::kTimely},
      {"Swift::BaseTarget", "50 us", CongestionControl::kSwift},
      {"Swift::HopTarget", "10 us", CongestionControl::kSwift},
      {"Swift::FlowRange", "0 us", CongestionControl::kSwift},
      {"Swift::FlowMin", "4", CongestionControl::kSwift},
      {"Swift::FlowMax", "1000", CongestionControl::kSwift},
      {"Swift::AdditiveIncrease", "4", CongestionControl::kSwift},
      {"Swift::Decrease", "0.2", CongestionControl::kSwift},
      {"Swift::MaxDecrease", "0.1", CongestionControl::kSwift},
      {"Swift::MinWindow", "20", CongestionControl::kSwift},
      {"FabricSwitch::EcnMin", "1000", CongestionControl::kDctcp},
      {"FabricSwitch::EcnMax", "2000000", CongestionControl::kDcqcn},
      {"FabricSwitch::EcnProbability", "0.9", CongestionControl::kDcqcn},
      {"FabricSwitch::EcnAtDequeue", "true", CongestionControl::kDcqcn, marks},
      {"FabricSwitch::EcmpSeed", "7"},
      {"FabricSwitch::CutThrough", "64"},
      {"FabricSwitch::PauseAlpha",
       "0.5",
       CongestionControl::kNone,
       {},
       FlowControl::kPfc,
       Routing::kEcmp,
       2'000'000},
      {"FabricSwitch::ResumeOffset",
       "60000",
       CongestionControl::kNone,
       {},
       FlowControl::kPfc,
       Routing::kEcmp,
       2'000'000},
      {"FabricSwitch::DropAlpha", "0.1", CongestionControl::kNone, soon, FlowControl::kNone,
       Routing::kEcmp, 300'000},
      {"FabricSwitch::TrimPriority", "1", CongestionControl::kNone, soon, FlowControl::kTrim,
       Routing::kEcmp, 300'000},
      {"FabricSwitch::FlowletGap",
       "1 us",
       CongestionControl::kNone,
       {},
       FlowControl::kPfc,
       Routing::kFlowlet},
      {"FabricSwitch::FlowletTableBits",
       "0",
       CongestionControl::kNone,
       {{"FabricSwitch::FlowletGap", "5 us"}},
       FlowControl::kPfc,
       Routing::kFlowlet},
      {"RdmaTransport::WindowBdp", "1"},
      {"RdmaTransport::DataPriority", "2"},
      {"RdmaTransport::AckPriority", "5"},
      {"RdmaTransport::CnpPriority", "0", CongestionControl::kDcqcn},
      {"RdmaTransport::TurnBytes", "65536"},
      {"RdmaTransport::CnpInterval",
       "1 us",
       CongestionControl::kDcqcn,
       {{"Dcqcn::DecreaseInterval", "1 us"}}},
      {"RdmaTransport::AckTimeout", "80 us", CongestionControl::kNone, soon, FlowControl::kNone,
       Routing::kEcmp, 300'000},
      {"RdmaTransport::NackInterval", "1 us", CongestionControl::kNone, soon, FlowControl::kNone,
       Routing::kEcmp, 300'000},
      {"RdmaTransport::ReorderTime", "1 us", CongestionControl::kNone, soon, FlowControl::kNone,
       Routing::kSpray, 300'000},
      {"RdmaTransport::RetryCount", "0", CongestionControl::kNone, soon, FlowControl::kNone,
       Routing::kEcmp, 300'000},
      {"FaultInjector::RerouteTime", "5 us", CongestionControl::kNone, soon, FlowControl::kPfc,
       Routing::kEcmp, 32'000'000, true},
      {"FabricNode::PauseWatchdog",
       "2 us",
       CongestionControl::kNone,
       {},
       FlowControl::kPfc,
       Routing::kEcmp,
       2'000'000},
  };
  // Data in one class, acknowledgements in another: strict, or weighted.
  for (int c = 0; c < 8; ++c) {
    const std::string data = std::to_string((c + 1) % 8);
    cases.push_back({"FabricNode::Weight" + std::to_string(c),
                     "1",
                     CongestionControl::kNone,
                     {{"RdmaTransport::AckPriority", std::to_string(c)},
                      {"RdmaTransport::DataPriority", data},
                      {"FabricNode::Weight" + data, "50"}}});
  }
  return cases;
}

TEST(Attributes, EachChangesACongestedScenario) {
  std::set<std::string> seen;
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name + " " + c.value);
    seen.insert(c.name);
    Topology topology = TopologyOf(c);
    const bool window = c.name == "RdmaTransport::WindowBdp";
    if (!window) topology.transport.attributes = {{"RdmaTransport::WindowBdp", "20"}};
    for (const auto& each : c.with) {
      if (each.first != c.name) topology.transport.attributes.push_back(each);
    }
    const std::string before = AnswerOf(topology);
    topology.transport.attributes.emplace_back(c.name, c.value);
    EXPECT_NE(before, AnswerOf(topology));
  }
  ForEachAttribute([&](const std::string& name, const TypeId::AttributeInformation&) {
    EXPECT_TRUE(seen.count(name) == 1 || IsDerived(name))
        << name << " has no scenario that it changes";
  });
}

// ---- Hostile values -------------------------------------------------------------------------

// Returns the algorithm whose attributes are those of the class, or else DCQCN.
CongestionControl ControlOf(const std::string& owner) {
  for (const CongestionAlgorithm& each : CongestionAlgorithms()) {
    if (each.attributes == owner) return each.control;
  }
  return CongestionControl::kDcqcn;
}

// Returns the outcome of a run. Any outcome is right except a crash or a run that does not end.
std::string OutcomeOf(CongestionControl control, FlowControl flow_control, const std::string& name,
                      const std::string& value) {
  FabricShape shape;
  shape.transport.congestion_control = control;
  shape.transport.flow_control = flow_control;
  shape.transport.retransmission = Retransmission::kSelectiveRepeat;
  shape.transport.attributes = {{name, value}};
  if (name != "FabricSwitch::EcnMin" && name != "FabricSwitch::EcnMax") {
    shape.transport.attributes.emplace_back("FabricSwitch::EcnMin", "1000");
  }
  if (name != "RdmaTransport::AckTimeout") {
    shape.transport.attributes.emplace_back("RdmaTransport::AckTimeout", "100 us");
  }
  Topology topology = Star(4, shape);
  topology.fabric.switches[0].buffer =
      Bytes(flow_control == FlowControl::kPfc ? 1'000'000 : 100'000);
  const auto network = MakePacketNetwork(topology, {});
  if (!network.ok()) return network.error().message();
  std::vector<Order> orders;
  for (int i = 1; i < 4; ++i) orders.push_back(Transfer(i, 0, 4096 * 60));
  const Status done = RunOrders(topology, network->get(), orders);
  return done.ok() ? "fine" : done.error().message();
}

TEST(Attributes, ARunEndsWithAnyValue) {
  int fine = 0, refused = 0;
  ForEachAttribute([&](const std::string& name, const TypeId::AttributeInformation&) {
    if (IsDerived(name)) return;
    const CongestionControl control = ControlOf(name.substr(0, name.find(':')));
    for (const std::string value : {"",
                                    "x",
                                    "-1",
                                    "nan",
                                    "0",
                                    "1",
                                    "0.5",
                                    "1e-6",
                                    "1e300",
                                    "65535",
                                    "99999999999999999999",
                                    "9223372036854775807",
                                    "4294967295",
                                    "0 s",
                                    "1 ps",
                                    "1 ns",
                                    "1000000 s",
                                    "9000000 s",
                                    "0 bps",
                                    "1 Mbps",
                                    "9 Tbps",
                                    "true",
                                    "0 s extra"}) {
      for (const auto flow_control : {FlowControl::kPfc, FlowControl::kNone}) {
        const std::string outcome = OutcomeOf(control, flow_control, name, value);
        EXPECT_FALSE(outcome.empty()) << name << " " << value;
        ++(outcome.starts_with("transport:") ? refused : fine);
      }
    }
  });
  EXPECT_GT(fine, 300);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace drydock
