#include "capture/launch/user_variables.h"

#include <gtest/gtest.h>

namespace drydock::capture {
namespace {

TEST(UserVariables, AreTheSettingsThatReachAProgram) {
  const Variables own = {
      {"NCCL_ALGO", "Ring"}, {"EDITOR", "vi"}, {"RANK", "0"}, {"HF_TOKEN", "x"}, {"CUDA_A", "a b"}};
  Launch launch;
  launch.environment = {{"NCCL_ALGO", "Tree"}, {"EDITOR", "vi"}, {"CUDA_A", "a b"}, {"RANK", "0"}};
  EXPECT_EQ(InheritedSettings({launch}, own), "CUDA_A='a b', RANK=0");
  EXPECT_EQ(InheritedSettings({}, own), "");
  EXPECT_EQ(SettingsIn(own), (Variables{{"CUDA_A", "a b"}, {"NCCL_ALGO", "Ring"}, {"RANK", "0"}}));
}

}  // namespace
}  // namespace drydock::capture
