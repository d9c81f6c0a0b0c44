#include "core/base/writable.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::TemporaryDirectory;

std::string ErrorText(const Status& status) {
  return status.ok() ? "ok" : status.error().ToString();
}

TEST(WritableTest, AcceptsFoldersThatCanBeCreated) {
  const TemporaryDirectory dir;
  EXPECT_EQ(ErrorText(CheckCanWrite(dir / "f")), "ok");
  EXPECT_EQ(ErrorText(CheckCanWrite(dir / "a/b/f")), "ok");
  EXPECT_EQ(ErrorText(CheckCanWrite("f")), "ok");
  EXPECT_FALSE(FileExists(dir / "a")) << "nothing is left behind";
}

TEST(WritableTest, RefusesAFileInPlaceOfAFolder) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(WriteFileAtomically(dir / "file", "x").ok());
  EXPECT_EQ(ErrorText(CheckCanWrite(dir / "file")), "ok");
  EXPECT_EQ(ErrorText(CheckCanWrite(dir / "file/a/f")),
            dir / "file/a/f" + ": error: cannot write: Not a directory");
}

TEST(WritableTest, RefusesAFolderInPlaceOfAFile) {
  const TemporaryDirectory dir;
  EXPECT_EQ(ErrorText(CheckCanWrite(dir.path())),
            dir.path() + ": error: cannot write: Is a directory");
  EXPECT_EQ(ErrorText(CheckCanWrite(dir / "runs/")),
            dir / "runs/" + ": error: cannot write: Is a directory");
}

TEST(WritableTest, ReadOnlyFolder) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TemporaryDirectory dir;
  ASSERT_EQ(::chmod(dir.path().c_str(), 0555), 0);
  EXPECT_EQ(ErrorText(CheckCanWrite(dir / "a/f")),
            dir / "a/f" + ": error: cannot write: Permission denied");
}

}  // namespace
}  // namespace drydock
