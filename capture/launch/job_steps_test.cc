#include "capture/launch/job_steps.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "capture/launch/jobs.h"
#include "capture/launch/testing/launching.h"
#include "core/base/files.h"
#include "core/base/spelling.h"

namespace drydock::capture {
namespace {

// "4x8 python train.py": hosts, tasks of each, the command; or the error.
std::string StepOf(const std::string& line, const Variables& environment = {}) {
  const Result<StepCommand> step =
      ReadStep({Split(line), kTestFolder, environment, std::nullopt, ""}, {1000, 8, "GPU", "", 0});
  if (!step.ok()) return step.error().message();
  return std::to_string(step->step.hosts) + "x" + std::to_string(step->step.tasks_per_host) + " " +
         Quoted(step->command);
}

TEST(Srun, StartsTasks) {
  const LineCase cases[] = {
      {"srun hostname", "1x1 hostname"},
      {"srun -N 4 --ntasks-per-node=8 python train.py -N 9", "4x8 python train.py -N 9"},
      {"srun -N4 -n32 python train.py", "4x8 python train.py"},
      {"srun -n 16 python train.py", "2x8 python train.py"},
      {"srun -n 2 python train.py", "1x2 python train.py"},
      {"srun --nodes=1 --ntasks=1 -w node3 hostname --ip-address", "1x1 hostname --ip-address"},
      {"srun -luN2 --gres=gpu:8 --mpi=pmix --container-image=x.sqsh --no-container-mount-home "
       "bash -c x",
       "2x1 bash -c x"},
      {"srun --nodes 2-2 --exclusive --kill-on-bad-exit=1 --jobid 7 a", "2x1 a"},
      {"srun -w node[1-3,5] a", "4x1 a"},
      {"srun --exclusive python train.py", "1x1 python train.py"},
      {"srun --nodes=1-4 a",
       "srun: --nodes 1-4 leaves the number of hosts open; write the number that trains"},
      {"srun --node-list a", "srun: option '--node-list' is not known; did you mean '--nodelist'?"},
      {"srun -N 3 -n 4 a", "srun: 4 tasks do not divide evenly over 3 hosts"},
      {"srun -n 12 --ntasks-per-node=8 a", "2x6 a"},
      {"srun -n 4 --ntasks-per-node=8 a", "1x4 a"},
      {"srun -N 4 -n 16 --ntasks-per-node=8 a", "4x4 a"},
      {"srun -N 1000000000 a", "srun: --nodes is at most 131072, not 1000000000"},
      {"srun -N 99999999999999999999 a",
       "srun: --nodes is at most 131072, not 99999999999999999999"},
      {"srun -n -4 a", "srun: --ntasks needs a number from 1, not '-4'"},
      {"srun --multi-prog x", "srun: --multi-prog starts several programs; a capture follows one"},
      {"srun -N 2", "srun: it names no command to start"},
  };
  for (const LineCase& test : cases) EXPECT_EQ(StepOf(test.line), test.starts);
}

TEST(Srun, TakesFromItsJobWhatItLeavesOpen) {
  const Variables job =
      ReadJob(Split("--nodes=4 --ntasks-per-node=8 -J name"), {1000, 8, "GPU", "", 0})->variables;
  EXPECT_EQ(StepOf("srun python train.py", job), "4x8 python train.py");
  EXPECT_EQ(StepOf("srun -N 2 python train.py", job), "2x8 python train.py");
  EXPECT_EQ(StepOf("srun -n 1 hostname", job), "1x1 hostname");
  EXPECT_EQ(StepOf("srun -N1 -n1 hostname", job), "1x1 hostname");
  EXPECT_EQ(ValueOf(job, "SLURM_JOB_NODELIST"), "node0,node1,node2,node3");
  EXPECT_EQ(ValueOf(job, "SLURM_NTASKS"), "32");
  const Variables whole_hosts = ReadJob(Split("-N 4 --gpus-per-node=h100:8"), {})->variables;
  EXPECT_EQ(StepOf("srun torchrun x", whole_hosts), "4x1 torchrun x");
  EXPECT_EQ(ValueOf(whole_hosts, "SLURM_GPUS_ON_NODE"), "8");
  EXPECT_FALSE(Has(whole_hosts, "SLURM_NTASKS"));
}

TEST(Srun, StartsNoOtherNumberOfTasksThanItsJobHas) {
  const auto job = [](const char* options) {
    return ReadJob(Split(options), {1000, 8, "GPU", "", 0})->variables;
  };
  EXPECT_EQ(StepOf("srun a", job("--ntasks=12 --ntasks-per-node=8")), "2x6 a");
  EXPECT_EQ(StepOf("srun a", job("--nodes=3 --ntasks=16")),
            "srun: 16 tasks do not divide evenly over 3 hosts");
  EXPECT_EQ(StepOf("srun a", job("--nodes=2 --ntasks=1")), "1x1 a");
}

TEST(Srun, TellsTasksApart) {
  const JobStep step = {"srun", 2, 8, 0, 0};
  const Variables variables = VariablesOfStep(step, 11);
  EXPECT_EQ(ValueOf(variables, "SLURM_PROCID"), "11");
  EXPECT_EQ(ValueOf(variables, "SLURM_LOCALID"), "3");
  EXPECT_EQ(ValueOf(variables, "SLURM_NODEID"), "1");
  EXPECT_EQ(ValueOf(variables, "SLURM_NTASKS"), "16");
  EXPECT_EQ(ValueOf(variables, "SLURM_TASKS_PER_NODE"), "8(x2)");
}

TEST(Mpirun, StartsTasks) {
  const LineCase cases[] = {
      {"mpirun -np 16 python train.py -np 3", "2x8 python train.py -np 3"},
      {"mpirun -np 4 python train.py", "1x4 python train.py"},
      {"mpirun --np 16 --map-by ppr:4:node --bind-to none -x NCCL_DEBUG=INFO -x PATH a", "4x4 a"},
      {"mpirun -n 8 -npernode 2 --mca btl ^openib --allow-run-as-root a", "4x2 a"},
      {"mpiexec -n 16 -ppn 8 -genv A b -hosts h1,h2 a", "2x8 a"},
      {"mpirun -H h1:4,h2:4 a", "2x4 a"},
      {"mpirun -np 16 -N 8 a", "2x8 a"},
      {"mpirun a", "mpirun: it says neither how many ranks it starts (-np) nor on which hosts"},
      {"mpirun -np 2 a : -np 2 b",
       "mpirun: it starts several programs (':'); a capture follows one"},
      {"mpirun -np 9 a", "mpirun: 9 ranks do not divide evenly over 2 hosts"},
      {"mpirun --pn 9 a", "mpirun: option '--pn' is not known; did you mean '-ppn'?"},
      {"mpirun -np 16 -H h1:4,h2:4 a", "mpirun: 16 ranks need 4 hosts, but it names 2"},
      {"mpirun -np 4 --map-by ppr:1:socket a",
       "mpirun: --map-by ppr:1:socket places ranks inside a host; write ppr:N:node"},
  };
  for (const LineCase& test : cases) EXPECT_EQ(StepOf(test.line), test.starts);
}

TEST(Mpirun, ReadsAFileOfHosts) {
  const std::string file = testing::TempDir() + "/mpi_hosts";
  ASSERT_TRUE(WriteFileAtomically(file, "a slots=4\nb slots=4\n").ok());
  EXPECT_EQ(StepOf("mpirun --hostfile " + file + " x"), "2x4 x");
  EXPECT_EQ(StepOf("mpirun -np 4 -hostfile " + file + " x"), "1x4 x");
  std::filesystem::remove(file);
}

TEST(Mpirun, PassesVariablesOn) {
  const StepCommand step =
      *ReadStep({Split("mpirun -np 2 -x A=b -genv C d a"), kTestFolder, {}, std::nullopt, ""}, {});
  EXPECT_EQ(ValueOf(step.environment, "A"), "b");
  EXPECT_EQ(ValueOf(step.environment, "C"), "d");
  EXPECT_EQ(ValueOf(VariablesOfStep(step.step, 1), "OMPI_COMM_WORLD_RANK"), "1");
}

}  // namespace
}  // namespace drydock::capture
