// Reads and writes whole files. A write goes to a temporary file in the same folder, which is
// renamed when it is complete: a reader never sees half a file. The interrupt handler (cli.h) and
// CheckFailed remove the temporary files of a run that ends early. Errors name the file and the
// system's reason. Thread-safe.
#ifndef DRYDOCK_CORE_BASE_FILES_H_
#define DRYDOCK_CORE_BASE_FILES_H_

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace drydock {

// Reads a file of at most 4 GiB.
Result<std::string> ReadFile(const std::string& path);
// Follows symbolic links. Writes into a pipe or device in place.
Status WriteFileAtomically(const std::string& path, std::string_view content);

// A directory that appears at `target` as a whole: create files under path(), then call Commit().
// Commit replaces an older directory by the new one in one step and removes the older one. If the
// file system cannot exchange directories, `target` is absent for a moment. The destructor removes
// a directory that is not committed.
class StagedDirectory {
 public:
  static Result<StagedDirectory> Create(const std::string& target);
  StagedDirectory(StagedDirectory&& other) noexcept;
  StagedDirectory& operator=(StagedDirectory&&) = delete;
  ~StagedDirectory();

  const std::string& path() const { return path_; }
  Status Write(const std::string& name, std::string_view content);
  Status Commit();

 private:
  StagedDirectory(std::string target, std::string path)
      : target_(std::move(target)), path_(std::move(path)) {}
  std::string target_;
  std::string path_;  // empty once committed or moved from
};

Status MakeDirectories(const std::string& path);
bool FileExists(const std::string& path);
// Both ignore a trailing slash: BaseName("a/b/") is "b", DirectoryOf("a/b/") is "a".
std::string BaseName(const std::string& path);
std::string DirectoryOf(const std::string& path);

// Returns the SHA-256 in lower-case hexadecimal.
std::string Sha256(std::string_view content);
Result<std::string> Sha256OfFile(const std::string& path);

// Removes all files and directories that are not complete. Async-signal-safe.
void RemoveUnfinishedFiles();

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_FILES_H_
