#include "study/search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "study/points/point_key.h"
#include "study/search/lower_bound.h"
#include "study/workers/shared_array.h"

namespace drydock {
namespace {

constexpr size_t kReasonSize = 512;
// Replays of a round, for each process. A round ends before its results decide what comes next.
constexpr size_t kRoundPerJob = 2;

// What a process leaves of a candidate.
struct Screened {
  PointState state = PointState::kRefused;
  bool done = false;
  int64_t bound_ps = 0;
  double memory = 0;
  char reason[kReasonSize] = {};
};

class Searcher {
 public:
  Searcher(EvaluatorOptions evaluator, const PointStore& store, const SearchOptions& options)
      : evaluator_(std::move(evaluator)), store_(store), options_(options) {}

  Result<SearchResult> Run(const std::string& first, const std::string& second,
                           std::vector<std::vector<std::string>> layouts) {
    for (std::vector<std::string>& layout : layouts) {
      result_.candidates.emplace_back().assignments = std::move(layout);
    }
    RETURN_IF_ERROR(Screen());
    std::vector<size_t> order = Fitting();
    RETURN_IF_ERROR(ReplayBest(first, order, &Candidate::first, &Candidate::first_id, Bound));
    if (first != second) {
      order = WithinMargin();
      RETURN_IF_ERROR(ReplayBest(second, order, &Candidate::second, &Candidate::second_id, Bound));
    }
    result_.best = Best(first == second ? &Candidate::first : &Candidate::second);
    return std::move(result_);
  }

 private:
  using TimeField = std::optional<Time> Candidate::*;
  using IdField = std::string Candidate::*;

  static Time Bound(const Candidate& candidate) { return candidate.bound; }

  LocalOptions Local(const std::string& stage, size_t done, size_t of) const {
    LocalOptions local;
    local.jobs = options_.jobs;
    if (options_.progress) {
      local.progress = [this, stage, done, of](size_t more) {
        options_.progress(stage, done + more, of);
      };
    }
    return local;
  }

  // Sets state, memory and bound of all candidates.
  Status Screen() {
    std::vector<Candidate>& candidates = result_.candidates;
    std::vector<WorkItem> items;
    for (size_t i = 0; i < candidates.size(); ++i) {
      items.push_back({std::to_string(i), candidates[i].assignments});
    }
    SharedArray<Screened> screened(candidates.size());
    if (!screened.ok()) return Error("not enough memory for the candidates");
    const LocalTask task = [&](Evaluator* own, const WorkItem& item, size_t index) -> Status {
      ASSIGN_OR_RETURN(const Prepared prepared, own->Prepare(item.assignments));
      Screened& to = screened[index];
      to.state = prepared.state;
      to.memory = prepared.memory ? static_cast<double>(prepared.memory->total.count()) : 0;
      memcpy(to.reason, prepared.reason.data(), std::min(prepared.reason.size(), kReasonSize - 1));
      if (prepared.state == PointState::kDone && !prepared.varies) {
        to.bound_ps = LowerBound(prepared.workload, prepared.times).ps();
      }
      to.done = true;
      return OkStatus();
    };
    ASSIGN_OR_RETURN(const LocalResult local,
                     WorkLocally(evaluator_, items, Local("layouts", 0, items.size()), task));
    for (size_t i = 0; i < candidates.size(); ++i) {
      Candidate& to = candidates[i];
      const Screened& from = screened[i];
      to.memory = from.memory;
      to.bound = Time::Ps(from.bound_ps);
      to.reason = from.reason;
      if (!from.done) {
        to.state = Candidate::State::kFailed;
        const auto failure = local.failures.find(items[i].id);
        if (failure != local.failures.end()) to.reason = failure->second;
      } else if (from.state != PointState::kDone) {
        to.state = from.state == PointState::kUnfit ? Candidate::State::kUnfit
                                                    : Candidate::State::kRefused;
      }
    }
    return OkStatus();
  }

  // Those that fit, the smallest bound first; of equal bounds in the order given.
  std::vector<size_t> Fitting() const {
    std::vector<size_t> order;
    for (size_t i = 0; i < result_.candidates.size(); ++i) {
      if (result_.candidates[i].state == Candidate::State::kSlower) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
      return result_.candidates[a].bound < result_.candidates[b].bound;
    });
    return order;
  }

