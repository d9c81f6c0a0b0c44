// A prediction of goodput as goodput.json and as text for a terminal.
#ifndef DRYDOCK_STUDY_GOODPUT_GOODPUT_OUTPUT_H_
#define DRYDOCK_STUDY_GOODPUT_GOODPUT_OUTPUT_H_

#include <optional>
#include <string>
#include <vector>

#include "report/cost/cost.h"
#include "study/goodput/goodput.h"
#include "study/goodput/question.h"

namespace drydock {

struct GoodputResult {
  Question question;
  Sampling sampling;
  const RunFacts* run = nullptr;
  const FailureModel* model = nullptr;
  std::string failures_file;
  std::vector<std::string> set;
  Posed posed;  // with its steps between checkpoints
  Goodput goodput;
  std::vector<IntervalTrial> trials;  // empty: the interval was given
  std::optional<CostFacts> cost;      // of the run

  double between_failures() const { return 1 / SumOf(posed.plan.hazards); }  // seconds
  double interval() const {
    return static_cast<double>(posed.plan.full.steps) * posed.plan.full.step;
  }
  // Tokens of the whole time, by a share of it.
  double TokensOf(double share) const {
    return share * posed.plan.horizon * run->tokens_per_second();
  }
  // Amount of the whole time, spare hosts included.
  std::optional<double> AmountOf() const;
};

std::string GoodputText(const GoodputResult& result);  // 100 columns
std::string GoodputJson(const GoodputResult& result);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_GOODPUT_GOODPUT_OUTPUT_H_
