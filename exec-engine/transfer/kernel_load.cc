#include "exec-engine/transfer/kernel_load.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/model/calls/slices.h"
#include "core/model/sharing_costs.h"
#include "exec-engine/host/step_cost.h"
#include "exec-engine/transfer/local_plan.h"

namespace drydock {
namespace {

// Returns true if the receiver moves the data, not the sender.
bool Fetched(const LocalConnection& c) { return c.link == LinkKind::kPeerRead || c.contribution; }

class Loads {
 public:
  Loads(const SharingCosts& costs, const PortMap& ports, const LocalPlan& plan)
      : costs_(costs), ports_(ports), plan_(plan) {}

  // `runner` is the first runner of the member.
  KernelLoad Of(const LocalMember& member, uint32_t runner) {
    bytes_ = 0;
    busy_.clear();
    nics_.clear();
    std::map<int, std::set<uint16_t>> channels;  // by launch
    size_t of_exchange = 0;                      // SMs for which one program stands
    for (const ChannelProgram& program : plan_.plan->members[static_cast<size_t>(member.member)]) {
      const Work& work = plan_.plan->works[program.work];
      // A copy engine moves its data without an SM. DeepEP's kernels of low latency end when their
      // messages are posted, and others take in what has arrived.
      const bool holds_sms = work.algorithm != Algorithm::kCopyEngine &&
                             work.algorithm != Algorithm::kDeepEpLowLatency;
      if (holds_sms) channels[work.launch].insert(program.channel);
      if (holds_sms && ExchangesTokens(work.algorithm)) {
        of_exchange = static_cast<size_t>(work.channels);
      }
      AddProgram(program, plan_.runners[runner++]);
    }
    size_t most = of_exchange;
    for (const auto& [launch, of_launch] : channels) most = std::max(most, of_launch.size());
    KernelLoad load;
    load.sms = costs_.channel_sms * static_cast<double>(most);
    const double seconds = Seconds();
    if (seconds > 0) load.memory = Bandwidth::FromBytesPerSecond(bytes_ / seconds);
    return load;
  }

 private:
  void AddProgram(const ChannelProgram& program, const LocalRunner& runner) {
    const Pattern& pattern = plan_.plan->patterns[program.pattern];
    const Step* first = pattern.steps.data();
    double& busy = busy_[program.channel][program.work];
    double own = 0;
    ForEachSize(pattern, program.position, [&](const Step& step, int64_t bytes, int64_t times) {
      const auto index = runner.step_begin + static_cast<uint32_t>(&step - first);
      own += static_cast<double>(times) * AddStep(runner, step, plan_.steps[index], bytes, times);
    });
    busy = std::max(busy, own);  // programs of one work run in parallel
  }

  // Counts the bytes that the step moves when it runs `times` times. Returns the seconds that the
  // thread block is busy with it once.
  double AddStep(const LocalRunner& runner, const Step& step, const LocalStep& local, int64_t bytes,
                 int64_t times) {
    const LocalWork& work = plan_.works[runner.work];
    const int64_t wire = WireBytes(work.planned->protocol, bytes);
    const int64_t slices = SliceCount(*work.planned, bytes / local.merged);
    Time crossing;
    bool switches = false, proxy = false;
    const auto visit = [&](uint32_t index, bool sends) {
      const LocalConnection& c = plan_.connections[index];
      if (sends != Fetched(c)) crossing = std::max(crossing, c.crossing.For(wire));
      switches |= c.contribution && !sends;
      proxy |= c.remote_host >= 0;
      bytes_ += StagedBytes(c, sends, wire) * static_cast<double>(times);
      if (c.nic != kNoPort) nics_[c.nic] += static_cast<double>(wire * times);
    };
    for (const uint32_t c : plan_.OperandsOf(runner, local.receive)) visit(c, false);
    for (const uint32_t c : plan_.OperandsOf(runner, local.send)) visit(c, true);
    // The user's buffers: inputs that are sent or summed are read, results are written. Switches
    // read their inputs in place.
    const bool reads = step.receive.count == 0 || (step.reduce && !switches);
    bytes_ += static_cast<double>(bytes * times) * ((reads ? 1 : 0) + (step.store ? 1 : 0));
    Time busy = std::max(work.BlockTime(local, bytes), crossing);
    if (!local.joined) busy += work.step * local.merged;
    if (proxy) busy += work.net_slice * slices * local.merged;
    return busy.seconds();
  }

  // The bytes in this GPU's memory that pass through NCCL's buffers: bytes that a peer stores, and
  // bytes that lie there until the peer loads them. A direct store arrives in the user's own
  // buffer.
  double StagedBytes(const LocalConnection& c, bool sends, int64_t wire) const {
    if (c.link == LinkKind::kShared) return 0;  // in the host's memory
    const bool network = c.remote_host >= 0;
    if (!network && sends != Fetched(c)) return 0;
    const bool direct = plan_.plan->connections[c.plan_connection].direct;
    if (direct && sends) return 0;
    return static_cast<double>(wire) * (direct ? 1 : costs_.staged_traffic);
  }

  // The time of the busiest channel or NIC. Works on one channel run one after another.
  double Seconds() const {
    double longest = 0;
    for (const auto& [channel, works] : busy_) {
      double sum = 0;
      for (const auto& [work, seconds] : works) sum += seconds;
      longest = std::max(longest, sum);
    }
    for (const auto& [nic, bytes] : nics_) {
      const auto whole = static_cast<int64_t>(bytes);
      const Time time = std::max(ports_.cost(nic).For(whole), ports_.nic_wire().For(whole));
      longest = std::max(longest, time.seconds());
    }
    return longest;
  }

  const SharingCosts& costs_;
  const PortMap& ports_;
  const LocalPlan& plan_;
  // Of the present member.
  double bytes_ = 0;
  std::map<uint16_t, std::map<uint16_t, double>> busy_;  // seconds, by channel and work
  std::map<PortId, double> nics_;                        // bytes, by DMA port
};

}  // namespace

void FindLoads(const SharingCosts& costs, const PortMap& ports, LocalPlan* plan) {
  if (costs.channel_sms <= 0 && costs.staged_traffic <= 0) return;  // not known
  Loads loads(costs, ports, *plan);
  uint32_t runner = 0;
  for (LocalMember& member : plan->members) {
    member.load = loads.Of(member, runner);
    runner += member.runners;
  }
}

}  // namespace drydock
