// Helpers of unit tests: a folder that the test removes at its end, errors as text, and texts
// with one mistake.
#ifndef DRYDOCK_CORE_TESTING_UNIT_TESTING_H_
#define DRYDOCK_CORE_TESTING_UNIT_TESTING_H_

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "core/base/result.h"

namespace drydock::testing {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "drydock-test-XXXXXX").string();
    CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // Returns the sorted names of its files and folders, hidden ones included.
  std::vector<std::string> List() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::string path_;
};

// Returns the diagnostics as the user sees them; "ok" if there is no error.
template <typename T>
std::string ErrorText(const Result<T>& result) {
  return result.ok() ? "ok" : result.error().ToString();
}

// Returns the place and the message of an error, without the source line and the caret.
inline std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// Replaces the first `from` in `text`. REQUIRES: `text` contains `from`.
inline std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  CHECK_NOTE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

}  // namespace drydock::testing

#endif  // DRYDOCK_CORE_TESTING_UNIT_TESTING_H_
