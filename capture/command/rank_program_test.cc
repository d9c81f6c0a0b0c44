#include "capture/command/rank_program.h"

#include <gtest/gtest.h>

#include "capture/launch/words.h"
#include "core/base/files.h"

namespace drydock::capture {
namespace {

Launch Of(std::vector<std::string> command) {
  Launch launch;
  launch.launcher = "torchrun";
  launch.command = std::move(command);
  launch.folder = testing::TempDir() + "rank_program";
  return launch;
}

TEST(RankProgram, HasToBeThere) {
  const Launch launch = Of({"python", "-u", "train.py"});
  ASSERT_TRUE(MakeDirectories(launch.folder).ok());
  ASSERT_TRUE(WriteFileAtomically(launch.folder + "/train.py", "").ok());
  EXPECT_TRUE(CheckProgram(launch).ok());
  EXPECT_TRUE(CheckProgram(Of({"python", "-m", "anything"})).ok());
  EXPECT_EQ(CheckProgram(Of({"python", "trian.py"})).error().ToString(),
            launch.folder +
                "/trian.py: error: torchrun starts this program, but there is no such file; did "
                "you mean 'train.py'?");
  EXPECT_EQ(NameOfProgram(launch), "train.py");
  EXPECT_EQ(NameOfProgram(Of({"python", "-m", "a.b", "x"})), "a.b");
}

TEST(RankProgram, GetsTheNumberOfItsRank) {
  Launch launch = Of({"python", "a b.py", "--rank=0"});
  EXPECT_EQ(Quoted(CommandOfRanks(launch, "/p")), "/p 'a b.py' --rank=0");
  launch.rank_words = {{2, "--rank=", RankNumber::kLocalRank, ""}};
  EXPECT_EQ(CommandOfRanks(launch, "/p"),
            (std::vector<std::string>{"/bin/sh", "-c", "exec /p 'a b.py' --rank=\"$LOCAL_RANK\""}));
  launch = Of({"python", "a.py"});
  launch.launcher.clear();
  launch.environment = {{"MASTER_ADDR", "x"}};
  EXPECT_EQ(Quoted(CommandOfRanks(launch, "/p")),
            "/usr/bin/env -u RANK -u WORLD_SIZE -u LOCAL_RANK -u LOCAL_WORLD_SIZE -u GROUP_RANK -u "
            "GROUP_WORLD_SIZE -u NODE_RANK -u MASTER_PORT -u TORCHELASTIC_RUN_ID MASTER_ADDR=x /p "
            "a.py");
}

}  // namespace
}  // namespace drydock::capture
