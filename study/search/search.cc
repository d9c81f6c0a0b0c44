#include "study/search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "study/points/point_key.h"
#include "study/search/lower_bound.h"
#include "study/search/quick_screen.h"
#include "study/workers/shared_array.h"

namespace drydock {
namespace {

constexpr size_t kReasonSize = 512;
// Layouts that go on at the same time, for each process: what is learnt from one decides about the
// next. A lower bound takes a tenth of a replay.
constexpr size_t kReplaysPerJob = 2, kBoundsPerJob = 16;

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
    quick_.resize(result_.candidates.size());
    RETURN_IF_ERROR(Look());
    RETURN_IF_ERROR(ReplayFirst(first));
    if (first != second) RETURN_IF_ERROR(ReplaySecond(second));
    result_.best = Best(first == second ? &Candidate::first : &Candidate::second);
    for (const Candidate& each : result_.candidates) {
      result_.replayed_first += each.first_id.empty() ? 0 : 1;
      result_.replayed_second += each.second_id.empty() ? 0 : 1;
    }
    return std::move(result_);
  }

 private:
  using TimeField = std::optional<Time> Candidate::*;
  using IdField = std::string Candidate::*;

  // What was known of a candidate before its memory and its lower bound were worked out.
  struct Quick {
    Time bound;
    double memory = 0;
    std::string reason;
    bool open = true;      // it may be one of the best
    bool bounded = false;  // its memory and its lower bound are known
  };

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

  // Runs `look` on candidates and takes its results.
  Status ScreenAll(const std::vector<size_t>& members, const LocalOptions& local,
                   const std::function<Screened(Evaluator* own, const WorkItem& item)>& look) {
    std::vector<WorkItem> items;
    for (const size_t i : members) {
      items.push_back({std::to_string(i), result_.candidates[i].assignments});
    }
    SharedArray<Screened> screened(members.size());
    if (!screened.ok()) return Error("not enough memory for the candidates");
    const LocalTask task = [&](Evaluator* own, const WorkItem& item, size_t index) -> Status {
      screened[index] = look(own, item);
      screened[index].done = true;
      return OkStatus();
    };
    ASSIGN_OR_RETURN(const LocalResult done, WorkLocally(evaluator_, items, local, task));
    for (size_t i = 0; i < members.size(); ++i) {
      Candidate& to = result_.candidates[members[i]];
      const Screened& from = screened[i];
      to.memory = from.memory;
      to.bound = Time::Ps(from.bound_ps);
      to.reason = from.reason;
      if (!from.done) {
        to.state = Candidate::State::kFailed;
        const auto failure = done.failures.find(items[i].id);
        if (failure != done.failures.end()) to.reason = failure->second;
      } else if (from.state != PointState::kDone) {
        to.state = from.state == PointState::kUnfit ? Candidate::State::kUnfit
                                                    : Candidate::State::kRefused;
      }
    }
    return OkStatus();
  }

  static Screened ScreenedOf(PointState state, const std::string& reason, double memory,
                             Time bound) {
    Screened screened;
    screened.state = state;
    screened.memory = memory;
    screened.bound_ps = bound.ps();
    memcpy(screened.reason, reason.data(), std::min(reason.size(), kReasonSize - 1));
    return screened;
  }

  // Finds out which candidates are possible, and what each needs at the least.
  Status Look() {
    std::vector<size_t> all(result_.candidates.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    // A process has one of these, since it has one evaluator.
    std::optional<QuickScreen> screen;
    RETURN_IF_ERROR(
        ScreenAll(all, Local("layouts", 0, all.size()), [&](Evaluator* own, const WorkItem& item) {
          if (!screen) screen.emplace(own);
          const QuickLook look = screen->Look(item.assignments);
          return ScreenedOf(look.state, look.reason, static_cast<double>(look.memory.count()),
                            look.bound);
        }));
    for (size_t i = 0; i < all.size(); ++i) {
      Candidate& each = result_.candidates[i];
      quick_[i] = {each.bound, each.memory, each.reason,
                   each.state == Candidate::State::kSlower ||
                       (options_.exhaustive && each.state == Candidate::State::kUnfit)};
      if (quick_[i].open) each.state = Candidate::State::kSlower;
    }
    return OkStatus();
  }

  // Works out memory and lower bound.
  Status Bound(const std::vector<size_t>& members, size_t done, size_t of) {
    RETURN_IF_ERROR(ScreenAll(
        members, Local("lower bounds", done, of), [](Evaluator* own, const WorkItem& item) {
          const Result<Prepared> prepared = own->Prepare(item.assignments);
          if (!prepared.ok()) {
            return ScreenedOf(PointState::kRefused, OneLine(prepared.error()), 0, Time());
          }
          const double memory =
              prepared->memory ? static_cast<double>(prepared->memory->total.count()) : 0;
          const bool known = prepared->state == PointState::kDone && !prepared->varies;
          return ScreenedOf(
              prepared->state, prepared->reason, memory,
              known ? LowerBound(prepared->workload, prepared->times, prepared->more) : Time());
        }));
    for (const size_t i : members) {
      Candidate& each = result_.candidates[i];
      quick_[i].bounded = true;
      quick_[i].open = each.state == Candidate::State::kSlower;
      each.bound = std::max(each.bound, quick_[i].bound);
    }
    return OkStatus();
  }

  // Open candidates that may be among the best, the smallest bound first; of equal bounds in the
  // order given.
  std::vector<size_t> Promising() const {
    const std::optional<Time> limit = LimitOf(&Candidate::first);
    std::vector<size_t> order;
    for (size_t i = 0; i < result_.candidates.size(); ++i) {
      if (!quick_[i].open) continue;
      if (options_.exhaustive || !limit || result_.candidates[i].bound < *limit) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
      return result_.candidates[a].bound < result_.candidates[b].bound;
    });
    return order;
  }

