#include "capture/environment/folder_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/process.h"

namespace drydock::capture {
namespace {

TEST(FolderLock, WaitsForTheProcessThatHasIt) {
  const std::string folder = testing::TempDir() + "locked";
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t other = ::fork();
  if (other == 0) {
    const Result<FolderLock> lock = FolderLock::Take(folder, {});
    (void)!::write(ends[1], "x", 1);
    ::usleep(100'000);
    ::_exit(lock.ok() ? 0 : 1);
  }
  char taken = 0;
  ASSERT_EQ(::read(ends[0], &taken, 1), 1);
  std::string told;
  const Result<FolderLock> lock =
      FolderLock::Take(folder, [&](const std::string& line) { told += line; });
  EXPECT_TRUE(lock.ok());
  EXPECT_EQ(told, "another process makes " + folder + "; waits for its end");
  EXPECT_EQ(WaitForEnd(other), 0);
}

TEST(FolderLock, NamesTheFileThatCannotBeMade) {
  EXPECT_EQ(FolderLock::Take("/no/such/folder", {}).error().ToString(),
            "/no/such/folder.lock: error: cannot be made: No such file or directory");
}

}  // namespace
}  // namespace drydock::capture
