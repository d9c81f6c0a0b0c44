#include "capture/standins/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace drydock::capture {

Result<MappedFile> MappedFile::Open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat facts;
  void* at = nullptr;
  const bool is_known = file >= 0 && ::fstat(file, &facts) == 0;
  if (is_known && facts.st_size > 0) {
    at = ::mmap(nullptr, static_cast<size_t>(facts.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  }
  const int error = errno;
  if (file >= 0) ::close(file);
  if (!is_known || at == MAP_FAILED) {
    return Error(std::string("cannot be read: ") + strerror(error), {path, 0, 0});
  }
  return MappedFile(at, static_cast<size_t>(facts.st_size));
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : at_(std::exchange(other.at_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile::~MappedFile() {
  if (at_ != nullptr) ::munmap(at_, size_);
}

}  // namespace drydock::capture