  // Those whose first time is within the margin of the last wanted one, the fastest first.
  std::vector<size_t> WithinMargin() const {
    const std::vector<size_t> best = Best(&Candidate::first);
    if (best.empty()) return {};
    const double limit = result_.candidates[best.back()].first->seconds() * (1 + options_.margin);
    std::vector<size_t> order;
    for (size_t i = 0; i < result_.candidates.size(); ++i) {
      const std::optional<Time>& time = result_.candidates[i].first;
      if (time && (options_.exhaustive || time->seconds() <= limit)) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
      return *result_.candidates[a].first < *result_.candidates[b].first;
    });
    return order;
  }

  std::vector<size_t> Best(TimeField field) const {
    std::vector<size_t> order;
    for (size_t i = 0; i < result_.candidates.size(); ++i) {
      if (result_.candidates[i].*field) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return *(result_.candidates[a].*field) < *(result_.candidates[b].*field);
    });
    if (order.size() > options_.top) order.resize(options_.top);
    return order;
  }

  // True if a candidate with this bound cannot be among the wanted ones.
  bool IsBeaten(Time bound, TimeField field) const {
    if (options_.exhaustive) return false;
    const std::vector<size_t> best = Best(field);
    return best.size() == options_.top && bound >= *(result_.candidates[best.back()].*field);
  }

  // Replays in `order` over `network` what is not beaten.
  Status ReplayBest(const std::string& network, const std::vector<size_t>& order, TimeField field,
                    IdField id, Time (*bound)(const Candidate&)) {
    EvaluatorOptions evaluator = evaluator_;
    evaluator.network = network;
    ASSIGN_OR_RETURN(PointKeys keys, PointKeys::Make(evaluator));
    const size_t round = kRoundPerJob * static_cast<size_t>(options_.jobs);
    size_t replayed = 0;
    for (size_t begin = 0; begin < order.size();) {
      std::vector<WorkItem> items;
      std::vector<size_t> members;
      for (; begin < order.size() && members.size() < round; ++begin) {
        Candidate& candidate = result_.candidates[order[begin]];
        if (IsBeaten(bound(candidate), field)) continue;
        members.push_back(order[begin]);
        candidate.*id = keys.KeyOf(candidate.assignments);
        if (!store_.Read(candidate.*id)) items.push_back({candidate.*id, candidate.assignments});
      }
      ASSIGN_OR_RETURN(const LocalResult local,
                       EvaluateLocally(evaluator, store_, items, options_.pages,
                                       Local(network, replayed, order.size())));
      for (const size_t member : members) Take(local, field, id, &result_.candidates[member]);
      replayed += members.size();
    }
    (field == &Candidate::first ? result_.replayed_first : result_.replayed_second) = replayed;
    return OkStatus();
  }

  void Take(const LocalResult& local, TimeField field, IdField id, Candidate* candidate) const {
    const std::optional<PointRecord> record = store_.Read(candidate->*id);
    const std::optional<double> seconds =
        record ? ValueOf(record->metrics, "iteration_s") : std::nullopt;
    if (seconds) {
      candidate->state = Candidate::State::kReplayed;
      candidate->*field = Time::FromSeconds(*seconds);
      return;
    }
    candidate->state = record ? Candidate::State::kRefused : Candidate::State::kFailed;
    const auto failure = local.failures.find(candidate->*id);
    candidate->reason = record                            ? record->reason
                        : failure == local.failures.end() ? "its point was not written"
                                                          : failure->second;
  }

  const EvaluatorOptions evaluator_;
  const PointStore& store_;
  const SearchOptions& options_;
  SearchResult result_;
};

}  // namespace

Result<SearchResult> Search(EvaluatorOptions evaluator, const std::string& first,
                            const std::string& second, const PointStore& store,
                            std::vector<std::vector<std::string>> layouts,
                            const SearchOptions& options) {
  return Searcher(std::move(evaluator), store, options).Run(first, second, std::move(layouts));
}

}  // namespace drydock
