#include "core/base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/files.h"

namespace drydock {
namespace {

TEST(Variables, AreReadAndChangedByName) {
  Variables variables = {{"A", "1"}};
  Set(&variables, "B", "2");
  Set(&variables, "A", "3");
  EXPECT_EQ(variables, (Variables{{"A", "3"}, {"B", "2"}}));
  EXPECT_EQ(ValueOf(variables, "C"), "");
  Unset(&variables, "A");
  EXPECT_FALSE(Has(variables, "A"));
  ::setenv("DRYDOCK_PROCESS_TEST", "a=b", 1);
  EXPECT_EQ(ValueOf(OwnEnvironment(), "DRYDOCK_PROCESS_TEST"), "a=b");
}

TEST(FindProgram, LooksForFilesThatCanBeExecuted) {
  const std::string folder = testing::TempDir() + "find_program";
  for (const char* name : {"/first/tool", "/second/tool"}) {
    ASSERT_TRUE(MakeDirectories(DirectoryOf(folder + name)).ok());
    ASSERT_TRUE(WriteFileAtomically(folder + name, "#!/bin/sh\n").ok());
  }
  ASSERT_TRUE(MakeDirectories(folder + "/first/folder").ok());
  ASSERT_EQ(::chmod((folder + "/second/tool").c_str(), 0755), 0);
  const std::string path = folder + "/first:" + folder + "/second";
  EXPECT_EQ(FindProgram("tool", path), folder + "/second/tool");
  EXPECT_EQ(FindProgram("tool", path, folder + "/second"), "");
  EXPECT_EQ(FindProgram("folder", path), "");
  EXPECT_EQ(FindProgram(folder + "/second/tool", ""), folder + "/second/tool");
  EXPECT_EQ(FindProgram(folder + "/first/tool", path), "");
}

TEST(Run, ReturnsWhatAProgramWritesOrItsStatus) {
  EXPECT_EQ(*RunCommand({"sh", "-c", "echo a; echo b >&2"}), "a\nb\n");
  EXPECT_EQ(RunCommand({"sh", "-c", "echo why; exit 2"}).error().message(), "'sh' failed:\nwhy\n");
  EXPECT_EQ(RunCommand({"no-such-program"}).error().message(),
            "cannot start 'no-such-program': No such file or directory");
  EXPECT_EQ(*RunShown({"sh", "-c", "exit 3"}), 3);
  EXPECT_EQ(*RunShown({"sh", "-c", "kill -9 $$"}), 137);
  EXPECT_EQ(RunShown({"no-such-program"}).error().message(),
            "cannot start 'no-such-program': No such file or directory");
}

TEST(RunGroup, PassesAnInterruptOnToTheWholeGroup) {
  EXPECT_EQ(RunGroup({"sh", "-c", "exit 3"})->status, 3);
  EXPECT_FALSE(RunGroup({"sh", "-c", "exit 3"})->interrupted);
  EXPECT_EQ(RunGroup({"no-such-program"}).error().message(),
            "cannot start 'no-such-program': No such file or directory");
  EXPECT_TRUE(RunGroup({"sh", "-c", "echo 'x: error: y' >&2; exit 1"}, true)->said_error);
  EXPECT_FALSE(RunGroup({"sh", "-c", "echo 'no errors' >&2; exit 1"}, true)->said_error);
  // The group's other process holds the pipe open until it ends.
  const std::string fifo = testing::TempDir() + "run_group_fifo";
  ::unlink(fifo.c_str());
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const pid_t self = ::getpid();
  const std::string script = fmt::format("exec 3> {}; sleep 60 & kill -TERM {}; wait", fifo, self);
  const pid_t reader = ::fork();
  if (reader == 0) {
    const int end = ::open(fifo.c_str(), O_RDONLY);
    char byte = 0;
    ::_exit(::read(end, &byte, 1) == 0 ? 0 : 1);
  }
  const Result<GroupEnd> end = RunGroup({"sh", "-c", script});
  ASSERT_TRUE(end.ok());
  EXPECT_TRUE(end->interrupted);
  EXPECT_EQ(WaitForEnd(reader), 0);
}

TEST(Run, TellsASignalFromAnExitStatus) {
  const auto run = [](const std::string& name, const std::string& script) {
    const std::string path = FolderOfExecutable() + "/" + name;
    EXPECT_TRUE(WriteFileAtomically(path, "#!/bin/sh\n" + script).ok());
    EXPECT_EQ(::chmod(path.c_str(), 0755), 0);
    const Status status = RunBeside(name, {"7"});
    ::unlink(path.c_str());
    return status.ok() ? "" : status.error().message();
  };
  EXPECT_EQ(run("process-test-a", "exit $((7 - $1))"), "");
  EXPECT_EQ(run("process-test-b", "exit 130"), "process-test-b ended with exit status 130");
  EXPECT_EQ(run("process-test-c", "kill -9 $$"), "process-test-c was ended by signal 9");
}

}  // namespace
}  // namespace drydock
