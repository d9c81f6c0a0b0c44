// Reads and writes whole files. A write goes to a temporary file in the same folder, which is
// renamed when it is complete: a reader never sees half a file. The interrupt handler (cli.h) and
// CheckFailed remove the temporary files of a run that ends early. A run that is killed leaves
// them; the next write of the same file removes them. Errors name the file and the system's reason.
// Thread-safe.
#ifndef DRYDOCK_CORE_BASE_FILES_H_
#define DRYDOCK_CORE_BASE_FILES_H_

#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace drydock {

// Reads a regular file of at most 4 GiB. Errors: also a pipe, a device or a folder.
Result<std::string> ReadFile(const std::string& path);
// Follows symbolic links. Writes into a pipe or device in place.
Status WriteFileAtomically(const std::string& path, std::string_view content);

// A directory that appears at `target` as a whole: create files under path(), then call Commit().
// Commit replaces an older directory by the new one in one step and removes the older one. Files of
// the older one that are not `owned` move to the new one: they are the user's. If the file system
// cannot exchange directories, `target` is absent for a moment. The destructor removes a directory
// that is not committed.
class StagedDirectory {
 public:
  // Tells from the name of a file whether Drydock writes it.
  using IsOwned = std::function<bool(std::string_view name)>;

  // Null `is_owned`: all files are owned.
  static Result<StagedDirectory> Create(const std::string& target, IsOwned is_owned = nullptr);
  StagedDirectory(StagedDirectory&& other) noexcept;
  StagedDirectory& operator=(StagedDirectory&&) = delete;
  ~StagedDirectory();

  const std::string& path() const { return path_; }
  Status Write(const std::string& name, std::string_view content);
  Status Commit();

 private:
  StagedDirectory(std::string target, std::string path, IsOwned is_owned)
      : target_(std::move(target)), path_(std::move(path)), is_owned_(std::move(is_owned)) {}
  void KeepFilesOfUser() const;

  std::string target_;
  std::string path_;  // empty once committed or moved from
  IsOwned is_owned_;
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
