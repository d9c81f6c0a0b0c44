// What unit tests share: a folder that goes away with the test, errors as text.
#ifndef DRYDOCK_CORE_BASE_TESTING_H_
#define DRYDOCK_CORE_BASE_TESTING_H_

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

}  // namespace drydock::testing

#endif  // DRYDOCK_CORE_BASE_TESTING_H_
