#include <gtest/gtest.h>

#include "capture/launch/testing/launching.h"

namespace drydock::capture {
namespace {

TEST(Torchrun, StartsWhatItsDocumentationSays) {
  const LineCase cases[] = {
      {"torchrun train.py", "1x1 python -u train.py"},
      {"torchrun --nproc-per-node 8 --nnodes 128 pretrain_gpt.py --tensor-model-parallel-size 8",
       "128x8 python -u pretrain_gpt.py --tensor-model-parallel-size 8"},
      {"torchrun --nproc_per_node=4 --nnodes=2 --node_rank=1 --master_addr=10.0.0.1 train.py -m x",
       "2x4 python -u train.py -m x"},
      {"torchrun --standalone --nnodes=1 --nproc-per-node=gpu train.py", "1x8 python -u train.py"},
      {"torchrun --nproc_per_node auto -m torchtitan.train --config x",
       "1x8 python -u -m torchtitan.train --config x"},
      {"torchrun --nnodes 4:4 --rdzv-backend c10d --rdzv-endpoint h:1 --rdzv_id 7 train.py",
       "4x1 python -u train.py"},
      {"torchrun -r 3 -t0:3,1:3 --max_restarts=3 --log-dir /tmp train.py",
       "1x1 python -u train.py"},
      // argparse takes an abbreviation for the option, and -- for the end of options.
      {"torchrun --nproc 2 --nno 3 -- train.py --nproc 9", "3x2 python -u train.py --nproc 9"},
      {"/opt/env/bin/torchrun --nproc-per-node 2 train.py", "1x2 python -u train.py"},
      {"python3.11 -m torch.distributed.run --nproc-per-node 2 train.py",
       "1x2 python3.11 -u train.py"},
      {"/v/bin/python -u -X dev -m torch.distributed.run --nproc-per-node 2 train.py",
       "1x2 /v/bin/python -u train.py"},
      {"python /v/bin/torchrun --nproc-per-node 2 train.py", "1x2 python -u train.py"},
      {"torchrun --nproc-per-node 2 --no-python python3 -O train.py", "1x2 python3 -O train.py"},
      {"python -m torch.distributed.launch --nproc_per_node=8 train.py --lr 1",
       "1x8 python -u train.py --local-rank=0 --lr 1"},
      {"python -m torch.distributed.launch --use_env --nproc_per_node=8 train.py",
       "1x8 python -u train.py"},
  };
  for (const LineCase& test : cases) EXPECT_EQ(TextOf(LaunchOf(test.line)), test.starts);
}

TEST(Torchrun, SaysWhatIsWrong) {
  const LineCase cases[] = {
      {"torchrun --nodes 4 train.py",
       "torchrun: option '--nodes' is not known; did you mean '--nnodes'?"},
      {"torchrun --n 4 train.py",
       "torchrun: option '--n' may be --nnodes or --nproc-per-node or --no-python or --node-rank "
       "or "
       "--numa-binding; write one of them"},
      {"torchrun --nnodes 1:4 train.py",
       "torchrun: --nnodes 1:4 leaves the number of hosts open; write the number that trains: 1 or "
       "4"},
      {"torchrun --nnodes two train.py", "torchrun: --nnodes needs a number from 1, not 'two'"},
      {"torchrun --nproc-per-node cpu train.py",
       "torchrun: --nproc-per-node cpu starts a rank for each core; write a number, or gpu"},
      {"torchrun --nnodes= train.py",
       "torchrun: --nnodes has no value: a variable of the script is empty here; set it before the "
       "command: NAME=VALUE drydock capture ..."},
      {"torchrun --nnodes --node_rank 0 train.py",
       "torchrun: option '--nnodes' has no value: '--node_rank' follows it; a variable of the "
       "script "
       "is empty here; set it before the command: NAME=VALUE drydock capture ..."},
      {"torchrun --master_port train.py --lr 3",
       "torchrun: option '--lr' is not known; '--master-port' takes 'train.py' for its value: a "
       "variable of the script is empty here; set it before the command: NAME=VALUE drydock "
       "capture "
       "..."},
      {"torchrun --nproc-per-node 8", "torchrun: it names no program to start"},
      {"torchrun --help", "torchrun: --help starts no program"},
      {"torchrun --nnodes 100000 --nproc-per-node 100000 train.py",
       "torchrun: --nproc-per-node is at most 128, not 100000"},
      {"torchrun --standalone=1 train.py",
       "torchrun: option '--standalone' takes no value, not '1'"},
      {"torchrun --no-python ./bind.sh python train.py",
       "torchrun: --no-python starts './bind.sh' for each rank, which is not Python; write the "
       "command of Python that it starts, behind the launcher"},
  };
  for (const LineCase& test : cases) EXPECT_EQ(TextOf(LaunchOf(test.line)), test.starts);
}

TEST(Torchrun, ReadsItsVariables) {
  const Variables environment = {
      {"PET_NNODES", "16"}, {"PET_NPROC_PER_NODE", "4"}, {"PYTHON_EXEC", "/p"}};
  EXPECT_EQ(TextOf(LaunchOf("torchrun train.py", environment)), "16x4 /p -u train.py");
  EXPECT_EQ(TextOf(LaunchOf("torchrun --nnodes 2 train.py", environment)), "2x4 /p -u train.py");
}

TEST(Torchrun, TellsRanksApart) {
  const Launch launch =
      *LaunchOf("python -m torch.distributed.launch --nproc_per_node 4 --nnodes 2 a.py");
  EXPECT_EQ(Quoted(CommandOf(launch, 6)), "python -u a.py --local-rank=2");
  EXPECT_EQ(ValueOf(launch.environment, "OMP_NUM_THREADS"), "1");
  const Launch one = *LaunchOf("torchrun a.py");
  EXPECT_FALSE(Has(one.environment, "OMP_NUM_THREADS"));
}

TEST(Torchrun, InAJobStepStartsOnceOnEachHost) {
  const std::string line = "torchrun --nnodes 4 --nproc-per-node 8 train.py";
  EXPECT_EQ(TextOf(LaunchOf(line, {}, JobStep{"srun", 4, 1, 0, 1})), "4x8 python -u train.py");
  EXPECT_EQ(TextOf(LaunchOf(line, {}, JobStep{"srun", 1, 1, 0, 1})), "4x8 python -u train.py");
  EXPECT_EQ(
      TextOf(LaunchOf(line, {}, JobStep{"srun", 4, 8, 0, 1})),
      "srun starts torchrun as 32 tasks, and each of them would start the ranks of 4 hosts; "
      "start it once on each host (srun --ntasks-per-node=1), or correct its number of hosts");
}

}  // namespace
}  // namespace drydock::capture
