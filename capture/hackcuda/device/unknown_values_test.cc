// Tests how libhackcuda remembers which bytes of GPU memory nobody has computed.
#include "capture/hackcuda/device/unknown_values.h"

#include <gtest/gtest.h>

#include "capture/hackcuda/device/streams.h"
#include "capture/hackcuda/testing/pretended.h"

namespace drydock::hackcuda {
namespace {

const char* At(uintptr_t address) { return reinterpret_cast<const char*>(address); }

TEST(UnknownValues, TheLeastKnownOfSeveral) {
  const Values unknown = {Knowledge::kUnknown, 7}, assumed = {Knowledge::kAssumed, 8};
  EXPECT_EQ(ValuesAt(At(1000), 100), Values());
  SetValues(At(1000), 100, unknown);
  SetValues(At(1050), 10, assumed);
  SetValues(At(1080), 10, {});
  EXPECT_EQ(ValuesAt(At(900), 100), Values());
  EXPECT_EQ(ValuesAt(At(900), 101), unknown);
  EXPECT_EQ(ValuesAt(At(1050), 10), assumed);
  EXPECT_EQ(ValuesAt(At(1050), 11), unknown);
  EXPECT_EQ(ValuesAt(At(1080), 10), Values());
  EXPECT_EQ(ValuesAt(At(1099), 1), unknown);
  EXPECT_EQ(ValuesAt(At(1100), 100), Values());
  SetValues(At(0), 5000, {});
  EXPECT_EQ(ValuesAt(At(0), 5000), Values());
  SetValues(At(1000), 0, unknown);
  EXPECT_EQ(ValuesAt(At(0), 5000), Values());
}

TEST(UnknownValues, AGraphThatIsCapturedComputesNothing) {
  BeginCapture(nullptr);
  SetValues(At(1000), 8, {});
  EXPECT_EQ(ValuesAt(At(1000), 8).knowledge, Knowledge::kUnknown);
  EndCapture(nullptr);
  SetValues(At(1000), 8, {});
  EXPECT_EQ(ValuesAt(At(1000), 8), Values());
}

}  // namespace
}  // namespace drydock::hackcuda
