#include "study/workers/local_workers.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "core/base/cli.h"
#include "core/base/files.h"
#include "core/schema/cluster/cluster_file.h"
#include "study/workers/shared_array.h"

namespace drydock {
namespace {

constexpr int kExitDone = 0, kExitFailed = 1;
constexpr std::chrono::milliseconds kPause(20);
constexpr size_t kMessageSize = 4096;
constexpr size_t kNoItem = SIZE_MAX;

// Items of one cluster. NCCL's settings hold for the life of a process, so each batch has processes
// of its own.
struct BatchItem {
  const WorkItem* item = nullptr;
  size_t index = 0;
};
using Batch = std::vector<BatchItem>;

std::vector<Batch> BatchesOf(const std::vector<WorkItem>& items) {
  std::map<std::vector<std::string>, size_t> batch_of;
  std::vector<Batch> batches;
  for (size_t i = 0; i < items.size(); ++i) {
    const WorkItem& item = items[i];
    std::vector<std::string> cluster;
    std::copy_if(item.assignments.begin(), item.assignments.end(), std::back_inserter(cluster),
                 IsClusterOverride);
    const auto [found, added] = batch_of.emplace(std::move(cluster), batches.size());
    if (added) batches.emplace_back();
    batches[found->second].push_back({&item, i});
  }
  return batches;
}

// What the processes share.
struct Board {
  std::atomic<size_t> done{0};
  std::atomic<bool> failed{false};
  char message[kMessageSize] = {}, file[kMessageSize] = {};  // of the first failure
  std::atomic<int64_t> clusters_read{0}, clusters_shared{0}, plans_made{0}, plans_shared{0};
};

void EndOnSignal(int signal) {
  RemoveUnfinishedFiles();
  ::_exit(128 + signal);
}

void Fail(const Error& error, Board* board) {
  if (board->failed.exchange(true)) return;
  const auto copy = [](const std::string& text, char* to) {
    memcpy(to, text.data(), std::min(text.size(), kMessageSize - 1));
  };
  copy(error.message(), board->message);
  copy(error.diagnostics().front().location.file, board->file);
}

// The life of a process. `current`: the item that it works on.
[[noreturn]] void Work(pid_t parent, const EvaluatorOptions& options, const LocalTask& task,
                       const Batch& batch, std::atomic<size_t>* next, std::atomic<size_t>* current,
                       Board* board) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kExitFailed);  // it died before it could be watched
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, EndOnSignal);
  Result<std::unique_ptr<Evaluator>> evaluator = Evaluator::Make(options);
  if (!evaluator.ok()) {
    Fail(evaluator.error(), board);
    ::_exit(kExitFailed);
  }
  while (!board->failed) {
    const size_t i = next->fetch_add(1);
    if (i >= batch.size()) break;
    *current = i;
    const Status done = task(evaluator->get(), *batch[i].item, batch[i].index);
    *current = kNoItem;
    if (!done.ok()) {
      Fail(done.error(), board);
      ::_exit(kExitFailed);
    }
    ++board->done;
  }
  const Shared shared = (*evaluator)->shared();
  board->clusters_read += shared.clusters_read;
  board->clusters_shared += shared.clusters_shared;
  board->plans_made += shared.plans_made;
  board->plans_shared += shared.plans_shared;
  ::_exit(kExitDone);
}

std::string HowItEnded(int told) {
  if (WIFSIGNALED(told)) {
    const int signal = WTERMSIG(told);
    return fmt::format("its process was ended by signal {} ({}){}", signal, strsignal(signal),
                       signal == SIGKILL ? ", as for want of memory" : "");
  }
  return fmt::format("its process ended with status {}", WEXITSTATUS(told));
}

class Workers {
 public:
  Workers(const EvaluatorOptions& evaluator, const LocalTask& task, std::vector<Batch> batches,
          const LocalOptions& options)
      : evaluator_(evaluator),
        task_(task),
        batches_(std::move(batches)),
        options_(options),
        board_(1),
        next_(batches_.size()),
        current_(static_cast<size_t>(options.jobs)),
        pids_(static_cast<size_t>(options.jobs)),
        batch_of_(static_cast<size_t>(options.jobs)) {}

  Result<LocalResult> Run() {
    if (!board_.ok() || !next_.ok() || !current_.ok()) {
      return Error(fmt::format("not enough memory for {} processes", options_.jobs));
    }
    for (bool busy = true; busy;) {
      busy = false;
      for (size_t slot = 0; slot < pids_.size(); ++slot) {
        if (pids_[slot] > 0) Reap(slot);
        if (pids_[slot] <= 0 && !board_[0].failed) RETURN_IF_ERROR(Start(slot));
        busy |= pids_[slot] > 0;
      }
      if (options_.progress) options_.progress(board_[0].done + result_.failures.size());
      if (busy) std::this_thread::sleep_for(kPause);
    }
    if (board_[0].failed) return Error(board_[0].message, {board_[0].file, 0, 0});
    const Board& board = board_[0];
    result_.shared = {board.clusters_read, board.clusters_shared, board.plans_made,
                      board.plans_shared};
    return std::move(result_);
  }

 private:
  // Starts a process on the first batch that has work left.
  Status Start(size_t slot) {
    while (first_open_ < batches_.size() && next_[first_open_] >= batches_[first_open_].size()) {
      ++first_open_;
    }
    if (first_open_ == batches_.size()) return OkStatus();
    current_[slot] = kNoItem;
    batch_of_[slot] = first_open_;
    fflush(nullptr);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) return Error(fmt::format("cannot start a process: {}", strerror(errno)));
    if (child == 0) {
      Work(parent, evaluator_, task_, batches_[first_open_], &next_[first_open_], &current_[slot],
           board_.data());
    }
    pids_[slot] = child;
    return OkStatus();
  }

  void Reap(size_t slot) {
    int told = 0;
    if (::waitpid(pids_[slot], &told, WNOHANG) == 0) return;
    pids_[slot] = 0;
    const size_t item = current_[slot];
    if (item == kNoItem) return;
    const Batch& batch = batches_[batch_of_[slot]];
    result_.failures[batch[item].item->id] = HowItEnded(told);
  }

  const EvaluatorOptions& evaluator_;
  const LocalTask& task_;
  const std::vector<Batch> batches_;
  const LocalOptions& options_;
  SharedArray<Board> board_;
  SharedArray<std::atomic<size_t>> next_;     // by batch
  SharedArray<std::atomic<size_t>> current_;  // by slot
  std::vector<pid_t> pids_;                   // by slot; 0: none
  std::vector<size_t> batch_of_;
  size_t first_open_ = 0;
  LocalResult result_;
};

}  // namespace

Result<LocalResult> WorkLocally(const EvaluatorOptions& evaluator,
                                const std::vector<WorkItem>& items, const LocalOptions& options,
                                const LocalTask& task) {
  if (items.empty()) return LocalResult();
  return Workers(evaluator, task, BatchesOf(items), options).Run();
}

Result<LocalResult> EvaluateLocally(const EvaluatorOptions& evaluator, const PointStore& store,
                                    const std::vector<WorkItem>& items, bool pages,
                                    const LocalOptions& options) {
  return WorkLocally(
      evaluator, items, options, [&](Evaluator* own, const WorkItem& item, size_t) -> Status {
        ASSIGN_OR_RETURN(const Evaluation evaluation, own->Evaluate(item.assignments));
        return store.Write(item.id, item.assignments, evaluation, pages);
      });
}

}  // namespace drydock
