#include "report/band/time_shares.h"

#include <gtest/gtest.h>

#include <map>

#include "report/path/path_summary.h"
#include "report/testing/run_testing.h"

namespace drydock {
namespace {

BandErrors Errors() {
  BandErrors errors;
  errors.kernels = {0.01, 0.05, 0.2, 0};
  errors.inside_hosts = 0.04;
  errors.between_hosts = 0.1;
  errors.launches = 0.3;
  return errors;
}

std::map<std::string, TimeShare> SharesByName(const Inputs& inputs) {
  std::map<std::string, TimeShare> out;
  for (const TimeShare& each : TimeSharesOf(inputs, CriticalPath(inputs), Errors())) {
    out[each.name] = each;
  }
  return out;
}

TEST(TimeShares, ThePathIsDividedByModel) {
  const Inputs inputs = FakeRun();
  const auto shares = SharesByName(inputs);
  double sum = 0;
  for (const auto& [name, each] : shares) sum += each.share;
  EXPECT_NEAR(sum, 1, 1e-12);
  // The path is 69.2 % compute and 30.8 % communication on one host (summary_text_test.cc).
  EXPECT_NEAR(shares.at("communication inside hosts").share, 0.308, 0.001);
  EXPECT_NEAR(shares.at("communication inside hosts").error, 0.04, 1e-12);
  EXPECT_NEAR(shares.at("gemm (profile)").error, 0.01, 1e-12);
  EXPECT_NEAR(shares.at("gemm (scaled)").error, 0.2, 1e-12);
  EXPECT_NEAR(shares.at("norm (model)").error, 0.05, 1e-12);
  EXPECT_FALSE(shares.contains("communication between hosts"));
}

TEST(TimeShares, AKernelsOwnErrorComesFirst) {
  Inputs inputs = FakeRun();
  for (SubmoduleTime& submodule : inputs.times.gpus.front().submodules) {
    for (KernelTime& kernel : submodule.kernels) kernel.expected_error = 0.123;
  }
  EXPECT_NEAR(SharesByName(inputs).at("gemm (scaled)").error, 0.123, 1e-12);
}

TEST(TimeShares, AnErrorIsThatOfKernelsAndThatOfItsEntry) {
  const auto before = SharesByName(FakeRun());
  EXPECT_EQ(before.at("gemm (scaled)").entry, "kernels.scaled");
  EXPECT_EQ(before.at("gemm (scaled)").entry_share, 1);
  EXPECT_EQ(before.at("gemm (scaled)").stated_error, 0);
  EXPECT_EQ(before.at("communication inside hosts").entry, "communication.inside_hosts");

  Inputs inputs = FakeRun();
  bool stated = false;  // every second kernel states an error
  for (SubmoduleTime& submodule : inputs.times.gpus.front().submodules) {
    for (KernelTime& kernel : submodule.kernels) {
      if (!stated) kernel.expected_error = 0.123;
      stated = !stated;
    }
  }
  for (const auto& [name, each] : SharesByName(inputs)) {
    const double of_entry = each.entry.empty() ? 0 : before.at(name).error;
    EXPECT_EQ(each.error, each.stated_error + each.entry_share * of_entry) << name;
    if (name.starts_with("communication")) continue;
    EXPECT_NEAR(each.stated_error, (1 - each.entry_share) * 0.123, 1e-12) << name;
  }
}

TEST(TimeShares, LargestErrorsLeaveOutThoseOfNone) {
  const std::vector<TimeShare> largest =
      LargestErrors({{"a", 0.6, 0}, {"b", 0.3, 0.01}, {"c", 0.1, 0.2}, {"d", 0.1, 0.01}}, 2);
  ASSERT_EQ(largest.size(), 2u);
  EXPECT_EQ(largest[0].name, "c");
  EXPECT_EQ(largest[1].name, "b");
}

// An exchange of tokens has the error of its library on the GPU, not that of NCCL.
TEST(TimeShares, ExchangesOfTokensHaveErrorsOfTheirOwn) {
  Inputs inputs = FakeRun();
  for (CommCall& call : inputs.workload.calls) call.buffers = BufferKind::kHybridEp;
  EXPECT_TRUE(SharesByName(inputs).contains("communication inside hosts")) << "no known error";
  TokenCosts costs;
  costs.error = 0.3;
  costs.measured = false;
  BandErrors errors = Errors();
  errors.tokens["hybridep"][inputs.workload.topology.gpus[0].name] = costs;
  std::map<std::string, TimeShare> shares;
  for (const TimeShare& each : TimeSharesOf(inputs, CriticalPath(inputs), errors)) {
    shares[each.name] = each;
  }
  EXPECT_FALSE(shares.contains("communication inside hosts"));
  const TimeShare& exchange = shares.at("hybridep inside hosts (assumed)");
  EXPECT_NEAR(exchange.share, 0.308, 0.001);
  EXPECT_NEAR(exchange.error, 0.3, 1e-12);
  EXPECT_TRUE(exchange.assumed);
  EXPECT_TRUE(exchange.entry.empty());
}

}  // namespace
}  // namespace drydock
