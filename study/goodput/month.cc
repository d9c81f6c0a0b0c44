#include "study/goodput/month.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/check.h"
#include "core/containers/hash.h"

namespace drydock {
namespace {

// SplitMix64. The stream of a sample depends on no other sample.
class Draws {
 public:
  Draws(uint64_t seed, uint64_t sample) : state_(MixBits(MixBits(seed) + sample)) {}

  // Above 0, at most 1.
  double Share() {
    state_ += kSplitMixIncrement;
    return static_cast<double>((MixBits(state_) >> 11) + 1) * 0x1p-53;
  }
  double Exponential(double per_second) {
    if (per_second <= 0) return std::numeric_limits<double>::infinity();
    return -std::log(Share()) / per_second;
  }

 private:
  uint64_t state_;
};

class Course {
 public:
  Course(const MonthPlan& plan, uint64_t seed, uint64_t sample)
      : plan_(plan), per_second_(SumOf(plan.hazards)), draws_(seed, sample), free_(plan.spares) {}

  Month Run() {
    bool restores = false;
    while (now_ < plan_.horizon) {
      const double share = static_cast<double>(plan_.hosts - missing_) / plan_.hosts;
      const double failure = now_ + draws_.Exponential(per_second_ * share);
      const double end = std::min(failure, plan_.horizon);
      const bool running = Pass(Badput::kStartup, plan_.start, end) &&
                           Pass(Badput::kInitialization, plan_.communicators, end) &&
                           (!restores || Pass(Badput::kRestore, plan_.restore, end));
      restores = true;
      if (running && Train(end, end == plan_.horizon)) continue;
      if (now_ >= plan_.horizon) break;
      Fail();
    }
    return month_;
  }

 private:
  struct Repair {
    double at;
    int hosts;
  };

  void Spend(Badput badput, double seconds) {
    month_.badput[static_cast<size_t>(badput)] += seconds;
  }

  // Returns true if it is over before `end`; else time stops at `end`.
  bool Pass(Badput badput, double seconds, double end) {
    const double until = std::min(now_ + seconds, end);
    Spend(badput, until - now_);
    now_ = until;
    return now_ < end;
  }

  // Trains until `end`, or until the hosts are complete again. Returns true if training goes on
  // after a restart without a failure. `whole`: nothing fails at the end.
  bool Train(double end, bool whole) {
    const bool shrunk = missing_ > 0;
    const Schedule& schedule = shrunk ? plan_.shrunk : plan_.full;
    bool regrows = false;
    if (shrunk) {
      const double complete = repairs_.back().at;  // sorted by time
      const double checkpoint =
          now_ + EndOfCheckpointAfter(schedule, std::max(0.0, complete - now_));
      if (checkpoint < end) {
        end = checkpoint;
        regrows = true;
      }
    }
    const Stretch stretch = After(schedule, end - now_);
    const double remains = whole || regrows ? stretch.done : stretch.kept;
    const double worth = shrunk ? plan_.shrunk_worth : 1;
    month_.goodput += remains * worth;
    Spend(Badput::kShrunk, remains * (1 - worth));
    Spend(Badput::kWasted, stretch.done - remains);
    Spend(Badput::kSave, stretch.saving);
    Spend(Badput::kInterference, stretch.interference);
    now_ = end;
    if (regrows) Returned(now_);
    return regrows;
  }

  // What has failed at `now_`, and the time until its hosts are there again.
  void Fail() {
    ++month_.failures;
    const Hazard& hazard = Failed();
    const auto part = static_cast<size_t>(hazard.part);
    const double failure = now_;
    now_ += plan_.detect[part];
    if (hazard.hosts > 0) Lose(std::min(hazard.hosts, plan_.hosts), plan_.repair[part]);
    now_ = std::min(now_, plan_.horizon);
    Spend(Badput::kInfrastructure, now_ - failure);
  }

  const Hazard& Failed() {
    double left = draws_.Share() * per_second_;
    for (const Hazard& hazard : plan_.hazards) {
      if (left <= hazard.per_second) return hazard;
      left -= hazard.per_second;
    }
    return plan_.hazards.back();
  }

  void Lose(int hosts, double repair) {
    Returned(now_);
    const Repair made = {now_ + repair, hosts};
    repairs_.insert(std::upper_bound(repairs_.begin(), repairs_.end(), made,
                                     [](const Repair& a, const Repair& b) { return a.at < b.at; }),
                    made);
    missing_ += hosts;
    switch (plan_.policy) {
      case Policy::kRestart:
        WaitUntilMissing(0);
        break;
      case Policy::kSpares:
        while (free_ < missing_) WaitForRepair();
        free_ -= missing_;
        missing_ = 0;
        now_ += plan_.replace;
        break;
      case Policy::kShrink:
        WaitUntilMissing(plan_.most_lost);
        break;
    }
  }

  void WaitUntilMissing(int most) {
    while (missing_ > most) WaitForRepair();
  }

  void WaitForRepair() {
    CHECK(!repairs_.empty());
    now_ = std::max(now_, repairs_.front().at);
    Returned(now_);
  }

  // Hosts whose repair has ended at `time` are spare ones, or in their old places.
  void Returned(double time) {
    size_t ended = 0;
    for (; ended < repairs_.size() && repairs_[ended].at <= time; ++ended) {
      (plan_.policy == Policy::kSpares ? free_ : missing_) +=
          plan_.policy == Policy::kSpares ? repairs_[ended].hosts : -repairs_[ended].hosts;
    }
    repairs_.erase(repairs_.begin(), repairs_.begin() + static_cast<std::ptrdiff_t>(ended));
  }

  const MonthPlan& plan_;
  const double per_second_;
  Draws draws_;
  Month month_;
  double now_ = 0;
  int free_;         // spare hosts
  int missing_ = 0;  // hosts of the run
  std::vector<Repair> repairs_;
};

}  // namespace

const std::array<BadputName, kBadputs>& BadputNames() {
  static const std::array<BadputName, kBadputs> names = {
      {{"TPU_INITIALIZATION", "", "communicators"},
       {"PROGRAM_STARTUP", "", "start of the processes"},
       {"UNPRODUCTIVE_CHECKPOINT_SAVE_TIME", "", "waiting for checkpoints"},
       {"UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME", "", "reading a checkpoint"},
       {"WASTED_PROGRESS_FROM_DISRUPTION", "", "steps that no checkpoint had"},
       {"INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION", "", "detection, waiting for hosts"},
       {"CUSTOM_BADPUT_EVENTS", "checkpoint_interference", "steps beside a checkpoint's writing"},
       {"CUSTOM_BADPUT_EVENTS", "shrunk", "steps on fewer hosts"}}};
  return names;
}

const std::vector<std::string>& PolicyNames() {
  static const std::vector<std::string> names = {"restart", "spares", "shrink"};
  return names;
}

Month SimulateMonth(const MonthPlan& plan, uint64_t seed, uint64_t sample) {
  return Course(plan, seed, sample).Run();
}

}  // namespace drydock
