#include "capture/intercept/host_answers.h"

#include <gtest/gtest.h>

#include "capture/launch/testing/launching.h"

namespace drydock::capture {
namespace {

TEST(HostAnswers, AreThoseOfTheCluster) {
  const ClusterSize cluster = {4, 2, "NVIDIA H100", "9.0", 81559, "580.65.06"};
  EXPECT_EQ(*NvidiaSmi(Split("nvidia-smi -L"), cluster),
            "GPU 0: NVIDIA H100 (UUID: GPU-00000000-0000-0000-0000-000000000000)\n"
            "GPU 1: NVIDIA H100 (UUID: GPU-00000000-0000-0000-0000-000000000001)\n");
  EXPECT_EQ(
      *NvidiaSmi(Split("nvidia-smi --query-gpu=name,memory.total --format=csv,noheader"), cluster),
      "NVIDIA H100, 81559 MiB\nNVIDIA H100, 81559 MiB\n");
  EXPECT_EQ(*NvidiaSmi(Split("nvidia-smi --query-gpu compute_cap --format csv -i 1"), cluster),
            "compute_cap\n9.0\n");
  EXPECT_EQ(*NvidiaSmi(Split("nvidia-smi --query-gpu=driver_version --format=csv,noheader -i 0"),
                       cluster),
            "580.65.06\n");
  EXPECT_FALSE(NvidiaSmi(Split("nvidia-smi --query-gpu=temperature.gpu"), cluster).ok());
  const Variables job = {{"SLURM_JOB_NODELIST", "node0,node1"}};
  EXPECT_EQ(*Scontrol(Split("scontrol show hostnames"), job), "node0\nnode1\n");
  EXPECT_EQ(*Scontrol(Split("scontrol show hostnames a[1-2]"), {}), "a1\na2\n");
  EXPECT_FALSE(Scontrol(Split("scontrol show hostnames"), {}).ok());
  EXPECT_FALSE(Scontrol(Split("scontrol update x"), job).ok());
}

}  // namespace
}  // namespace drydock::capture
