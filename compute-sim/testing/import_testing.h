// Files of other tools for tests, and the rows that they become.
#ifndef DRYDOCK_COMPUTE_SIM_TESTING_IMPORT_TESTING_H_
#define DRYDOCK_COMPUTE_SIM_TESTING_IMPORT_TESTING_H_

#include <gtest/gtest.h>

#include <string>

#include "compute-sim/import/import.h"
#include "core/base/files.h"
#include "core/testing/unit_testing.h"

namespace drydock {

class ImportTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = dir_.path() + "/" + name;
    EXPECT_TRUE(WriteFileAtomically(path, text).ok());
    return path;
  }
  // "gemm 8x16x32 bf16 1500", one line for each row.
  static std::string Rows(const ImportedTimes& times) {
    std::string text;
    for (const ImportedTimes::Row& row : times.rows) {
      text += InfoOf(row.kernel.kind).name + " " + ShapeString(row.kernel) + " " +
              std::to_string(static_cast<int64_t>(row.us * 1000 + 0.5)) + "\n";
    }
    return text;
  }
  static std::string ErrorOf(const Result<ImportedTimes>& result) {
    return result.ok() ? "no error" : result.error().message();
  }

  drydock::testing::TemporaryDirectory dir_;
};

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_TESTING_IMPORT_TESTING_H_
