#include "core/schema/cluster/host_launch_file.h"

#include <gtest/gtest.h>

#include "core/base/files.h"

namespace drydock {
namespace {

constexpr const char* kSet =
    "kernel: 20 us, collective: 50 us, message: 40 us, graph: 15 us, loop: 8 us, wait: 10 us, "
    "latency: 4 us, queue: 1024, source: a test";

std::string MessageOf(const std::string& text) {
  const auto sets = ParseHostLaunchFile(text, "host-launch.yaml");
  return sets.ok() ? "" : sets.error().ToString();
}

TEST(HostLaunchFileTest, ReadsEachSetUnderItsName) {
  const auto sets = ParseHostLaunchFile(
      std::string("host_launch: {fast: {") + kSet + "}, slow: {" + kSet + "}}", "host-launch.yaml");
  ASSERT_TRUE(sets.ok());
  ASSERT_EQ(sets->size(), 2u);
  EXPECT_EQ((*sets)[1].name, "slow");
  EXPECT_EQ((*sets)[1].kernel, Time::Us(20));
  EXPECT_EQ((*sets)[1].collective, Time::Us(50));
  EXPECT_EQ((*sets)[1].message, Time::Us(40));
  EXPECT_EQ((*sets)[1].graph, Time::Us(15));
  EXPECT_EQ((*sets)[1].loop, Time::Us(8));
  EXPECT_EQ((*sets)[1].wait, Time::Us(10));
  EXPECT_EQ((*sets)[1].latency, Time::Us(4));
  EXPECT_EQ((*sets)[1].queue, 1024);
  EXPECT_EQ((*sets)[1].backward_kernel, Time::Us(20))
      << "a set without backward_kernel uses kernel";
  const auto explicit_set = ParseHostLaunchFile(
      std::string("host_launch: {a: {backward_kernel: 3 us, ") + kSet + "}}", "host-launch.yaml");
  ASSERT_TRUE(explicit_set.ok());
  EXPECT_EQ((*explicit_set)[0].backward_kernel, Time::Us(3));
}

TEST(HostLaunchFileTest, MistakesShowTheirPlace) {
  EXPECT_EQ(MessageOf("host_launch: {}\n"),
            "host-launch.yaml:1:14: error: 'host_launch' must name at least one set of costs\n"
            "  host_launch: {}\n"
            "               ^");
  const std::string text = MessageOf("host_launch:\n  eager: {kernal: 20 us}\n");
  EXPECT_NE(text.find("2:11: error: unknown key 'kernal'"), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean 'kernel'?"), std::string::npos) << text;
  EXPECT_NE(text.find("collective"), std::string::npos) << text;
  std::string none = kSet;
  none.replace(none.find("1024"), 4, "0");
  EXPECT_NE(MessageOf("host_launch: {eager: {" + none + "}}").find("queue"), std::string::npos);
}

TEST(HostLaunchFileTest, ShippedFileReads) {
  const std::string path = "configs/host-launch.yaml";
  const auto sets = ParseHostLaunchFile(*ReadFile(path), path);
  ASSERT_TRUE(sets.ok()) << sets.error().ToString();
  std::vector<std::string> names;
  for (const HostLaunch& set : *sets) names.push_back(set.name);
  EXPECT_EQ(names, (std::vector<std::string>{"eager", "fused"}));
}

}  // namespace
}  // namespace drydock
