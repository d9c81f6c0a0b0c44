// The steady state of a schedule is replayed once. While a replay runs, its state is taken at cuts,
// one period of the programs apart (program_periods.h). Two cuts with equal states, relative to
// their times and places in the programs, have equal futures as long as the programs repeat. They
// may be several periods apart: messages may take several queue pairs in turns. So
// the replay goes on with programs that lack `count` periods, and Lengthen puts the times of these
// periods into its timeline: those of the period between two cuts, shifted. The result is the same
// to the picosecond (docs/explanation/replay.md).
//
// Up to the cut, the replay has seen the same ops of the shorter programs. Where it cannot go on
// with them, for example because a call has begun of which they number another, it begins again.
// Programs of many periods lack most of them from the beginning, as long as the replay only
// searches (OnlySearch); if it finds nothing, another replay has all periods.
//
// States are compared number by number, not by hashes.
#ifndef DRYDOCK_EXEC_ENGINE_STEADY_STEADY_STATE_H_
#define DRYDOCK_EXEC_ENGINE_STEADY_STEADY_STATE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/calls/call_numbers.h"
#include "core/model/timeline.h"
#include "core/network/relative_state.h"
#include "exec-engine/index/replay_index.h"
#include "exec-engine/steady/program_periods.h"
#include "exec-engine/steady/repeating_host.h"

namespace drydock {

using ReplayCounters = std::vector<std::pair<std::string, int64_t>>;

// What a replay may leave out.
struct Repetition {
  int cut = 0;                 // the number of the first cut whose state is that of an earlier one
  int apart = 1;               // the earlier one is so many cuts before
  int64_t count = 0;           // of periods
  std::vector<uint32_t> from;  // by rank class (WithoutPeriods)
};

// The names of ops and calls at a place `period` periods after the first cut.
class NamesInPeriods final : public RelativeNames {
 public:
  // Both arguments outlive this.
  NamesInPeriods(const ReplayIndex& index, const WorkloadPeriods& periods);
  void GoTo(int64_t period) { period_ = period; }
  // The programs lack `count` periods from now on.
  void LeaveOut(int64_t count) { left_out_ = count; }
  int64_t OpOf(int rank, uint32_t op) const override;
  void AppendCall(uint64_t tag, std::vector<int64_t>* out) const override;

 private:
  using GroupAndName = std::pair<uint32_t, uint64_t>;
  void CountCalls();

  const ReplayIndex& index_;
  const WorkloadPeriods& periods_;
  const std::vector<MessageName> names_;
  std::vector<int64_t> collectives_;             // of a period, by group
  std::map<GroupAndName, int64_t> occurrences_;  // of a period: of groups of messages
  int64_t period_ = 0, left_out_ = 0;
};

class SteadyState final : public InstantObserver {
 public:
  // All arguments outlive this. `hosts` are the replayed hosts, `counters` returns the totals so
  // far.
  SteadyState(const ReplayIndex& index, WorkloadPeriods periods,
              std::vector<const RepeatingHost*> hosts, const ObservableNetwork& network,
              std::function<ReplayCounters()> counters);

  // Of a replay of programs without some periods: it keeps the repetition's cut and the next one.
  void Keep(const Repetition& repetition) {
    kept_ = repetition;
    shorter_ = &index_;
  }
  bool OnEndOfInstant(Time now) override;

  // Tries to let the replay go on with programs that lack the periods. Returns their index, or null
  // if the replay has to begin again.
  using GoOn = std::function<const ReplayIndex*(const Repetition&)>;
  void OnRepetition(GoOn go_on) { go_on_ = std::move(go_on); }

  // Ends the run if its programs, which lack `others` periods, end before a repetition is found.
  void OnlySearch(int64_t others) {
    only_searches_ = true;
    others_ = others;
  }
  // Returns what the programs lack, if they lack periods.
  const std::optional<Repetition>& kept() const { return kept_; }
  // Returns what may be left out if that is worth another replay. Then the run has been ended.
  const std::optional<Repetition>& repetition() const { return found_; }

  // Puts the periods that were left out of `whole` into the timeline, which has the times of
  // `ranks`: those of the repetition, and `others` that the programs lacked from the beginning.
  // Returns false if the two cuts that were kept differ after all.
  bool Lengthen(const Workload& whole, int64_t others, const std::vector<int>& ranks,
                Timeline* timeline) const;

 private:
  struct Cut {
    Time at;
    std::vector<int64_t> state;
    std::vector<std::vector<uint32_t>> heads;  // by rank that is replayed: StreamHeads
    ReplayCounters counters;
  };

  Cut Take(Time now);
  std::optional<int> CutsApart() const;
  std::optional<Repetition> Leave(int apart) const;
  bool GoesOn();
  // `whole`: the number of ops of the rank's whole program; `count`: how often the ops between the
  // cuts are put in; `number`: of the rank in Cut::heads.
  bool LengthenRank(size_t whole, int64_t count, size_t number, int rank,
                    RankTimeline* times) const;
  const ProgramPeriods& PeriodsOf(int rank) const;

  const ReplayIndex& index_;
  const ReplayIndex* shorter_ = nullptr;  // of the programs without the periods that were left out
  GoOn go_on_;
  const WorkloadPeriods periods_;
  const std::vector<const RepeatingHost*> hosts_;
  const ObservableNetwork& network_;
  const std::function<ReplayCounters()> counters_;
  NamesInPeriods names_;
  uint32_t next_op_;  // of the first rank that is replayed: its end is the next cut
  int cuts_ = 0;
  bool done_ = false;  // no more cuts are needed
  bool only_searches_ = false;
  int64_t others_ = 0;
  std::vector<Cut> earlier_;  // than last_, the latest first
  Cut before_, last_;         // of a repetition
  std::optional<Repetition> found_, kept_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_STEADY_STEADY_STATE_H_
