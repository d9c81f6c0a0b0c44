// Makes the test a captured process: two GPUs of 1 GiB, rank 3 of a program.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_TESTING_PRETENDED_H_
#define DRYDOCK_CAPTURE_HACKCUDA_TESTING_PRETENDED_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "capture/log/entry.h"
#include "capture/log/log_text.h"
#include "core/base/files.h"

namespace drydock::hackcuda {

inline constexpr int64_t kTestMemory = int64_t{1} << 30;
inline constexpr int64_t kTestContext = int64_t{64} << 20;

// Sets the process up before it first uses a GPU.
class Pretended : public testing::Environment {
 public:
  static std::string Folder() {
    return testing::TempDir() + "pretended" + std::to_string(::getpid());
  }
  void SetUp() override {
    capture::CapturedProcess facts;
    facts.rank = 3;
    facts.gpus = 2;
    facts.compute_capability = 90;
    facts.sms = 132;
    facts.nvlink = 1;
    facts.memory_bytes = kTestMemory;
    facts.context_bytes = kTestContext;
    snprintf(facts.name, sizeof facts.name, "Test GPU");
    ASSERT_TRUE(MakeDirectories(Folder()).ok());
    ASSERT_TRUE(
        WriteFileAtomically(Folder() + "/process",
                            std::string_view(reinterpret_cast<const char*>(&facts), sizeof facts))
            .ok());
    ::setenv(capture::kCaptureVariable, Folder().c_str(), 1);
  }
  // The log's text so far.
  static std::string Log() {
    const auto log =
        capture::ProcessLog::Read(Folder() + "/" + std::to_string(::getpid()) + ".log");
    return log.ok() ? capture::LogText(*log, {}) : log.error().ToString();
  }
};
inline testing::Environment* const kPretended = testing::AddGlobalTestEnvironment(new Pretended);

}  // namespace drydock::hackcuda

#endif  // DRYDOCK_CAPTURE_HACKCUDA_TESTING_PRETENDED_H_
