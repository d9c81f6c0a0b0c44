// A small run with all artefacts in its own folder, and the errors of reading each.
#ifndef DRYDOCK_CORE_SCHEMA_TESTING_ARTEFACTS_TESTING_H_
#define DRYDOCK_CORE_SCHEMA_TESTING_ARTEFACTS_TESTING_H_

#include <gtest/gtest.h>

#include <string>

#include "core/schema/artefacts/artefacts.h"
#include "core/schema/testing/workload_testing.h"
#include "core/testing/unit_testing.h"

namespace drydock::testing {

class ArtefactsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(WriteToyRun(run()));
    Result<WorkloadFile> file = ReadWorkload(run(), WorkloadParts::kAll);
    ASSERT_TRUE(file.ok()) << file.error().ToString();
    workload_ = *std::move(file);
  }
  std::string run() const { return dir_.path(); }
  std::string At(const std::string& name) const { return dir_ / name; }

  // Returns the error of reading the artefact `name`, or "ok".
  std::string ErrorOf(const std::string& name) const {
    if (name.starts_with("1")) return ErrorText(ReadWorkload(run(), WorkloadParts::kAll));
    if (name == kFlowPlanName) return ErrorText(ReadFlowPlan(run(), workload_));
    if (name == kKernelTimesName) return ErrorText(ReadKernelTimes(run(), workload_));
    if (name == kWhatIfName) return ErrorText(ReadWhatIf(run(), workload_));
    return ErrorText(ReadTimeline(run(), workload_));
  }

  TemporaryDirectory dir_;
  WorkloadFile workload_;
};

}  // namespace drydock::testing

#endif  // DRYDOCK_CORE_SCHEMA_TESTING_ARTEFACTS_TESTING_H_
