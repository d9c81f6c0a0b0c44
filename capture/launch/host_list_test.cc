#include "capture/launch/host_list.h"

#include <gtest/gtest.h>

#include "core/base/spelling.h"

namespace drydock::capture {
namespace {

TEST(HostNames, Expand) {
  EXPECT_EQ(Join(*ExpandHostNames("gpu[01-03,7]-ib,login"), " "),
            "gpu01-ib gpu02-ib gpu03-ib gpu7-ib login");
  EXPECT_EQ(ExpandHostNames("a[3-1]").error().message(), "'3-1' is not a range of hosts");
  EXPECT_EQ(ExpandHostNames("a[3").error().message(), "'a[3' has a [ without ]");
}

}  // namespace
}  // namespace drydock::capture
