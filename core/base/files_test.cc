#include "core/base/files.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;
using testing::TemporaryDirectory;
using List = std::vector<std::string>;

TEST(Sha256Test, KnownVectors) {
  EXPECT_EQ(Sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, OfAFile) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(WriteFileAtomically(dir / "f", "abc").ok());
  EXPECT_EQ(*Sha256OfFile(dir / "f"), Sha256("abc"));
  EXPECT_EQ(ErrorText(Sha256OfFile(dir / "g")),
            dir / "g" + ": error: cannot read: No such file or directory");
}

TEST(PathTest, NamesAndFolders) {
  EXPECT_EQ(BaseName("a/b.yaml"), "b.yaml");
  EXPECT_EQ(BaseName("a/b/"), "b");
  EXPECT_EQ(DirectoryOf("a/b.yaml"), "a");
  EXPECT_EQ(DirectoryOf("a/b/"), "a");
  EXPECT_EQ(DirectoryOf("b.yaml"), ".");
  EXPECT_EQ(DirectoryOf("/b"), "/");
  EXPECT_EQ(DirectoryOf("/"), "/");
}

TEST(ReadFileTest, RefusesWhatCannotBeReadWhole) {
  const TemporaryDirectory dir;
  EXPECT_EQ(ErrorText(ReadFile(dir / "none")),
            dir / "none" + ": error: cannot read: No such file or directory");
  EXPECT_EQ(ErrorText(ReadFile(dir.path())), dir.path() + ": error: cannot read: Is a directory");
  const std::string sparse = dir / "sparse";
  ASSERT_TRUE(WriteFileAtomically(sparse, "x").ok());
  if (::truncate(sparse.c_str(), off_t{1} << 40) != 0) GTEST_SKIP() << "no sparse files here";
  EXPECT_EQ(ErrorText(ReadFile(sparse)), sparse + ": error: cannot read: File too large");
}

TEST(WriteFileTest, ReplacesWholeFiles) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(WriteFileAtomically(dir / "f", "a long first version").ok());
  ASSERT_TRUE(WriteFileAtomically(dir / "f", std::string("b\0c", 3)).ok());
  EXPECT_EQ(*ReadFile(dir / "f"), std::string("b\0c", 3));
  EXPECT_EQ(dir.List(), List({"f"}));
}

TEST(WriteFileTest, RemovesWhatAKilledWriterLeft) {
  const TemporaryDirectory dir;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const std::string gone = std::to_string(child), running = std::to_string(::getppid());
  const List others = {"f.tmp-" + running + "-1", "f.tmp-" + gone + "-1.txt", "f.tmp-",
                       "f.tmp-" + gone + "x-1", "g.tmp-" + gone + "-1"};
  for (const std::string& name : others) {
    ASSERT_TRUE(MakeDirectories(dir / name).ok());
  }
  ASSERT_TRUE(MakeDirectories(dir / "f.tmp-" + gone + "-1/inner").ok());
  ASSERT_TRUE(MakeDirectories(dir / "f.tmp-" + gone + "-12").ok());
  ASSERT_TRUE(WriteFileAtomically(dir / "f", "x").ok());
  List expected = others;
  expected.push_back("f");
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(dir.List(), expected);
}

TEST(ReadFileTest, ReadsRegularFilesOnly) {
  const TemporaryDirectory dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(
      ErrorText(ReadFile(dir / "pipe")),
      dir / "pipe" +
          ": error: cannot read: it is a pipe; copy its content to a file and give that file");
  EXPECT_EQ(
      ErrorText(ReadFile("/dev/zero")),
      "/dev/zero: error: cannot read: it is a device; copy its content to a file and give that "
      "file");
}

TEST(WriteFileTest, FailuresChangeNothing) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(MakeDirectories(dir / "folder").ok());
  EXPECT_EQ(ErrorText(WriteFileAtomically(dir / "folder", "x")),
            dir / "folder" + ": error: cannot write: Is a directory");
  EXPECT_EQ(ErrorText(WriteFileAtomically(dir / "none/f", "x")),
            dir / "none/f" + ": error: cannot write: No such file or directory");
  EXPECT_EQ(ErrorText(WriteFileAtomically(dir / std::string(300, 'n'), "x")),
            dir / std::string(300, 'n') + ": error: cannot write: File name too long");
  EXPECT_EQ(dir.List(), List({"folder"}));
}

TEST(WriteFileTest, ReadOnlyFolder) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TemporaryDirectory dir;
  ASSERT_EQ(::chmod(dir.path().c_str(), 0555), 0);
  EXPECT_EQ(ErrorText(WriteFileAtomically(dir / "f", "x")),
            dir / "f" + ": error: cannot write: Permission denied");
}

TEST(WriteFileTest, DevicesAreWrittenToAndNotReplaced) {
  EXPECT_EQ(ErrorText(WriteFileAtomically("/dev/null", "x")), "ok");
  EXPECT_EQ(ErrorText(WriteFileAtomically("/dev/full", "x")),
            "/dev/full: error: cannot write: No space left on device");
  struct stat info = {};
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

TEST(WriteFileTest, LinksAreFollowed) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(WriteFileAtomically(dir / "real", "old").ok());
  ASSERT_EQ(::symlink("real", (dir / "link").c_str()), 0);
  ASSERT_TRUE(WriteFileAtomically(dir / "link", "new").ok());
  EXPECT_EQ(*ReadFile(dir / "real"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "link"));
}

