// One possible course of a run over some days: failures at random times, and what follows each.
//
//   train ─► failure ─► detected ─► hosts are there again ─► processes start, make communicators
//     ▲                                                      and read the last checkpoint ──┐
//     └─────────────────────────────────────────────────────────────────────────────────────┘
//
// Failures come while processes run; hosts that wait, and spare ones, do not fail. Times between
// them are exponential. Deterministic: a function of the plan, the seed and the sample.
#ifndef DRYDOCK_STUDY_GOODPUT_MONTH_H_
#define DRYDOCK_STUDY_GOODPUT_MONTH_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "study/goodput/hazards.h"
#include "study/goodput/stretch.h"

namespace drydock {

// What stands in the place of training, in the vocabulary of ml-goodput-measurement.
enum class Badput : uint8_t {
  kInitialization,  // communicators are made
  kStartup,         // processes start
  kSave,            // training waits for a checkpoint
  kRestore,         // a checkpoint is read
  kWasted,          // steps that no checkpoint had
  kInfrastructure,  // until the failure is known and the hosts are there
  kInterference,    // steps take longer beside the writing of a checkpoint
  kShrunk,          // steps on fewer hosts
};
inline constexpr size_t kBadputs = 8;

struct BadputName {
  std::string type;     // of ml-goodput-measurement: "WASTED_PROGRESS_FROM_DISRUPTION"
  std::string event;    // of a custom event; or empty
  std::string meaning;  // for the terminal
};
const std::array<BadputName, kBadputs>& BadputNames();

enum class Policy : uint8_t {
  kRestart,  // waits for the repair of lost hosts
  kSpares,   // spare hosts take their place
  kShrink,   // goes on without them, and with them again once they are repaired
};
const std::vector<std::string>& PolicyNames();  // "restart", "spares", "shrink"

// Times are seconds; what is unknown is 0.
struct MonthPlan {
  double horizon = 0;
  Schedule full;
  Policy policy = Policy::kRestart;
  int spares = 0;  // of kSpares
  // Of kShrink: training on `most_lost` fewer hosts. A second of its steps is worth `shrunk_worth`
  // of full ones, in tokens.
  Schedule shrunk;
  double shrunk_worth = 0;
  int hosts = 0, most_lost = 0;
  std::vector<Hazard> hazards;
  std::array<double, kFailingParts> detect = {}, repair = {};
  double replace = 0, start = 0, communicators = 0, restore = 0;
};

struct Month {
  double goodput = 0;  // seconds of full steps that remained
  std::array<double, kBadputs> badput = {};
  int failures = 0;
};

// Goodput and badput add up to the horizon. REQUIRES: the schedules are possible.
Month SimulateMonth(const MonthPlan& plan, uint64_t seed, uint64_t sample);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_GOODPUT_MONTH_H_
