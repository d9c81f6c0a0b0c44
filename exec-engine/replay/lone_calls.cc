#include "exec-engine/replay/lone_calls.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "exec-engine/transfer/transfer_engine.h"

namespace drydock {
namespace {

// A plan must occur with this many patterns of arrival before KnownTimes examines whether only the
// last arrival matters. This bounds the work and changes no result.
constexpr size_t kMinPatterns = 4;

// In place of the offset of a member that rested.
constexpr int64_t kRested = -1;

}  // namespace

// An engine with a single transfer, whose first member arrives at time 0.
class LoneCalls::Player final : private TransferListener {
 public:
  Player(HostId host, const PortMap& ports) : engine_(host, ports, this) {}

  KnownTimes::Times Play(const LocalPlan& plan, const KnownTimes::Offsets& offsets) {
    engine_.Reset();
    const int64_t slices_before = engine_.slices();
    times_.end.assign(offsets.size(), Time());
    times_.ready.assign(offsets.size(), Time());
    Transfer* transfer = engine_.Begin(&plan, 0);
    for (uint32_t m = 0; m < offsets.size(); ++m) {
      engine_.Start(transfer, m, Time::Ps(offsets[m]));
    }
    while (!engine_.idle()) engine_.RunNext();
    engine_.GiveBack(transfer);
    const int64_t last = *std::max_element(offsets.begin(), offsets.end());
    for (const Time end : times_.end) {
      CHECK_NOTE(end.ps() >= last, "a member ends before the last member starts, or never");
    }
    times_.slices = engine_.slices() - slices_before;
    return times_;
  }

 private:
  void OnMemberEnd(Transfer*, uint32_t member, Time end, Time ready) override {
    times_.end[member] = end;
    times_.ready[member] = ready;
  }
  uint32_t OnMessage(const Message&, uint32_t) override { return 0; }
  void OnDrained(Transfer*) override {}

  TransferEngine engine_;
  KnownTimes::Times times_;
};

LoneCalls::LoneCalls(HostId host, const PortMap& ports)
    : player_(std::make_unique<Player>(host, ports)) {}

LoneCalls::~LoneCalls() = default;

LoneCalls::Answer LoneCalls::TimesAfterRest(HostPlan* plan, const KnownTimes::Offsets& offsets,
                                            Time last) {
  const int64_t latest = *std::max_element(offsets.begin(), offsets.end());
  KnownTimes::Offsets name;
  for (const int64_t offset : offsets) name.push_back(offset == latest ? 0 : kRested);
  const auto it = plan->times.find(name);
  if (it != plan->times.end()) {
    ++looked_up_;
    return {it->second, last};
  }
  const KnownTimes::Times& times = plan->known->Find(name, [&](const KnownTimes::Offsets&) {
    KnownTimes::Times out = player_->Play(plan->plan, offsets);
    for (std::vector<Time>* each : {&out.end, &out.ready}) {
      for (Time& time : *each) time = time - Time::Ps(latest);
    }
    return out;
  });
  plan->times.emplace(std::move(name), &times);
  ++played_;
  slices_ += times.slices;
  return {&times, last};
}

LoneCalls::Answer LoneCalls::TimesFor(HostPlan* plan, const KnownTimes::Offsets& offsets,
                                      Time first, Time last) {
  const auto it = plan->times.find(offsets);
  if (it != plan->times.end()) {
    ++looked_up_;
    return {it->second, first};
  }
  const auto play = [&](const KnownTimes::Offsets& each) {
    return player_->Play(plan->plan, each);
  };
  if (plan->waits_for_all && plan->times.size() >= kMinPatterns) {
    const auto* rule = plan->known->FromLastArrival(plan->plan.members.size(), play);
    if (rule != nullptr) {
      ++looked_up_;
      return {rule, last};
    }
  }
  const KnownTimes::Times& times = plan->known->Find(offsets, play);
  plan->times.emplace(offsets, &times);
  ++played_;
  slices_ += times.slices;
  return {&times, first};
}

}  // namespace drydock
