#include "core/schema/cluster/nic_file.h"

#include <gtest/gtest.h>

#include "core/schema/testing/workload_testing.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

Time MessageOf(const std::string& latency) {
  const std::string text =
      testing::Replaced(testing::ToyClusterText(), "latency: 500 ns", "latency: " + latency);
  const auto cluster = ParseCluster(text, "toys.topo", testing::ToyFiles());
  EXPECT_TRUE(cluster.ok()) << cluster.error().ToString();
  return cluster->topology.host_kinds[0].nics.message;
}

TEST(NicFileTest, TheClusterCountsMoreThanDefaults) {
  const auto defaults = LoadNicDefaults();
  ASSERT_TRUE(defaults.ok()) << defaults.error().ToString();
  EXPECT_EQ(defaults->message, Time::Ns(280));
  EXPECT_EQ(MessageOf("500 ns"), defaults->message);
  EXPECT_EQ(MessageOf("500 ns, message: 0 ns"), Time());
}

TEST(NicFileTest, SaysWhatIsWrongAndWhere) {
  const auto error = [](const std::string& message) {
    return testing::FirstLine(
        testing::ErrorText(ParseNicFile("nics: {message: " + message + "}\n", "n")));
  };
  EXPECT_EQ(error("{time: 2 s, source: x}"),
            "n:1:24: error: 'time' is 2 s; it must be at most 1 s");
  EXPECT_EQ(error("{time: 280 ns}"), "n:1:17: error: 'message' lacks the key 'source'");
}

}  // namespace
}  // namespace drydock
