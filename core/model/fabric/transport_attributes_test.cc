// Does the table state each attribute completely, and does a setting outside its range fail?
#include "core/model/fabric/transport_attributes.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "core/model/fabric/transport_attributes_page.h"

namespace drydock {
namespace {

using Kind = TransportAttribute::Kind;

std::string MessageOf(const std::string& name, const std::string& text) {
  const Status status = CheckTransportAttributes({{name, text}});
  return status.ok() ? "" : status.error().message();
}

TEST(TransportAttributes, EachHasAUnitAValidDefaultAMeaningAndASource) {
  // A paper, a standard, a product, or the statement that the value is a choice.
  const std::regex source(
      "paper|Paper|SIGCOMM|NSDI|ToN|IEEE|InfiniBand|RoCE|ConnectX|NCCL_|SONiC|HPCC|choice");
  std::set<std::string> names;
  for (const TransportAttribute& each : TransportAttributes()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name << " twice";
    if (each.kind == Kind::kDerived) {
      EXPECT_FALSE(each.derived_from.empty()) << each.name;
      continue;
    }
    EXPECT_TRUE(ParseTransportValue(each, each.default_value).ok()) << each.name;
    EXPECT_GT(each.help.size(), 20U) << each.name;
    EXPECT_TRUE(std::regex_search(each.help, source)) << each.name << ": " << each.help;
    const bool plain =
        each.kind == Kind::kNumber || each.kind == Kind::kInteger || each.kind == Kind::kCount;
    EXPECT_EQ(each.unit.empty(), !plain) << each.name;
  }
}

TEST(TransportAttributes, AlgorithmsAreThoseOfTheEnumeration) {
  ASSERT_EQ(CongestionAlgorithms().size(), CongestionControlNames().size());
  for (size_t i = 0; i < CongestionAlgorithms().size(); ++i) {
    EXPECT_EQ(CongestionAlgorithms()[i].control, static_cast<CongestionControl>(i));
  }
}

TEST(TransportAttributes, EveryAlgorithmButNoneHasAttributes) {
  for (const CongestionAlgorithm& each : CongestionAlgorithms()) {
    int found = 0;
    for (const TransportAttribute& attribute : TransportAttributes()) {
      found += attribute.name.starts_with(each.attributes + "::") ? 1 : 0;
    }
    EXPECT_EQ(found > 0, each.control != CongestionControl::kNone) << ToString(each.control);
  }
}

TEST(TransportAttributes, MessagesSayWhatTheAttributeAccepts) {
  EXPECT_EQ(MessageOf("Dcqcn::Gain", "0.5"), "");
  EXPECT_EQ(MessageOf("Dcqcn::Gain", "nan"),
            "attribute 'Dcqcn::Gain' is 'nan'; it must be a number, from 0 to 1");
  EXPECT_EQ(MessageOf("Dcqcn::MinRate", "5 Kbps"),
            "attribute 'Dcqcn::MinRate' is '5 Kbps'; it must be a rate such as '50 Mbps', at least "
            "1 Mbps");
  EXPECT_EQ(MessageOf("RdmaTransport::DataPriority", "8"),
            "attribute 'RdmaTransport::DataPriority' is '8'; it must be a whole number, from 0 to "
            "7");
  EXPECT_EQ(MessageOf("RdmaTransport::AckTimeout", "2000 s"),
            "attribute 'RdmaTransport::AckTimeout' is '2000 s'; it must be a time such as '55 us', "
            "from 1 ns to 1000 s");
  EXPECT_EQ(MessageOf("FabricSwitch::ResumeOffset", "-1"),
            "attribute 'FabricSwitch::ResumeOffset' is '-1'; it must be a whole number, at least "
            "0");
  EXPECT_EQ(MessageOf("FabricSwitch::EcnAtDequeue", "1"),
            "attribute 'FabricSwitch::EcnAtDequeue' is '1'; it must be true or false");
  EXPECT_EQ(MessageOf("Swift::FlowMin", "200"),
            "attribute 'Swift::FlowMin' must not exceed 'Swift::FlowMax'");
  EXPECT_EQ(MessageOf("FabricSwitch::Buffer", "1"),
            "attribute 'FabricSwitch::Buffer' cannot be set: 'buffer' of the switches decides it");
}

TEST(TransportAttributes, KeysHaveTheTypesOfTheirRows) {
  EXPECT_EQ(*ValueOf(kWindowBdp, {}), 2);
  EXPECT_EQ(*ValueOf(kCutThrough, {}), 0U);
  EXPECT_EQ(*ValueOf(kRerouteTime, {}), Time::Us(10'000));
  EXPECT_EQ(*ValueOf(kRerouteTime, {{"FaultInjector::RerouteTime", "3 us"}}), Time::Us(3));
  EXPECT_EQ(ValueOf(kCutThrough, {{"FabricSwitch::CutThrough", "-1"}}).error().message(),
            "attribute 'FabricSwitch::CutThrough' is '-1'; it must be a whole number, from 0 to "
            "65535");
}

TEST(TransportAttributes, ThePageListsEachOnce) {
  const std::string page = TransportAttributesPage();
  for (const TransportAttribute& each : TransportAttributes()) {
    const size_t row = page.find("| `" + each.name + "` |");
    ASSERT_NE(row, std::string::npos) << each.name;
    EXPECT_EQ(page.find("| `" + each.name + "` |", row + 1), std::string::npos) << each.name;
  }
}

}  // namespace
}  // namespace drydock
