// "Is this run launch-bound?"
#include "report/facts/host_share.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

// Of a path of 100 us.
std::string Verdict(int host_us, HostCause cause = HostCause::kCode) {
  PathSummary path;
  path.parts[0] = Time::Us(100 - host_us);
  path.parts[kPathHostPart] = Time::Us(host_us);
  std::array<PartSummary, kHostCauseCount> causes;
  causes[static_cast<size_t>(cause)].mean = Time::Us(host_us);
  const std::optional<HostShare> share = HostShareOf(path, causes);
  EXPECT_DOUBLE_EQ(share->decides, host_us / 100.0);
  return share->verdict;
}

TEST(HostShare, FollowsTheCriticalPath) {
  EXPECT_EQ(Verdict(61), "launch-bound");
  EXPECT_EQ(Verdict(50), "launch-bound");
  EXPECT_EQ(Verdict(49), "partly launch-bound");
  EXPECT_EQ(Verdict(9), "not launch-bound");
  EXPECT_EQ(Verdict(0), "not launch-bound");
  EXPECT_FALSE(HostShareOf({}, {}).has_value());
}

TEST(HostShare, NamesWhatTheHostDoesMost) {
  EXPECT_EQ(Verdict(61, HostCause::kValues), "launch-bound");
  EXPECT_EQ(Verdict(61, HostCause::kData), "bound by the data loader");
  EXPECT_EQ(Verdict(20, HostCause::kWork), "partly bound by the host's own work");
}

}  // namespace
}  // namespace drydock