  Status ReplayFirst(const std::string& network) {
    const auto jobs = static_cast<size_t>(options_.jobs);
    size_t bounded = 0, replayed = 0;
    for (std::vector<size_t> order = Promising(); !order.empty(); order = Promising()) {
      // Replay the front of the order if all of it has its lower bound; else work these out.
      const size_t front = std::min(order.size(), kReplaysPerJob * jobs);
      const bool known = std::all_of(order.begin(), order.begin() + static_cast<int64_t>(front),
                                     [this](size_t i) { return quick_[i].bounded; });
      if (known) {
        const size_t of = replayed + order.size();
        order.resize(front);
        RETURN_IF_ERROR(Replay(network, order, &Candidate::first, &Candidate::first_id,
                               Local("layouts over " + network, replayed, of)));
        replayed += front;
        for (const size_t i : order) quick_[i].open = false;
        continue;
      }
      std::erase_if(order, [this](size_t i) { return quick_[i].bounded; });
      const size_t of = bounded + order.size();
      order.resize(std::min(order.size(), kBoundsPerJob * jobs));
      RETURN_IF_ERROR(Bound(order, bounded, of));
      bounded += order.size();
    }
    ForgetSurplus(&Candidate::first, &Candidate::first_id);
    return OkStatus();
  }

  Status ReplaySecond(const std::string& network) {
    const std::vector<size_t> order = WithinMargin();
    const size_t round = kReplaysPerJob * static_cast<size_t>(options_.jobs);
    for (size_t begin = 0; begin < order.size();) {
      const std::optional<Time> limit = LimitOf(&Candidate::second);
      std::vector<size_t> members;
      for (; begin < order.size() && members.size() < round; ++begin) {
        const bool beaten = limit && result_.candidates[order[begin]].bound >= *limit;
        if (!beaten || options_.exhaustive) members.push_back(order[begin]);
      }
      RETURN_IF_ERROR(
          Replay(network, members, &Candidate::second, &Candidate::second_id,
                 Local("layouts over " + network, begin - members.size(), order.size())));
    }
    ForgetSurplus(&Candidate::second, &Candidate::second_id);
    return OkStatus();
  }

  // What was replayed though its bound is no better than the last wanted time depends on which
  // replays ended first, and so on the number of processes.
  void ForgetSurplus(TimeField field, IdField id) {
    const std::optional<Time> limit = LimitOf(field);
    if (options_.exhaustive || !limit) return;
    const bool first = field == &Candidate::first;
    for (size_t i = 0; i < result_.candidates.size(); ++i) {
      Candidate& each = result_.candidates[i];
      const bool early = first && quick_[i].bounded && quick_[i].bound >= *limit;
      if (!early && (each.bound < *limit || (each.*id).empty())) continue;
      each.*field = std::nullopt;
      (each.*id).clear();
      if (!first) continue;
      each.state = Candidate::State::kSlower;
      each.reason.clear();
      if (!early) continue;
      each.bound = quick_[i].bound;
      each.memory = quick_[i].memory;
    }
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

  // The time of the last of the wanted candidates; nothing if there are fewer.
  std::optional<Time> LimitOf(TimeField field) const {
    const std::vector<size_t> best = Best(field);
    return best.size() < options_.top ? std::nullopt : result_.candidates[best.back()].*field;
  }

  Status Replay(const std::string& network, const std::vector<size_t>& members, TimeField field,
                IdField id, const LocalOptions& options) {
    EvaluatorOptions evaluator = evaluator_;
    evaluator.network = network;
    ASSIGN_OR_RETURN(PointKeys keys, PointKeys::Make(evaluator));
    std::vector<WorkItem> items;
    for (const size_t member : members) {
      Candidate& candidate = result_.candidates[member];
      candidate.*id = keys.KeyOf(candidate.assignments);
      if (!store_.Read(candidate.*id)) items.push_back({candidate.*id, candidate.assignments});
    }
    ASSIGN_OR_RETURN(const LocalResult local,
                     EvaluateLocally(evaluator, store_, items, options_.pages, options));
    for (const size_t member : members) Take(local, field, id, &result_.candidates[member]);
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
    candidate->state = !record                               ? Candidate::State::kFailed
                       : record->state == PointState::kUnfit ? Candidate::State::kUnfit
                                                             : Candidate::State::kRefused;
    const auto failure = local.failures.find(candidate->*id);
    candidate->reason = record                            ? record->reason
                        : failure == local.failures.end() ? "its point was not written"
                                                          : failure->second;
  }

  const EvaluatorOptions evaluator_;
  const PointStore& store_;
  const SearchOptions& options_;
  SearchResult result_;
  std::vector<Quick> quick_;  // by candidate
};

}  // namespace

Result<SearchResult> Search(EvaluatorOptions evaluator, const std::string& first,
                            const std::string& second, const PointStore& store,
                            std::vector<std::vector<std::string>> layouts,
                            const SearchOptions& options) {
  return Searcher(std::move(evaluator), store, options).Run(first, second, std::move(layouts));
}

}  // namespace drydock
