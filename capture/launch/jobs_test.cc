#include "capture/launch/jobs.h"

#include <gtest/gtest.h>

#include "capture/launch/testing/launching.h"
#include "core/base/spelling.h"

namespace drydock::capture {
namespace {

TEST(Sbatch, ReadsTheOptionsOfAScript) {
  EXPECT_EQ(
      Join(JobOptionsOfScript("#!/bin/bash\n#SBATCH -N 4  # hosts\n\n#SBATCH --job-name=\"a b\"\n"
                              "# more\nexport X=1\n#SBATCH -N 9\n"),
           "|"),
      "-N|4|--job-name=a b");
  EXPECT_EQ(*ScriptOfSbatch(Split("sbatch -N 2 --parsable job.sh 1 2")), 4U);
  EXPECT_EQ(
      ReadJob(Split("--node=4"), {}).error().message(),
      "sbatch: option '--node' may be --nodes or --nodelist or --nodefile; write one of them");
}

TEST(Sbatch, NamesTheLineThatIsWrong) {
  const std::string script = "#!/bin/bash\n#SBATCH -N 2 -D /data\n#SBATCH -N 4\n";
  const Result<Job> job = ReadJobOfScript("job.sh", script, {"-n", "16"}, {});
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->folder, "/data");
  EXPECT_EQ(ValueOf(job->variables, "SLURM_NNODES"), "4");
  EXPECT_EQ(ValueOf(job->variables, "SLURM_NTASKS"), "16");
  EXPECT_EQ(
      ReadJobOfScript("job.sh", script + "#SBATCH -N 2-4\n", {}, {}).error().ToString(),
      "job.sh:4: error: sbatch: --nodes 2-4 leaves the number of hosts open; write the number "
      "that trains");
}

TEST(OtherJobLine, IsThatOfAnotherSystem) {
  EXPECT_EQ(OtherJobLine("#!/bin/sh\n\n#PBS -l select=2\n"), "3: #PBS -l select=2");
  EXPECT_EQ(OtherJobLine("#$ -cwd\n"), "1: #$ -cwd");
  EXPECT_EQ(OtherJobLine("#SBATCH -N 2\n# PBS\n#$HOME\n"), "");
}

}  // namespace
}  // namespace drydock::capture
