#include "capture/command/setup.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/files.h"
#include "core/base/process.h"

namespace drydock::capture {
namespace {

namespace fs = std::filesystem;

// A list of wheels and a script in place of fetch.py, which makes a folder with one module, and
// notes that it has run.
class SetUpTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    ASSERT_TRUE(MakeDirectories(root_ + "/wheels").ok());
    Put("/wheels/wheels.txt", "# a list\nthing==1.0\n");
    Put("/wheels/fetch.py",
        "import pathlib, sys\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "folder.mkdir()\n"
        "(folder / 'thing.py').write_text('')\n"
        "pathlib.Path('" +
            root_ + "/ran').touch()\n");
    parts_.wheels = root_ + "/wheels";
  }
  ~SetUpTest() override { fs::remove_all(root_); }

  void Put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomically(root_ + name, text).ok());
  }
  Result<std::string> Make() {
    told_.clear();
    return capture::SetUp(parts_, root_ + "/cache", /*quiet=*/true,
                          [this](const std::string& line) { told_ += line + "\n"; });
  }

  const std::string root_ = testing::TempDir() + "setup_test";
  Parts parts_;
  std::string told_;
};

TEST_F(SetUpTest, MakesAnEnvironmentThatNamesItsOwnFolder) {
  EXPECT_EQ(SetUpPython(root_ + "/cache"), "");
  const Result<std::string> python = Make();
  ASSERT_TRUE(python.ok()) << python.error().ToString();
  EXPECT_EQ(*python, root_ + "/cache/python/bin/python");
  EXPECT_EQ(SetUpPython(root_ + "/cache"), *python);
  EXPECT_TRUE(RunCommand({*python, "-c", "import thing"}).ok());
  EXPECT_NE(ReadFile(root_ + "/cache/python/bin/activate")->find(root_ + "/cache/python"),
            std::string::npos);
  EXPECT_EQ(ReadFile(root_ + "/cache/python/bin/activate")->find(".tmp"), std::string::npos);
}

TEST_F(SetUpTest, KeepsAnEnvironmentThatIsThere) {
  ASSERT_TRUE(Make().ok());
  fs::remove(root_ + "/ran");
  Put("/cache/python/mine", "");
  Put("/wheels/wheels.txt", "# another comment\nthing==1.0\n");
  ASSERT_TRUE(Make().ok());
  EXPECT_EQ(told_, "");
  Put("/wheels/wheels.txt", "thing==2.0\n");
  ASSERT_TRUE(Make().ok());
  EXPECT_EQ(told_, root_ +
                       "/cache/python was made by another version of Drydock, with other "
                       "packages, and stays as it is; --cache DIR makes another one\n");
  EXPECT_TRUE(FileExists(root_ + "/cache/python/mine"));
  EXPECT_FALSE(FileExists(root_ + "/ran"));
  fs::remove(root_ + "/cache/python/bin/python");
  EXPECT_EQ(Make().error().ToString(),
            root_ +
                "/cache/python: error: this environment has no Python any more; remove the "
                "folder, and run --setup again");
}

TEST_F(SetUpTest, LeavesNothingHalfMade) {
  Put("/wheels/fetch.py", "raise SystemExit(77)\n");
  EXPECT_EQ(Make().error().ToString(),
            "error: the environment was not made; what has been fetched is kept for the next "
            "--setup");
  EXPECT_FALSE(FileExists(root_ + "/cache/python"));
}

}  // namespace
}  // namespace drydock::capture
