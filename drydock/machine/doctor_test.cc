#include "drydock/machine/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/base/files.h"

namespace drydock {
namespace {

using ::testing::ContainsRegex;

const Finding& Of(const std::vector<Finding>& findings, const std::string& what) {
  for (const Finding& finding : findings) {
    if (finding.what == what) return finding;
  }
  static const Finding none = {Finding::Kind::kPresent, "not examined", "", ""};
  return none;
}

TEST(Doctor, TellsWhatIsNeededFromWhatOneCommandNeeds) {
  const std::string folder = testing::TempDir() + "doctor/bin";
  ASSERT_TRUE(MakeDirectories(folder).ok());
  ASSERT_TRUE(WriteFileAtomically(folder + "/simccl", "").ok());
  ASSERT_EQ(::chmod((folder + "/simccl").c_str(), 0755), 0);
  const std::vector<Finding> findings = Examine(folder, folder, folder);
  EXPECT_EQ(Of(findings, "simccl").kind, Finding::Kind::kPresent);
  EXPECT_EQ(Of(findings, "exec-engine").kind, Finding::Kind::kMissing);
  EXPECT_EQ(Of(findings, "gpu-profiler").kind, Finding::Kind::kAbsent);
  EXPECT_EQ(Of(findings, "mpirun").kind, Finding::Kind::kAbsent);
  EXPECT_EQ(Of(findings, "configs").kind, Finding::Kind::kPresent);
  EXPECT_EQ(Of(findings, "runs/").kind, Finding::Kind::kPresent);
  EXPECT_FALSE(IsComplete(findings));
  EXPECT_THAT(ToText(findings), ContainsRegex("\nMISSING +exec-engine +for run, what-if +cmake"));
  EXPECT_THAT(
      ToText(findings),
      ContainsRegex("\nlacks +mpirun +for run --processes +install the package openmpi-bin"));
}

}  // namespace
}  // namespace drydock
