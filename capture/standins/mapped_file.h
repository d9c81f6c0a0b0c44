// A file as it is in memory, read page by page as it is looked at: libraries of frameworks have a
// gigabyte.
#ifndef DRYDOCK_CAPTURE_STANDINS_MAPPED_FILE_H_
#define DRYDOCK_CAPTURE_STANDINS_MAPPED_FILE_H_

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace drydock::capture {

// Immutable. REQUIRES: nobody shortens the file.
class MappedFile {
 public:
  static Result<MappedFile> Open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::string_view content() const { return {static_cast<const char*>(at_), size_}; }

 private:
  MappedFile(void* at, size_t size) : at_(at), size_(size) {}

  void* at_;  // null: empty
  size_t size_;
};

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_STANDINS_MAPPED_FILE_H_
