#include "capture/intercept/find_launch.h"

#include <gtest/gtest.h>

#include "capture/intercept/host_answers.h"
#include "capture/intercept/wrappers.h"
#include "capture/launch/testing/launching.h"

namespace drydock::capture {
namespace {

Launch Of(const std::string& line, int hosts, int per_host) {
  Launch launch;
  launch.command = Split(line);
  launch.hosts = hosts;
  launch.ranks_per_host = per_host;
  return launch;
}

// The command of rank 5 by what ranks 0 and `rank` start; or the error.
std::string Merged(const std::string& first, const std::string& other, int rank, int hosts,
                   int per_host) {
  Launch launch = Of(first, hosts, per_host);
  std::vector<std::string> notes;
  const Status merged = MergeRanks(Of(other, hosts, per_host), rank, &launch, &notes);
  return merged.ok() ? Quoted(CommandOf(launch, 5)) : merged.error().message();
}

TEST(MergeRanks, FindsTheNumbersOfARank) {
  EXPECT_EQ(Merged("p a.py", "p a.py", 31, 4, 8), "p a.py");
  EXPECT_EQ(Merged("p a.py --rank 0 --local=0 -n0", "p a.py --rank 31 --local=7 -n3", 31, 4, 8),
            "p a.py --rank 5 --local=5 -n0");
  EXPECT_EQ(Merged("p out0.log", "p out10.log", 10, 2, 8), "p out5.log");
  EXPECT_EQ(Merged("p --node 0 --local 0", "p --node 3 --local 3", 15, 4, 4),
            "p --node 1 --local 1");
  EXPECT_EQ(
      Merged("p --seed 7", "p --seed 9", 31, 4, 8),
      "rank 0 starts its program with '7' and rank 31 with '9'; a capture needs words that are "
      "the same, or numbers of the rank");
  EXPECT_EQ(Merged("p a", "p a b", 31, 4, 8),
            "rank 0 starts 'p a' and rank 31 'p a b'; a capture needs one command for all ranks");
}

TEST(MergeRanks, FindsTheVariablesOfARank) {
  Launch launch = Of("p", 4, 8);
  launch.environment = {{"MY_LOCAL", "0"}, {"SEED", "3"}, {"SAME", "x"}, {"RANK", "0"}};
  Launch other = Of("p", 4, 8);
  other.environment = {{"MY_LOCAL", "7"}, {"SEED", "4"}, {"SAME", "x"}, {"RANK", "31"}};
  std::vector<std::string> notes;
  ASSERT_TRUE(MergeRanks(other, 31, &launch, &notes).ok());
  EXPECT_EQ(ValueOf(EnvironmentOf(launch, 12), "MY_LOCAL"), "4");
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0],
            "SEED is '3' for rank 0 and '4' for rank 31; the capture gives all ranks the first");
}

TEST(CheckFits, NamesBothNumbers) {
  const ClusterSize cluster = {8, 8, "GPU", "", 0};
  Launch launch = Of("p", 128, 8);
  launch.launcher = "torchrun";
  EXPECT_EQ(
      CheckFits(launch, cluster, "c.topo").error().ToString(),
      "c.topo: error: torchrun starts 1024 ranks on 128 hosts, but the cluster has 8 hosts with "
      "64 GPUs; --set cluster.hosts=128 makes it larger");
  EXPECT_EQ(CheckFits(Of("p", 1, 16), cluster, "c.topo").error().ToString(),
            "c.topo: error: the program starts 16 ranks on a host, which has 8 GPUs");
  EXPECT_TRUE(CheckFits(Of("p", 8, 4), cluster, "c.topo").ok());
}

TEST(Wrappers, SurroundACommand) {
  const LineCase cases[] = {
      {"numactl -N 0 --membind=0 torchrun x", "torchrun x"},
      {"nsys profile -t cuda,nvtx -o out --force-overwrite true -x true python a.py",
       "python a.py"},
      {"uv run --with torch --frozen torchrun x", "torchrun x"},
      {"uv run train.py --lr 1", "python train.py --lr 1"},
      {"uv run -m pkg.train", "python -m pkg.train"},
      {"conda run -n env --no-capture-output python a.py", "python a.py"},
      {"apptainer exec --nv -B /a:/b image.sif torchrun x", "torchrun x"},
      {"shifter --image=a:b python a.py", "python a.py"},
      {"poetry run torchrun x", "torchrun x"},
      {"uv pip install x", ""},
      {"nsys stats x", ""},
  };
  for (const LineCase& test : cases) {
    const auto inside = CommandInside(Split(test.line));
    ASSERT_TRUE(inside.ok()) << inside.error().message();
    EXPECT_EQ(Quoted(inside->value()), test.starts) << test.line;
  }
  EXPECT_FALSE(CommandInside({"torchrun"})->has_value());
  EXPECT_EQ(CommandInside(Split("numactl --membnd 0 x")).error().message(),
            "numactl: option '--membnd' is not known; did you mean '--membind'?");
}

TEST(HostAnswers, AreThoseOfTheCluster) {
  const ClusterSize cluster = {4, 2, "NVIDIA H100", "9.0", 81559};
  EXPECT_EQ(*NvidiaSmi(Split("nvidia-smi -L"), cluster),
            "GPU 0: NVIDIA H100 (UUID: GPU-00000000-0000-0000-0000-000000000000)\n"
            "GPU 1: NVIDIA H100 (UUID: GPU-00000000-0000-0000-0000-000000000001)\n");
  EXPECT_EQ(
      *NvidiaSmi(Split("nvidia-smi --query-gpu=name,memory.total --format=csv,noheader"), cluster),
      "NVIDIA H100, 81559 MiB\nNVIDIA H100, 81559 MiB\n");
  EXPECT_EQ(*NvidiaSmi(Split("nvidia-smi --query-gpu compute_cap --format csv -i 1"), cluster),
            "compute_cap\n9.0\n");
  EXPECT_FALSE(NvidiaSmi(Split("nvidia-smi --query-gpu=temperature.gpu"), cluster).ok());
  const Variables job = {{"SLURM_JOB_NODELIST", "node0,node1"}};
  EXPECT_EQ(*Scontrol(Split("scontrol show hostnames"), job), "node0\nnode1\n");
  EXPECT_EQ(*Scontrol(Split("scontrol show hostnames a[1-2]"), {}), "a1\na2\n");
  EXPECT_FALSE(Scontrol(Split("scontrol show hostnames"), {}).ok());
  EXPECT_FALSE(Scontrol(Split("scontrol update x"), job).ok());
}

}  // namespace
}  // namespace drydock::capture
