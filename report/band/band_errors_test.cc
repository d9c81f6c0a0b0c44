#include "report/band/band_errors.h"

#include <gtest/gtest.h>

#include "core/base/files.h"

namespace drydock {
namespace {

TEST(BandErrors, ShippedFileIsRead) {
  const std::string path = "configs/bands.yaml";
  const Result<BandErrors> errors = ParseBandErrors(*ReadFile(path), path);
  ASSERT_TRUE(errors.ok()) << errors.error().ToString();
  EXPECT_EQ(errors->coverage, 0.8);
  EXPECT_LT(errors->kernels[static_cast<size_t>(TimeSource::kProfile)],
            errors->kernels[static_cast<size_t>(TimeSource::kScaled)]);
  EXPECT_GT(errors->experts, errors->dense);
  EXPECT_GT(errors->hybrid, errors->dense);
}

TEST(BandErrors, MistakesAreLocated) {
  const std::string text = R"(bands:
  coverage: 1.2
  kernels: {profile: 0.02, model: 0.06, scaled: 15, given: 0, source: a}
  communication: {inside_hosts: 0.05, between_hosts: 0.1, source: a}
  host: {launches: 0.15, memory: 0.15, source: a}
  whole_runs: {dense: 0.05, experts: 0.1, hybrid: 0.2, source: a}
)";
  EXPECT_EQ(ParseBandErrors(text, "b.yaml").error().ToString(),
            R"(b.yaml:2:13: error: expected a share of the runs, above 0 and below 1
    coverage: 1.2
              ^
b.yaml:3:49: error: expected a share of the time, from 0 to 1
    kernels: {profile: 0.02, model: 0.06, scaled: 15, given: 0, source: a}
                                                  ^
b.yaml:2:3: error: 'bands' lacks the key 'whole_run'
    coverage: 1.2
    ^
b.yaml:6:3: error: unknown key 'whole_runs' in 'bands'; did you mean 'whole_run'?; valid keys are coverage, kernels, communication, host, whole_run
    whole_runs: {dense: 0.05, experts: 0.1, hybrid: 0.2, source: a}
    ^)");
}

}  // namespace
}  // namespace drydock
