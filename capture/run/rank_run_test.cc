#include "capture/run/rank_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "capture/run/keeper.h"
#include "capture/run/process_facts.h"
#include "core/schema/cluster/cluster_file.h"

namespace drydock::capture {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// The programs of these tests are shell scripts; none uses a GPU.
class RankRunTest : public ::testing::Test {
 protected:
  RankRunTest() : topology_(LoadCluster("configs/clusters/eos.topo", {})->topology) {
    folder_ = fs::temp_directory_path() / ("rank_run_test." + std::to_string(::getpid()));
    fs::create_directories(folder_);
    ::setenv("TMPDIR", folder_.c_str(), 1);
  }
  ~RankRunTest() override {
    ::unsetenv("TMPDIR");
    fs::remove_all(folder_);
  }

  std::string ErrorOf(const std::string& script, int time_limit_s = 0) {
    RankProgram program;
    program.command = {"sh", "-c", script};
    program.time_limit_s = time_limit_s;
    const Result<ProcessLog> log = RunRank(environment_, topology_, program, 0);
    return log.ok() ? "" : log.error().ToString();
  }
  bool LeavesNothing() const { return fs::is_empty(folder_); }

  CaptureEnvironment environment_;
  Topology topology_;
  fs::path folder_;
};

TEST_F(RankRunTest, TellsHowARankEnds) {
  EXPECT_EQ(ErrorOf("exit 3"), "error: rank 0 ended with exit status 3");
  EXPECT_EQ(
      ErrorOf("echo no >&2; kill -SEGV $$"),
      "error: rank 0 was killed by signal 11 (Segmentation fault); the end of its stderr:\nno");
  EXPECT_EQ(ErrorOf("true"), "error: rank 0 never used a GPU");
  EXPECT_TRUE(LeavesNothing());
}

TEST_F(RankRunTest, ACommandThatDoesNotExist) {
  RankProgram program;
  program.command = {"no-such-program"};
  EXPECT_EQ(RunRank(environment_, topology_, program, 0).error().ToString(),
            "error: rank 0 ended with exit status 127; the end of its stderr:\n"
            "cannot start 'no-such-program': No such file or directory");
}

TEST_F(RankRunTest, EndsARankAtItsLimitWithAllThatItStarted) {
  const std::string mark = folder_ / "alive";
  EXPECT_EQ(ErrorOf("trap '' ABRT; (sleep 5; touch " + mark + ") & sleep 60", 1),
            "error: rank 0 had not ended after the time limit of 1 s");
  EXPECT_FALSE(fs::exists(mark));
  EXPECT_TRUE(LeavesNothing());
}

TEST_F(RankRunTest, EndsWhatARankLeavesBehind) {
  const std::string mark = folder_ / "pid";
  EXPECT_EQ(ErrorOf("(setsid sleep 100 & echo $! > " + mark + ")"),
            "error: rank 0 never used a GPU");
  std::ifstream file(mark);
  pid_t left = 0;
  file >> left;
  ASSERT_GT(left, 0);
  EXPECT_EQ(::kill(left, 0), -1);
}

TEST_F(RankRunTest, KnowsItsPlaceAndTheUsersVariables) {
  RankProgram program;
  program.command = {"sh", "-c",
                     "echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $NODE_RANK "
                     "$GROUP_WORLD_SIZE $PYTHONPATH $MINE $SLURM_PROCID >&2; exit 1"};
  program.world = 10;
  program.ranks_per_host = 4;
  program.environment = {{"PATH", std::getenv("PATH")}, {"MINE", "a b"}, {"PYTHONPATH", "/mine"}};
  program.rank_variables = [](int rank) -> Variables {
    return {{"SLURM_PROCID", std::to_string(rank)}};
  };
  environment_.hooks = "/hooks";
  EXPECT_THAT(RunRank(environment_, topology_, program, 9).error().ToString(),
              HasSubstr("\n9 10 1 2 2 3 /hooks:/mine a b 9"));
}

TEST_F(RankRunTest, RunsSomeAtATimeAndStopsAtTheFirstError) {
  RankProgram program;
  program.command = {"sh", "-c", "sleep 0.3; exit $RANK"};
  program.world = 8;
  size_t most = 0;
  {
    RankRunner runner(environment_, topology_, program, 2);
    const Status status = runner.Run(
        {5, 6, 7}, [](const RankEnd& end) -> Status { return Error(end.failure->message()); },
        [&](const std::vector<int>& running) { most = std::max(most, running.size()); });
    EXPECT_THAT(status.error().ToString(), HasSubstr("ended with exit status"));
  }
  EXPECT_EQ(most, 2u);
  EXPECT_TRUE(LeavesNothing());
}

// The tool is killed: its keepers end the ranks and remove their folders.
TEST_F(RankRunTest, NothingIsLeftOfAKilledTool) {
  const std::string mark = folder_ / "pid";
  const pid_t tool = ::fork();
  if (tool == 0) {
    RankProgram program;
    program.command = {"sh", "-c", "echo $$ > " + mark + "; sleep 100"};
    (void)RunRank(environment_, topology_, program, 0).ok();
    ::_exit(0);
  }
  pid_t rank = 0;
  for (int i = 0; i < 500 && rank == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::ifstream(mark) >> rank;
  }
  ASSERT_GT(rank, 0);
  ::kill(tool, SIGKILL);
  ::waitpid(tool, nullptr, 0);
  fs::remove(mark);
  bool gone = false;
  for (int i = 0; i < 500 && !gone; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    gone = ::kill(rank, 0) != 0 && LeavesNothing();
  }
  EXPECT_TRUE(gone);
}

TEST_F(RankRunTest, PlacesRanksOnHosts) {
  const auto places = PlaceRanks(topology_, 10, 4);
  ASSERT_TRUE(places.ok());
  EXPECT_EQ((*places)[9].host, 2);
  EXPECT_EQ((*places)[9].gpu, 17);
  EXPECT_EQ((*places)[9].local, 1);
  EXPECT_EQ((*places)[9].ranks_beside, 2);
  EXPECT_EQ((*places)[9].ranks_per_host, 4);
  EXPECT_EQ(PlaceRanks(topology_, 10, 9).error().message(),
            "9 ranks on a host: host 0 of the cluster has 8 GPUs");
  EXPECT_THAT(PlaceRanks(topology_, 1 << 20, 0).error().message(),
              HasSubstr("1048576 ranks: the cluster has places for "));
}

}  // namespace
}  // namespace drydock::capture
