// "What does the host pay for a launch of a captured program?"
#include "capture/tape/launch_costs.h"

#include <gtest/gtest.h>

namespace drydock::capture {
namespace {

TEST(LaunchCosts, CallsTakeWhatTheProgramTakesBesides) {
  const HostLaunch none = LaunchCosts({}).value();
  EXPECT_TRUE(none.modeled());
  TapeHost host;
  host.calls = Time::Us(600);
  host.groups = 20;
  const HostLaunch launch = LaunchCosts(host).value();
  EXPECT_EQ(launch.collective, none.collective + Time::Us(30));
  EXPECT_EQ(launch.message, none.message + Time::Us(30));
  EXPECT_EQ(launch.kernel, none.kernel);
}

}  // namespace
}  // namespace drydock::capture
