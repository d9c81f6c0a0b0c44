#include "core/schema/host/host_launch_file.h"

#include <gtest/gtest.h>

#include "core/base/files.h"

namespace drydock {
namespace {

constexpr const char* kSet =
    "kernel: 20 us, collective: 50 us, message: 40 us, graph: 15 us, loop: 8 us, wait: 10 us, "
    "latency: 4 us, queue: 1024, measured: one host, source: a test";

std::string MessageOf(const std::string& text) {
  const auto sets = ParseHostLaunchFile(text, "host-launch.yaml");
  return sets.ok() ? "" : sets.error().ToString();
}

TEST(HostLaunchFileTest, ReadsEachSetUnderItsName) {
  const auto sets = ParseHostLaunchFile(
      std::string("host_launch: {fast: {") + kSet + "}, slow: {" + kSet + "}}", "host-launch.yaml");
  ASSERT_TRUE(sets.ok());
  ASSERT_EQ(sets->size(), 2u);
  EXPECT_EQ((*sets)[1].launch.name, "slow");
  EXPECT_EQ((*sets)[1].launch.kernel, Time::Us(20));
  EXPECT_EQ((*sets)[1].launch.collective, Time::Us(50));
  EXPECT_EQ((*sets)[1].launch.message, Time::Us(40));
  EXPECT_EQ((*sets)[1].launch.graph, Time::Us(15));
  EXPECT_EQ((*sets)[1].launch.loop, Time::Us(8));
  EXPECT_EQ((*sets)[1].launch.wait, Time::Us(10));
  EXPECT_EQ((*sets)[1].launch.latency, Time::Us(4));
  EXPECT_EQ((*sets)[1].launch.queue, 1024);
  EXPECT_EQ((*sets)[1].measured, "one host");
  EXPECT_EQ((*sets)[1].kernels, "");
  EXPECT_EQ((*sets)[1].launch.backward_kernel, Time::Us(20))
      << "a set without backward_kernel uses kernel";
  const auto explicit_set = ParseHostLaunchFile(
      std::string("host_launch: {a: {backward_kernel: 3 us, ") + kSet + "}}", "host-launch.yaml");
  ASSERT_TRUE(explicit_set.ok());
  EXPECT_EQ((*explicit_set)[0].launch.backward_kernel, Time::Us(3));
}

TEST(HostLaunchFileTest, ReadsTheCostsOfModules) {
  const auto sets = ParseHostLaunchFile(
      std::string("host_launch: {a: {fill: 2 us, step: 9 ms, step_delay: 3 ms, modules: {linear: "
                  "{forward: 80 us, "
                  "backward: 70 us}, optimizer: {once: 1 ms, tensor: 30 us}}, ") +
          kSet + "}}",
      "host-launch.yaml");
  ASSERT_TRUE(sets.ok()) << sets.error().ToString();
  const HostLaunchSet& set = (*sets)[0];
  EXPECT_EQ(set.fill, Time::Us(2));
  EXPECT_EQ(set.step, Time::Us(9000));
  EXPECT_EQ(set.step_delay, Time::Us(3000));
  EXPECT_EQ(set.modules.at("linear").forward, Time::Us(80));
  EXPECT_EQ(set.modules.at("linear").backward, Time::Us(70));
  EXPECT_EQ(set.modules.at("optimizer").once, Time::Us(1000));
  EXPECT_EQ(set.modules.at("optimizer").tensor, Time::Us(30));
  EXPECT_EQ(set.modules.count("norm"), 0u);
  const std::string unknown = MessageOf(
      std::string("host_launch: {a: {modules: {linaer: {forward: 80 us}}, ") + kSet + "}}");
  EXPECT_NE(unknown.find("did you mean 'linear'?"), std::string::npos) << unknown;
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
  EXPECT_NE(text.find("lacks the key 'measured'"), std::string::npos) << text;
  EXPECT_NE(MessageOf(std::string("host_launch: {a: {kernels: unfusd, ") + kSet + "}}")
                .find("did you mean 'unfused'?"),
            std::string::npos);
  const std::string all = kSet;
  const size_t queue = all.find("1024");
  const std::string none = all.substr(0, queue) + "0" + all.substr(queue + 4);
  EXPECT_NE(MessageOf("host_launch: {eager: {" + none + "}}").find("queue"), std::string::npos);
}

TEST(HostLaunchFileTest, ShippedFileReads) {
  const std::string path = "configs/host-launch.yaml";
  const auto sets = ParseHostLaunchFile(*ReadFile(path), path);
  ASSERT_TRUE(sets.ok()) << sets.error().ToString();
  std::vector<std::string> names;
  for (const HostLaunchSet& set : *sets) names.push_back(set.launch.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"eager", "fused", "transformer-engine", "megatron-core"}));
}

}  // namespace
}  // namespace drydock
