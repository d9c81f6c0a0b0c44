#include "capture/intercept/shell_command.h"

#include <gtest/gtest.h>

#include "capture/launch/testing/launching.h"
#include "core/base/files.h"

namespace drydock::capture {
namespace {

// The script of a command line; or the error.
std::string ScriptOf(const std::string& line) {
  const Result<ShellCommand> command = ReadShellCommand(Split(line));
  return command.ok() ? command->script : command.error().ToString();
}

TEST(ShellCommand, FindsTheScriptBehindOptions) {
  const std::string job = testing::TempDir() + "job.sh";
  ASSERT_TRUE(WriteFileAtomically(job, "#!/bin/sh\n").ok());
  for (const char* shell : {"bash ", "sh ", "bash -e ", "bash -x -e ", "bash -eo pipefail ",
                            "bash -o pipefail -- ", "bash --norc +x ", "/bin/bash --rcfile x "}) {
    EXPECT_EQ(ScriptOf(shell + job + " 8 -c"), job) << shell;
  }
  for (const char* line : {"bash -c x", "bash -ec x", "bash", "bash -s x", "ls x", "srun x"}) {
    EXPECT_EQ(ScriptOf(line), "") << line;
  }
  EXPECT_EQ(ReadShellCommand(Split("/opt/slurm/bin/sbatch x"))->words.front(), "sbatch");
}

TEST(ShellCommand, SaysWhatCannotStart) {
  const std::string job = testing::TempDir() + "plain.sh";
  ASSERT_TRUE(WriteFileAtomically(job, "echo\n").ok());
  EXPECT_EQ(ScriptOf(job),
            job + ": error: this file is no program that can be executed; write: bash " + job);
  EXPECT_EQ(ScriptOf("bash /no/such.sh"), "/no/such.sh: error: there is no such script");
  EXPECT_EQ(ScriptOf("/no/such"), "/no/such: error: there is no such program");
  EXPECT_EQ(ScriptOf("no-such"), "no-such: error: this machine has no such program");
}

}  // namespace
}  // namespace drydock::capture
