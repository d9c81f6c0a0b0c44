#include <gtest/gtest.h>

#include <filesystem>

#include "capture/launch/testing/launching.h"
#include "core/base/files.h"

namespace drydock::capture {
namespace {

TEST(DeepSpeed, StartsWhatItsDocumentationSays) {
  const LineCase cases[] = {
      {"deepspeed train.py --deepspeed ds.json",
       "1x8 python -u train.py --local_rank=0 --deepspeed ds.json"},
      {"deepspeed --num_gpus 2 train.py", "1x2 python -u train.py --local_rank=0"},
      {"deepspeed --num_nodes=4 --num_gpus=8 --master_addr h train.py",
       "4x8 python -u train.py --local_rank=0"},
      {"deepspeed --no_local_rank --module my.train --x 1", "1x8 python -u -m my.train --x 1"},
      {"deepspeed --include localhost:1,3 train.py", "1x2 python -u train.py --local_rank=0"},
      {"deepspeed --include worker-0:0,1@worker-1:2,3 train.py",
       "2x2 python -u train.py --local_rank=0"},
      {"deepspeed --exclude localhost:7 train.py", "1x7 python -u train.py --local_rank=0"},
      {"deepspeed --hostfile=/dev/null --num_gpus 4 train.py",
       "1x4 python -u train.py --local_rank=0"},
      {"deepspeed --num_nodes 2 --launcher slurm train.py", "2x8 python -u train.py"},
      {"python -m deepspeed.launcher.runner --num_gpus 1 train.py",
       "1x1 python -u train.py --local_rank=0"},
      {"deepspeed --num_gpu 3 train.py", "1x3 python -u train.py --local_rank=0"},
  };
  for (const LineCase& test : cases) EXPECT_EQ(TextOf(LaunchOf(test.line)), test.starts);
}

TEST(DeepSpeed, SaysWhatIsWrong) {
  const LineCase cases[] = {
      {"deepspeed --num-gpus 2 train.py",
       "deepspeed: option '--num-gpus' is not known; did you mean '--num_gpus'?"},
      {"deepspeed --autotuning run train.py",
       "deepspeed: --autotuning starts many programs; leave it out to capture one"},
      {"deepspeed --include localhost:9 train.py",
       "deepspeed: --include: host 'localhost' has no GPU 9"},
      {"deepspeed --include localhost:0 --num_gpus 1 train.py",
       "deepspeed: --include and --exclude cannot be given with --num_nodes or --num_gpus"},
      {"deepspeed --exclude node7 train.py",
       "deepspeed: --exclude names host 'node7', which no hostfile has; its first is 'localhost'"},
      {"deepspeed --include localhost:x train.py",
       "deepspeed: --include 'localhost:x': 'x' is not the number of a GPU"},
      {"deepspeed --num_nodes 2 --launcher pdhs train.py",
       "deepspeed: --launcher pdhs is not known; it is pdsh, slurm, openmpi, mpich, impi or "
       "mvapich"},
      {"deepspeed --hostfile nowhere train.py",
       "deepspeed: /cluster/run/nowhere: error: cannot read: No such file or directory; without the "
       "file, write --num_nodes N --num_gpus N in place of --hostfile"},
  };
  for (const LineCase& test : cases) EXPECT_EQ(TextOf(LaunchOf(test.line)), test.starts);
}

TEST(DeepSpeed, ReadsAFileOfHosts) {
  const std::string file = testing::TempDir() + "/deepspeed_hosts";
  ASSERT_TRUE(
      WriteFileAtomically(file, "# hosts\nworker-0 slots=4\n\nworker-1 slots=4 # b\n").ok());
  EXPECT_EQ(TextOf(LaunchOf("deepspeed --hostfile " + file + " a.py")),
            "2x4 python -u a.py --local_rank=0");
  EXPECT_EQ(TextOf(LaunchOf("deepspeed -H " + file + " --num_nodes 1 a.py")),
            "1x4 python -u a.py --local_rank=0");
  EXPECT_EQ(
      TextOf(LaunchOf("deepspeed -H " + file + " --exclude worker-1:0 a.py")),
      "deepspeed: host 'worker-0' has 4 ranks and host 'worker-1' 3; a capture needs the same "
      "number on each");
  EXPECT_EQ(TextOf(LaunchOf("deepspeed -H " + file + " --num_nodes 3 a.py")),
            "deepspeed: --num_nodes 3, but " + file + " names 2 hosts");
  ASSERT_TRUE(WriteFileAtomically(file, "worker-0 slot=4\n").ok());
  EXPECT_EQ(TextOf(LaunchOf("deepspeed -H " + file + " a.py")),
            "deepspeed: " + file +
                ":1: error: 'slot=4' is neither 'slots=N' nor 'max_slots=N'; "
                "without the file, write --num_nodes N --num_gpus N in place of --hostfile");
  std::filesystem::remove(file);
}

TEST(DeepSpeed, RefusesNumbersThatNoClusterHas) {
  EXPECT_EQ(TextOf(LaunchOf("deepspeed --include localhost:99999999999 a.py")),
            "deepspeed: --include 'localhost:99999999999': '99999999999' is not the number of a "
            "GPU");
  EXPECT_EQ(TextOf(LaunchOf("deepspeed --num_gpus 2000000000 a.py")),
            "deepspeed: --num_gpus is at most 128, not 2000000000");
  EXPECT_EQ(TextOf(LaunchOf("deepspeed --num_nodes 2000000000 a.py")),
            "deepspeed: --num_nodes is at most 131072, not 2000000000");
}

TEST(DeepSpeed, ReadsVariablesForOtherHosts) {
  const std::string home = testing::TempDir() + "/deepspeed_home";
  std::filesystem::create_directories(home);
  ASSERT_TRUE(WriteFileAtomically(home + "/.deepspeed_env", "A=b=c\nD=\n").ok());
  const Variables environment = {{"HOME", home}};
  const Launch two = *LaunchOf("deepspeed --num_nodes 2 a.py", environment);
  EXPECT_EQ(ValueOf(two.environment, "A"), "b=c");
  EXPECT_FALSE(Has(LaunchOf("deepspeed a.py", environment)->environment, "A"));
  ASSERT_TRUE(WriteFileAtomically(home + "/.deepspeed_env", "A=b\nexport\n").ok());
  EXPECT_EQ(LaunchOf("deepspeed --num_nodes 2 a.py", environment).error().ToString(),
            home + "/.deepspeed_env:2: error: deepspeed reads NAME=VALUE here");
  std::filesystem::remove_all(home);
}

TEST(DeepSpeed, TellsRanksApart) {
  const Launch launch = *LaunchOf("deepspeed --num_nodes 2 --num_gpus 4 a.py");
  EXPECT_EQ(Quoted(CommandOf(launch, 5)), "python -u a.py --local_rank=1");
  const Variables variables = EnvironmentOf(launch, 5);
  EXPECT_EQ(ValueOf(variables, "CROSS_RANK"), "1");
  EXPECT_EQ(ValueOf(variables, "CUDA_VISIBLE_DEVICES"), "0,1,2,3");
  EXPECT_EQ(TextOf(LaunchOf("deepspeed a.py", {{"CUDA_VISIBLE_DEVICES", "4,5"}})),
            "1x2 python -u a.py --local_rank=0");
  const Launch slurm = *LaunchOf("deepspeed --num_nodes 2 --launcher SLURM a.py");
  EXPECT_EQ(ValueOf(EnvironmentOf(slurm, 9), "SLURM_PROCID"), "9");
}

}  // namespace
}  // namespace drydock::capture
