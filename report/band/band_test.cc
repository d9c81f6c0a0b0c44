#include "report/band/band.h"

#include <gtest/gtest.h>

#include <cmath>

#include "report/testing/run_testing.h"

namespace drydock {
namespace {

BandErrors Errors() {
  BandErrors errors;
  errors.coverage = 0.8;
  errors.dense = 0.03;
  errors.experts = 0.1;
  errors.hybrid = 0.2;
  return errors;
}

TEST(Band, ErrorsOfModelsAddAsIndependent) {
  // Of 1 s, products decide half and are off by 8 %; 3 % and 4 % together are 5 %.
  const Band band =
      BandOf(FakeRun(), Time::FromSeconds(1), {{"gemm (model)", 0.5, 0.08}}, Errors());
  EXPECT_NEAR(SigmaOf(band), 0.05 * std::sqrt(M_PI / 2), 1e-12);
  // A standard normal variable lies within 1.2816 in 80 % of all cases.
  EXPECT_NEAR(band.high.seconds(), std::exp(1.281552 * 0.05 * std::sqrt(M_PI / 2)), 1e-6);
  EXPECT_NEAR(band.low.seconds() * band.high.seconds(), 1, 1e-9);
}

TEST(Band, TheKindOfModelDecidesTheErrorOfTheWholeRun) {
  Inputs inputs = FakeRun();
  EXPECT_EQ(BandOf(inputs, Time::Us(600), {}, Errors()).whole_run, 0.03);
  Submodule grouped = inputs.workload.submodules.front();
  grouped.work = submodule::GroupedLinear();
  inputs.workload.submodules.push_back(grouped);
  EXPECT_EQ(BandOf(inputs, Time::Us(600), {}, Errors()).whole_run, 0.1);
  Submodule scan = inputs.workload.submodules.front();
  scan.work = submodule::StateSpace();
  inputs.workload.submodules.push_back(scan);
  EXPECT_EQ(BandOf(inputs, Time::Us(600), {}, Errors()).whole_run, 0.2);
  Inputs delta = FakeRun();
  scan.work = submodule::DeltaRule();
  delta.workload.submodules.push_back(scan);
  EXPECT_EQ(BandOf(delta, Time::Us(600), {}, Errors()).whole_run, 0.2);
}

TEST(Band, WithoutErrorsTheBandIsThePrediction) {
  BandErrors errors;
  errors.coverage = 0.8;
  const Band band = BandOf(FakeRun(), Time::Us(600), {{"gemm (given)", 1, 0}}, errors);
  EXPECT_EQ(band.low, Time::Us(600));
  EXPECT_EQ(band.high, Time::Us(600));
}

}  // namespace
}  // namespace drydock
