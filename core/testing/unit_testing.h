// What unit tests share: a folder that goes away with the test, errors as text, texts with
// one mistake.
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
  // Names of what is in it, hidden files too, sorted.
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

// The diagnostics as the user sees them; "ok" if there are none.
template <typename T>
std::string ErrorText(const Result<T>& result) {
  return result.ok() ? "ok" : result.error().ToString();
}

// Its message and place, without the lines that show the place.
inline std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// `text` with the first `from`, which must be there, replaced.
inline std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  CHECK_NOTE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

}  // namespace drydock::testing

#endif  // DRYDOCK_CORE_TESTING_UNIT_TESTING_H_
