// Reading and writing whole files. A write goes to a temporary neighbour and is renamed when it is
// complete, so a reader never sees half a file, and a killed run leaves none: unfinished files are
// registered and removed by the interrupt handler (cli.h) and by CheckFailed.
// Errors name the file and the system's reason. Thread-safe.
#ifndef DRYDOCK_CORE_BASE_FILES_H_
#define DRYDOCK_CORE_BASE_FILES_H_

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace drydock {

// Up to 4 GiB.
Result<std::string> ReadFile(const std::string& path);
// A symbolic link is followed; a pipe or device is written to as it is.
Status WriteFileAtomically(const std::string& path, std::string_view content);

// A directory written as one: create files under path(), then Commit() puts it in the place of
// `target` (an older one is exchanged for it in one step, then removed; where the file system
// cannot exchange, there is a moment with neither). Destroyed uncommitted, it is removed.
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
// A trailing slash does not count: BaseName("a/b/") is "b", DirectoryOf("a/b/") is "a".
std::string BaseName(const std::string& path);
std::string DirectoryOf(const std::string& path);

// Lower-case hexadecimal SHA-256.
std::string Sha256(std::string_view content);
Result<std::string> Sha256OfFile(const std::string& path);

// Removes what is registered as unfinished. Async-signal-safe.
void RemoveUnfinishedFiles();

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_FILES_H_
