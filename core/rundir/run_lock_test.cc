#include "core/rundir/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "core/base/files.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;
using testing::TemporaryDirectory;
using Missing = RunLock::Missing;

Result<RunLock> Take(const std::string& directory) {
  return RunLock::Take(directory, Missing::kLeave);
}

// Unsets the variable at the end of a test.
struct LetIn {
  explicit LetIn(const std::string& identity) {
    ::setenv(kRunLockVariable, identity.c_str(), /*overwrite=*/1);
  }
  ~LetIn() { ::unsetenv(kRunLockVariable); }
};

TEST(RunLockTest, TheSecondIsToldWhoHoldsIt) {
  const TemporaryDirectory dir;
  const Result<RunLock> first = Take(dir.path());
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(first->held());
  EXPECT_EQ(first->warning(), "");
  const std::string error = ErrorText(Take(dir.path()));
  const std::string process = fmt::format("{}: error: process {} (", dir.path(), ::getpid());
  EXPECT_EQ(error.substr(0, process.size()), process);
  EXPECT_NE(error.find("run_lock_test"), std::string::npos) << error;
  EXPECT_NE(error.find(") is writing into this directory; wait for its end, or give another "
                       "directory"),
            std::string::npos)
      << error;
}

TEST(RunLockTest, TheFileGoesWithTheLock) {
  const TemporaryDirectory dir;
  const std::string file = dir / kRunLockName;
  {
    RunLock moved;
    {
      Result<RunLock> lock = Take(dir.path());
      ASSERT_TRUE(lock.ok());
      moved = std::move(*lock);
    }
    EXPECT_TRUE(FileExists(file));
    EXPECT_FALSE(Take(dir.path()).ok());
  }
  EXPECT_FALSE(FileExists(file));
  EXPECT_TRUE(Take(dir.path()).ok());
}

TEST(RunLockTest, AFileOfAKilledHolderIsNoLock) {
  const TemporaryDirectory dir;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<RunLock> lock = Take(dir.path());
    (void)!::write(ready[1], "x", 1);
    ::pause();
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_NE(ErrorText(Take(dir.path())).find(fmt::format("process {} (", child)),
            std::string::npos);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  EXPECT_TRUE(FileExists(dir / kRunLockName));
  const Result<RunLock> lock = Take(dir.path());
  ASSERT_TRUE(lock.ok());
  EXPECT_TRUE(lock->held());
}

TEST(RunLockTest, LetsInTheProcessesThatTheHolderStarts) {
  const TemporaryDirectory dir, other;
  const Result<RunLock> lock = Take(dir.path());
  ASSERT_TRUE(lock.ok());
  lock->LetInChildren();
  const LetIn variable(::getenv(kRunLockVariable));
  {
    const Result<RunLock> stage = Take(dir.path());
    ASSERT_TRUE(stage.ok()) << stage.error().ToString();
    EXPECT_FALSE(stage->held());
  }
  EXPECT_TRUE(FileExists(dir / kRunLockName)) << "the stage must not end the lock of its parent";
  const Result<RunLock> elsewhere = Take(other.path());
  ASSERT_TRUE(elsewhere.ok());
  EXPECT_TRUE(elsewhere->held()) << "the variable is for one directory";
}

TEST(RunLockTest, AnOldVariableLetsNobodyIn) {
  const TemporaryDirectory dir;
  const LetIn variable("1 elsewhere 2");
  const Result<RunLock> lock = Take(dir.path());
  ASSERT_TRUE(lock.ok());
  EXPECT_TRUE(lock->held());
  EXPECT_FALSE(Take(dir.path()).ok());
}

TEST(RunLockTest, AForkedProcessDoesNotEndTheLock) {
  const TemporaryDirectory dir;
  std::optional<Result<RunLock>> lock(Take(dir.path()));
  ASSERT_TRUE(lock->ok());
  const pid_t child = ::fork();
  if (child == 0) {
    RemoveUnfinishedFiles();
    lock.reset();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(FileExists(dir / kRunLockName));
  EXPECT_FALSE(Take(dir.path()).ok());
}

TEST(RunLockTest, RemovesWhatItMadeAndNobodyUsed) {
  const TemporaryDirectory dir;
  const std::string run = dir / "a/b/run/";
  EXPECT_TRUE(RunLock::Take(run, Missing::kMake).ok());
  EXPECT_FALSE(FileExists(dir / "a"));
  {
    const Result<RunLock> lock = RunLock::Take(run, Missing::kMake);
    ASSERT_TRUE(WriteFileAtomically(run + "result", "x").ok());
  }
  EXPECT_TRUE(FileExists(run + "result"));
  ASSERT_TRUE(MakeDirectories(dir / "own").ok());
  EXPECT_TRUE(RunLock::Take(dir / "own", Missing::kMake).ok());
  EXPECT_TRUE(FileExists(dir / "own")) << "it was there before";
}

TEST(RunLockTest, AnInterruptRemovesIt) {
  const TemporaryDirectory dir;
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<RunLock> lock = RunLock::Take(dir / "a/run", Missing::kMake);
    RemoveUnfinishedFiles();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(FileExists(dir / "a"));
}

TEST(RunLockTest, NothingToLock) {
  const TemporaryDirectory dir;
  const Result<RunLock> missing = Take(dir / "none");
  ASSERT_TRUE(missing.ok());
  EXPECT_FALSE(missing->held());
  EXPECT_FALSE(FileExists(dir / "none"));
  ASSERT_TRUE(WriteFileAtomically(dir / "file", "x").ok());
  const Result<RunLock> file = RunLock::Take(dir / "file", Missing::kMake);
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE(file->held());
}

TEST(RunLockTest, ADirectoryThatCannotBeWritten) {
  const TemporaryDirectory dir;
  ASSERT_EQ(::chmod(dir.path().c_str(), 0555), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    const Result<RunLock> lock = Take(dir.path());
    ::_exit(lock.ok() && !lock->held() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ::chmod(dir.path().c_str(), 0755);
}

TEST(RunLockTest, RefusesWhatIsNoFile) {
  const TemporaryDirectory dir;
  const std::string file = dir / kRunLockName;
  const std::string error =
      file + ": error: this is the name of the directory's lock and no regular file; remove it";
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(ErrorText(Take(dir.path())), error);
  ASSERT_EQ(::unlink(file.c_str()), 0);
  ASSERT_EQ(::symlink("elsewhere", file.c_str()), 0);
  EXPECT_EQ(ErrorText(Take(dir.path())), error);
  EXPECT_FALSE(FileExists(dir / "elsewhere"));
}

// What another user has written there is shown, and not obeyed by a terminal.
TEST(RunLockTest, AHolderWithAHostileName) {
  const TemporaryDirectory dir;
  const Result<RunLock> lock = Take(dir.path());
  const int file = ::open((dir / kRunLockName).c_str(), O_WRONLY | O_TRUNC);
  const std::string text = "77 node9 1\nsimccl \x1b[31mx\n";
  ASSERT_EQ(::write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(file);
  EXPECT_EQ(ErrorText(Take(dir.path())),
            dir.path() +
                ": error: process 77 on node9 (simccl ?[31mx) is writing into this directory; wait "
                "for its end, or give another directory");
}

}  // namespace
}  // namespace drydock