TEST(WriteFileTest, ConcurrentWritesLeaveOneWholeFile) {
  const TemporaryDirectory dir;
  std::vector<std::thread> threads;
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    threads.emplace_back([&dir, letter] {
      for (int i = 0; i < 50; ++i) {
        EXPECT_TRUE(WriteFileAtomically(dir / "f", std::string(100000, letter)).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string content = *ReadFile(dir / "f");
  EXPECT_EQ(content, std::string(100000, content[0]));
  EXPECT_EQ(dir.List(), List({"f"}));
}

// A file system of 64 KiB, if this process may mount one.
class SmallDisk {
 public:
  SmallDisk() { mounted_ = ::mount("tmpfs", dir_.path().c_str(), "tmpfs", 0, "size=64k") == 0; }
  ~SmallDisk() {
    if (mounted_) ::umount2(dir_.path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  const TemporaryDirectory& dir() const { return dir_; }

 private:
  TemporaryDirectory dir_;
  bool mounted_ = false;
};

TEST(FullDiskTest, WritesAWholeFileOrNone) {
  const SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "may not mount a small disk";
  const std::string path = disk.dir() / "f";
  ASSERT_TRUE(WriteFileAtomically(path, "old").ok());
  EXPECT_EQ(ErrorText(WriteFileAtomically(path, std::string(1 << 20, 'x'))),
            path + ": error: cannot write: No space left on device");
  EXPECT_EQ(*ReadFile(path), "old");
  EXPECT_EQ(disk.dir().List(), List({"f"}));
}

TEST(FullDiskTest, WritesAWholeFolderOrNone) {
  const SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "may not mount a small disk";
  const std::string target = disk.dir() / "out";
  {
    Result<StagedDirectory> staged = StagedDirectory::Create(target);
    ASSERT_TRUE(staged.ok());
    EXPECT_TRUE(staged->Write("a", "small").ok());
    EXPECT_EQ(ErrorText(staged->Write("b", std::string(1 << 20, 'x'))),
              target + "/b: error: cannot write: No space left on device");
  }
  EXPECT_EQ(disk.dir().List(), List());
}

// The same without a mount, by a limit on the size of files.
TEST(FullDiskTest, RemovesAFileAboveTheSizeLimit) {
  const TemporaryDirectory dir;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string text = ErrorText(WriteFileAtomically(dir / "f", std::string(1 << 20, 'x')));
    ::_exit(text == dir / "f" + ": error: cannot write: File too large" ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(dir.List(), List());
}

TEST(StagedDirectoryTest, ReplacesAnOlderDirectoryAsAWhole) {
  const TemporaryDirectory dir;
  for (const char* version : {"one", "two", "three"}) {
    Result<StagedDirectory> staged = StagedDirectory::Create(dir / "out");
    ASSERT_TRUE(staged.ok());
    ASSERT_TRUE(staged->Write(version, version).ok());
    ASSERT_EQ(ErrorText(staged->Commit()), "ok");
    EXPECT_EQ(*ReadFile(dir / "out/" + version), version);
    EXPECT_EQ(dir.List(), List({"out"}));
  }
  EXPECT_FALSE(FileExists(dir / "out/one"));
}

TEST(StagedDirectoryTest, FilesOfTheUserStay) {
  const TemporaryDirectory dir;
  for (const char* version : {"own-1", "own-2"}) {
    Result<StagedDirectory> staged = StagedDirectory::Create(
        dir / "out", [](std::string_view name) { return name.starts_with("own-"); });
    ASSERT_TRUE(staged.ok());
    ASSERT_TRUE(staged->Write(version, version).ok());
    ASSERT_EQ(ErrorText(staged->Commit()), "ok");
    ASSERT_TRUE(WriteFileAtomically(dir / "out/notes", "mine").ok());
  }
  EXPECT_EQ(*ReadFile(dir / "out/notes"), "mine");
  EXPECT_FALSE(FileExists(dir / "out/own-1"));
  EXPECT_EQ(dir.List(), List({"out"}));
}

TEST(StagedDirectoryTest, IsRemovedIfNotCommitted) {
  const TemporaryDirectory dir;
  {
    Result<StagedDirectory> staged = StagedDirectory::Create(dir / "out");
    ASSERT_TRUE(staged.ok());
    ASSERT_TRUE(staged->Write("a", "x").ok());
    EXPECT_EQ(dir.List().size(), 1u);
    const StagedDirectory moved = *std::move(staged);
    EXPECT_EQ(dir.List().size(), 1u) << "a move removes nothing";
  }
  EXPECT_EQ(dir.List(), List());
}

TEST(StagedDirectoryTest, Failures) {
  const TemporaryDirectory dir;
  EXPECT_EQ(ErrorText(StagedDirectory::Create(dir / "none/out")),
            dir / "none/out" + ": error: cannot create: No such file or directory");
  ASSERT_TRUE(WriteFileAtomically(dir / "out", "another file").ok());
  {
    Result<StagedDirectory> staged = StagedDirectory::Create(dir / "out");
    ASSERT_TRUE(staged.ok());
    EXPECT_EQ(ErrorText(staged->Commit()), dir / "out" + ": error: cannot write: Not a directory");
  }
  EXPECT_EQ(*ReadFile(dir / "out"), "another file");
  EXPECT_EQ(dir.List(), List({"out"}));
  EXPECT_EQ(ErrorText(MakeDirectories(dir / "out/sub")),
            dir / "out/sub" + ": error: cannot create: Not a directory");
}

}  // namespace
}  // namespace drydock
