// Finds the fastest layouts of a space without replaying all of it.
//
//   all layouts ─► possible? ─► least memory, least time ─► memory, lower bound
//                                                            ─► analytical ─► fluid network
//
// The layout with the least time so far goes on to the next step. When that time is no better than
// the time of the last of the wanted layouts, all others are slower: those found are the best,
// proven (lower_bound.h). The fluid network then replays those within a margin.
#ifndef DRYDOCK_STUDY_SEARCH_SEARCH_H_
#define DRYDOCK_STUDY_SEARCH_SEARCH_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "study/evaluate/evaluator.h"
#include "study/points/point_store.h"
#include "study/workers/local_workers.h"

namespace drydock {

struct SearchOptions {
  size_t top = 5;           // layouts to find
  double margin = 0.05;     // of the last wanted layout's time: what the second network replays
  bool exhaustive = false;  // replay every layout that fits, whatever its bound
  bool pages = true;
  int jobs = 1;
  std::function<void(const std::string& stage, size_t done, size_t of)> progress;
};

struct Candidate {
  enum class State : uint8_t { kRefused, kUnfit, kSlower, kReplayed, kFailed };
  std::vector<std::string> assignments;  // all values, those of the study first
  State state = State::kSlower;
  std::string reason;               // of kRefused, kUnfit and kFailed
  double memory = 0;                // bytes of the fullest GPU; 0: unknown
  Time bound;                       // 0: unknown
  std::string first_id, second_id;  // points of the two networks; "": not replayed
  std::optional<Time> first, second;
};

struct SearchResult {
  std::vector<Candidate> candidates;  // as given
  std::vector<size_t> best;           // indices, the fastest first, at most `top`
  size_t replayed_first = 0, replayed_second = 0;
};

// `first` and `second` name the networks; equal: there is no second round. `store` keeps points, so
// a search that was killed goes on. The result is the same for any number of jobs. Errors: this
// machine fails.
Result<SearchResult> Search(EvaluatorOptions evaluator, const std::string& first,
                            const std::string& second, const PointStore& store,
                            std::vector<std::vector<std::string>> layouts,
                            const SearchOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_SEARCH_SEARCH_H_
