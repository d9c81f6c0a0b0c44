// NCCL's settings: which exist, which have an effect, which values are valid.
#include "core/nccl/nccl_settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/nccl/nccl_library.h"
#include "core/nccl/testing/hosts_testing.h"

namespace drydock {
namespace {

// Returns the first problem, else the settings without effect, else "fine".
std::string Verdict(const std::string& name, const std::string& value) {
  const auto library = NcclLibrary::Load().value();
  const NcclSettingReport report = CheckNcclSettings(library->api(), {{name, value}});
  if (!report.problems.empty()) return report.problems[0].message;
  return report.idle.empty() ? "fine" : report.idle[0];
}

TEST(NcclSettingsTest, KnowsAllSettingsOfNccl) {
  const auto library = NcclLibrary::Load().value();
  const hacknccl_api& api = library->api();
  std::vector<std::string> names;
  for (size_t i = 0; i < api.setting_count; ++i) {
    names.push_back(api.settings[i].name);
    EXPECT_EQ(api.settings[i].effect == HACKNCCL_SETTING_DECIDES,
              std::string(api.settings[i].reason).empty());
  }
  EXPECT_EQ(names.size(), 215u);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const char* name : {"NCCL_ALGO", "NCCL_BUFFSIZE", "NCCL_IB_QPS_PER_CONNECTION",
                           "NCCL_NVLS_ENABLE", "NCCL_P2P_LEVEL", "NCCL_SYM_KERNEL"}) {
    EXPECT_TRUE(std::binary_search(names.begin(), names.end(), name)) << name;
  }
}

TEST(NcclSettingsTest, AcceptsSettingsWithAnEffect) {
  for (const auto& [name, value] : NcclSettings{{"NCCL_ALGO", "ring,tree;allreduce:^tree"},
                                                {"NCCL_PROTO", "^LL128"},
                                                {"NCCL_MIN_NCHANNELS", "0x10"},
                                                {"NCCL_P2P_LEVEL", "PXB"},
                                                {"NCCL_NET_GDR_LEVEL", "3"},
                                                {"NCCL_CTA_POLICY", "efficiency|zero"},
                                                {"NCCL_NETDEVS_POLICY", "MAX:2"},
                                                {"NCCL_THREAD_THRESHOLDS", "8 16 64 8 16 64"},
                                                {"NCCL_SYM_KERNEL", "AllGather_LL"},
                                                {"NCCL_IB_QPS_PER_CONNECTION", "4"},
                                                {"NCCL_IB_SPLIT_DATA_ON_QPS", "1"}}) {
    EXPECT_EQ(Verdict(name, value), "fine") << name;
  }
}

TEST(NcclSettingsTest, ListsSettingsWithoutEffect) {
  EXPECT_EQ(Verdict("NCCL_DEBUG", "INFO"), "NCCL_DEBUG (NCCL's log is not written)");
  EXPECT_EQ(Verdict("NCCL_IB_TC", "106"),
            "NCCL_IB_TC (the network between hosts is described by the cluster file)");
}

TEST(NcclSettingsTest, ReportsInvalidSettings) {
  EXPECT_EQ(Verdict("NCCL_ALGOS", "ring"),
            "NCCL 2.29.7 has no setting 'NCCL_ALGOS'; did you mean 'NCCL_ALGO'?");
  EXPECT_EQ(Verdict("NCCL_TOPO_FILE", "/etc/topo.xml"),
            "NCCL_TOPO_FILE: NCCL's view of a host is given by the host's 'nccl_topology'");
  EXPECT_EQ(Verdict("NCCL_NET_PLUGIN", "none"), "NCCL_NET_PLUGIN: plugins are not loaded");
  // NCCL's words.
  EXPECT_EQ(Verdict("NCCL_ALGO", "foo"),
            "NCCL_ALGO: Unrecognized element token \"foo\" when parsing \"foo\"");
  EXPECT_EQ(Verdict("NCCL_PROTO", "all:LL"),
            "NCCL_PROTO: Unrecognized prefix token \"all\" when parsing \"all:LL\"");
  // Values that NCCL accepts silently, or crashes on.
  EXPECT_EQ(Verdict("NCCL_ALGO", ":;"), "NCCL_ALGO: ':' is empty");
  EXPECT_EQ(Verdict("NCCL_MAX_NCHANNELS", "many"),
            "NCCL_MAX_NCHANNELS: 'many' is not a whole number");
  EXPECT_EQ(Verdict("NCCL_MAX_NCHANNELS", "4294967297"),
            "NCCL_MAX_NCHANNELS: 4294967297 does not fit NCCL's 32-bit numbers");
  EXPECT_EQ(Verdict("NCCL_BUFFSIZE", "0"), "NCCL_BUFFSIZE: 0 is not within 32768 to 1073741824");
  EXPECT_EQ(Verdict("NCCL_P2P_LEVEL", "pix"),
            "NCCL_P2P_LEVEL: 'pix' is not one of LOC, NVL, NVB, C2C, PIX, PXB, P2C, PXN, PHB, SYS");
  EXPECT_EQ(Verdict("NCCL_CTA_POLICY", "3"),
            "NCCL_CTA_POLICY: '3' is not one of DEFAULT, EFFICIENCY, ZERO");
  EXPECT_EQ(Verdict("NCCL_NETDEVS_POLICY", "MAX:0"),
            "NCCL_NETDEVS_POLICY: 'MAX:0' is not one of AUTO, ALL, MAX:count");
  EXPECT_EQ(Verdict("NCCL_THREAD_THRESHOLDS", "8 x"),
            "NCCL_THREAD_THRESHOLDS: '8 x' is not a list of one to six whole numbers (tree, then "
            "ring: LL, "
            "LL128, Simple)");
}

TEST(NcclSettingsTest, AWorldTakesOnlyValidSettings) {
  const auto world =
      NcclWorld::Create(NcclLibrary::Load().value(), {}, {{"NCCL_NVLS_ENABEL", "0"}});
  ASSERT_FALSE(world.ok());
  EXPECT_EQ(world.error().message(),
            "nccl.settings: NCCL 2.29.7 has no setting 'NCCL_NVLS_ENABEL'; did you mean "
            "'NCCL_NVLS_ENABLE'?");
}

// Settings that NCCL would replace in every communicator.
TEST(NcclSettingsTest, AValueNcclWouldReplaceIsAnError) {
  EXPECT_EQ(Verdict("NCCL_NTHREADS", "100"),
            "NCCL_NTHREADS: 100 is not a multiple of 32 (64 to 512)");
  EXPECT_EQ(Verdict("NCCL_NTHREADS", "1024"), "NCCL_NTHREADS: 1024 is not within 64 to 512");
  EXPECT_EQ(Verdict("NCCL_LL128_NTHREADS", "640"), "fine");
  EXPECT_EQ(Verdict("NCCL_MAX_CTAS", "0"), "NCCL_MAX_CTAS: 0 is not within 1 to 64");
  EXPECT_EQ(Verdict("NCCL_MAX_NCHANNELS", "0"),
            "NCCL_MAX_NCHANNELS: 0 is not within 1 to 2147483647");
  EXPECT_EQ(Verdict("NCCL_MAX_NCHANNELS", "128"), "fine");
  EXPECT_EQ(Verdict("NCCL_MIN_NCHANNELS", "65"), "NCCL_MIN_NCHANNELS: 65 is not within 0 to 64");
  EXPECT_EQ(Verdict("NCCL_COLLNET_ENABLE", "2"), "NCCL_COLLNET_ENABLE: 2 is not within 0 to 1");
}

// Settings that NCCL replaces only when it builds a communicator.
TEST(NcclSettingsTest, SettingsNcclWouldReplaceAreAnError) {
  const auto error = [](const NcclSettings& settings) {
    const NcclWorld world = TestWorld({DgxH100()}, 90, settings);
    const auto comm = world.CreateCommunicator(Places(1, kAllEight));
    return comm.ok() ? "no error" : comm.error().message();
  };
  EXPECT_EQ(error({{"NCCL_MIN_CTAS", "8"}, {"NCCL_MAX_CTAS", "4"}}),
            "NCCL replaces a setting: minCTAs 8 is larger than maxCTAs 4, set both "
            "to 4");
  EXPECT_EQ(error({{"NCCL_NTHREADS", "128"}}), "no error");
}

}  // namespace
}  // namespace drydock
