#include "capture/launch/user_variables.h"

#include <gtest/gtest.h>

namespace drydock::capture {
namespace {

TEST(UserVariables, AreTheSettingsThatReachAProgram) {
  const Variables own = {
      {"NCCL_ALGO", "Ring"}, {"EDITOR", "vi"}, {"RANK", "0"}, {"HF_TOKEN", "x"}, {"UCX_A", "a b"}};
  Launch launch;
  launch.environment = {{"NCCL_ALGO", "Tree"}, {"EDITOR", "vi"}, {"UCX_A", "a b"}, {"RANK", "0"}};
  EXPECT_EQ(InheritedSettings({launch}, own), "RANK=0, UCX_A='a b'");
  EXPECT_EQ(InheritedSettings({}, own), "");
  EXPECT_EQ(SettingsIn(own), (Variables{{"NCCL_ALGO", "Ring"}, {"RANK", "0"}, {"UCX_A", "a b"}}));
}

}  // namespace
}  // namespace drydock::capture
