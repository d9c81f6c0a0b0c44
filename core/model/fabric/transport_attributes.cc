#include "core/model/fabric/transport_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/check.h"
#include "core/base/spelling.h"
#include "core/base/units.h"

namespace drydock {
namespace {

using Form = TransportAttribute::Form;

const TransportAttribute* Find(const std::string& name) {
  for (const TransportAttribute& each : TransportAttributes()) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

// The whole of `text` as a number.
template <typename Number>
bool Reads(const std::string& text, Number* number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && stop == end;
}

// "" if `text` is of that form, else the words for it.
std::string FaultOf(Form form, const std::string& text) {
  // What is added to the time of a run must fit into 106 days with it.
  constexpr Time kLongest = Time::Us(int64_t{1'000'000} * 1'000'000);
  double number = 0;
  int64_t integer = 0;
  uint64_t count = 0;
  switch (form) {
    case Form::kNumber:
      return Reads(text, &number) && std::isfinite(number) ? "" : "a number";
    case Form::kInteger:
      return Reads(text, &integer) ? "" : "a whole number";
    case Form::kCount:
      return Reads(text, &count) ? "" : "a whole number from 0 on";
    case Form::kFlag:
      return text == "true" || text == "false" ? "" : "true or false";
    case Form::kTime: {
      const Result<Time> time = ParseTime(text);
      return time.ok() && *time <= kLongest ? "" : "a time, as '55 us', of at most 1000000 s";
    }
    case Form::kRate:
      return ParseBandwidth(text).ok() ? "" : "a rate, as '50 Mbps'";
    case Form::kFollows:
      break;
  }
  CHECK_NOTE(false, "a name that follows from another key has no value");
}

}  // namespace

const std::vector<TransportAttribute>& TransportAttributes() {
  static const std::vector<TransportAttribute> attributes = {
      {"Dcqcn::AdditiveIncrease", Form::kRate, ""},
      {"Dcqcn::AlphaInterval", Form::kTime, ""},
      {"Dcqcn::DecreaseInterval", Form::kTime, ""},
      {"Dcqcn::FastRecoveries", Form::kCount, ""},
      {"Dcqcn::Gain", Form::kNumber, ""},
      {"Dcqcn::HyperIncrease", Form::kRate, ""},
      {"Dcqcn::IncreaseBytes", Form::kCount, ""},
      {"Dcqcn::IncreaseInterval", Form::kTime, ""},
      {"Dcqcn::MinRate", Form::kRate, ""},
      {"Dctcp::Gain", Form::kNumber, ""},
      {"FabricNode::PauseWatchdog", Form::kTime, ""},
      {"FabricNode::Weight0", Form::kCount, ""},
      {"FabricNode::Weight1", Form::kCount, ""},
      {"FabricNode::Weight2", Form::kCount, ""},
      {"FabricNode::Weight3", Form::kCount, ""},
      {"FabricNode::Weight4", Form::kCount, ""},
      {"FabricNode::Weight5", Form::kCount, ""},
      {"FabricNode::Weight6", Form::kCount, ""},
      {"FabricNode::Weight7", Form::kCount, ""},
      {"FabricSwitch::Buffer", Form::kFollows, "'buffer' of the switches"},
      {"FabricSwitch::CutThrough", Form::kCount, ""},
      {"FabricSwitch::DropAlpha", Form::kNumber, ""},
      {"FabricSwitch::EcmpSeed", Form::kCount, ""},
      {"FabricSwitch::Ecn", Form::kFollows, "'congestion_control' of the transport"},
      {"FabricSwitch::EcnAtDequeue", Form::kFlag, ""},
      {"FabricSwitch::EcnMax", Form::kCount, ""},
      {"FabricSwitch::EcnMin", Form::kCount, ""},
      {"FabricSwitch::EcnProbability", Form::kNumber, ""},
      {"FabricSwitch::FlowControl", Form::kFollows, "'flow_control' of the transport"},
      {"FabricSwitch::FlowletGap", Form::kTime, ""},
      {"FabricSwitch::FlowletTableBits", Form::kCount, ""},
      {"FabricSwitch::LosslessClasses", Form::kFollows,
       "RdmaTransport::DataPriority and AckPriority"},
      {"FabricSwitch::PauseAlpha", Form::kNumber, ""},
      {"FabricSwitch::ResumeOffset", Form::kInteger, ""},
      {"FabricSwitch::Routing", Form::kFollows, "'routing' of the fabric"},
      {"FabricSwitch::TrimPriority", Form::kCount, ""},
      {"FaultInjector::RerouteTime", Form::kTime, ""},
      {"Hpcc::AdditiveIncrease", Form::kCount, ""},
      {"Hpcc::HeaderBytes", Form::kCount, ""},
      {"Hpcc::MaxStage", Form::kCount, ""},
      {"Hpcc::Target", Form::kNumber, ""},
      {"RdmaTransport::AckPriority", Form::kCount, ""},
      {"RdmaTransport::AckTimeout", Form::kTime, ""},
      {"RdmaTransport::CnpInterval", Form::kTime, ""},
      {"RdmaTransport::CnpPriority", Form::kCount, ""},
      {"RdmaTransport::CongestionControl", Form::kFollows, "'congestion_control' of the transport"},
      {"RdmaTransport::DataPriority", Form::kCount, ""},
      {"RdmaTransport::Mtu", Form::kFollows, "'mtu' of the transport"},
      {"RdmaTransport::NackInterval", Form::kTime, ""},
      {"RdmaTransport::PacketsPerAck", Form::kFollows, "'packets_per_ack' of the transport"},
      {"RdmaTransport::QueuePairsPerConnection", Form::kFollows,
       "NCCL_IB_QPS_PER_CONNECTION of nccl"},
      {"RdmaTransport::ReorderTime", Form::kTime, ""},
      {"RdmaTransport::Reordering", Form::kFollows, "'routing' of the fabric"},
      {"RdmaTransport::Retransmission", Form::kFollows, "'retransmission' of the transport"},
      {"RdmaTransport::RetryCount", Form::kCount, ""},
      {"RdmaTransport::SplitData", Form::kFollows, "NCCL_IB_SPLIT_DATA_ON_QPS of nccl"},
      {"RdmaTransport::TurnBytes", Form::kCount, ""},
      {"RdmaTransport::WindowBdp", Form::kNumber, ""},
      {"Swift::AdditiveIncrease", Form::kNumber, ""},
      {"Swift::BaseTarget", Form::kTime, ""},
      {"Swift::Decrease", Form::kNumber, ""},
      {"Swift::FlowMax", Form::kNumber, ""},
      {"Swift::FlowMin", Form::kNumber, ""},
      {"Swift::FlowRange", Form::kTime, ""},
      {"Swift::HopTarget", Form::kTime, ""},
      {"Swift::MaxDecrease", Form::kNumber, ""},
      {"Swift::MinWindow", Form::kNumber, ""},
      {"Timely::AdditiveIncrease", Form::kRate, ""},
      {"Timely::Decrease", Form::kNumber, ""},
      {"Timely::HighRoundTrip", Form::kTime, ""},
      {"Timely::HyperactiveAfter", Form::kCount, ""},
      {"Timely::LowRoundTrip", Form::kTime, ""},
      {"Timely::MinRate", Form::kRate, ""},
      {"Timely::MinRoundTrip", Form::kTime, ""},
      {"Timely::Weight", Form::kNumber, ""},
  };
  return attributes;
}

std::string CheckAttributeName(const std::string& name) {
  const TransportAttribute* found = Find(name);
  if (found != nullptr && found->form == Form::kFollows) {
    return fmt::format("attribute '{}' follows from {}", name, found->follows_from);
  }
  if (found != nullptr) return "";
  std::vector<std::string> names;
  for (const TransportAttribute& each : TransportAttributes()) {
    if (each.form != Form::kFollows) names.push_back(each.name);
  }
  return fmt::format("the packet network has no attribute '{}'{}", name, DidYouMean(name, names));
}

std::string CheckAttributeValue(const std::string& name, const std::string& text) {
  const TransportAttribute* found = Find(name);
  CHECK(found != nullptr);
  const std::string words = FaultOf(found->form, text);
  if (words.empty()) return "";
  return fmt::format("attribute '{}' is '{}'; it must be {}", name, text, words);
}

}  // namespace drydock
