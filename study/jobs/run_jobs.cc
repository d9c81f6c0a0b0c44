#include "study/jobs/run_jobs.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/base/process.h"
#include "study/points/point_store.h"

namespace drydock {
namespace {

constexpr std::chrono::milliseconds kPause(1000);

// One word of a shell.
std::string Quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string Absolute(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path absolute = std::filesystem::absolute(path, failed);
  return failed ? path : absolute.lexically_normal().string();
}

// A path that exists; a name of a shipped file otherwise, which any machine finds.
std::string AbsoluteIfThere(const std::string& path) {
  return FileExists(path) ? Absolute(path) : path;
}

class Jobs {
 public:
  Jobs(const Engine& engine, JobFile all, const JobsOptions& options)
      : engine_(engine), all_(std::move(all)), options_(options), store_(all_.study) {
    all_.study = Absolute(all_.study);
    all_.evaluator.model.path = AbsoluteIfThere(all_.evaluator.model.path);
    all_.evaluator.cluster = AbsoluteIfThere(all_.evaluator.cluster);
    for (std::string& profile : all_.evaluator.gpu_profiles) profile = AbsoluteIfThere(profile);
    count_ = std::min(static_cast<size_t>(std::max(1, options.jobs)), all_.items.size());
    folder_ = all_.study + "/jobs";
    program_ = FolderOfExecutable() + "/drydock-sweep";
  }

  Result<std::map<std::string, std::string>> Run() {
    if (count_ == 0) return std::map<std::string, std::string>();
    RETURN_IF_ERROR(CheckPresent());
    RETURN_IF_ERROR(WriteFiles());
    // The engine's commands block, so progress is shown from another thread.
    std::atomic<bool> ended = false;
    sigset_t all, before;  // signals are for the thread that waits for the jobs
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread watch([&] {
      while (!ended) {
        if (options_.progress) options_.progress(Done());
        std::this_thread::sleep_for(kPause);
      }
    });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    const Result<GroupEnd> end = RunGroup({"sh", "-c", Script()});
    ended = true;
    watch.join();
    RETURN_IF_ERROR(end);
    if (end->interrupted) return Error("interrupted; the same command goes on", {folder_, 0, 0});
    return Missing(end->status);
  }

 private:
  // The program that an engine needs.
  const char* Needed() const {
    switch (engine_.kind) {
      case Engine::Kind::kSlurm:
        return "sbatch";
      case Engine::Kind::kSrun:
        return "srun";
      default:
        return "sh";
    }
  }

  Status CheckPresent() const {
    const char* const program = Needed();
    if (!FindProgram(program, ValueOf(OwnEnvironment(), "PATH")).empty()) return OkStatus();
    return Error(
        fmt::format("there is no {} on this machine: install Slurm's client (Debian: "
                    "slurm-client), or use --on local or --on command",
                    program));
  }

  // jobs/ is this tool's own: what an earlier call left there goes.
  Status WriteFiles() const {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    RETURN_IF_ERROR(MakeDirectories(folder_));
    for (size_t i = 0; i < count_; ++i) {
      JobFile job = all_;
      job.items.clear();
      for (size_t at = i; at < all_.items.size(); at += count_) job.items.push_back(all_.items[at]);
      RETURN_IF_ERROR(WriteFileAtomically(FileOf(i), JobJson(job)));
    }
    return WriteFileAtomically(
        folder_ + "/task.sh",
        fmt::format(
            "#!/bin/sh\nexec {} --job {}/\"${{SLURM_ARRAY_TASK_ID:-$SLURM_PROCID}}\".json\n",
            Quoted(program_), Quoted(folder_)));
  }

  std::string FileOf(size_t job) const { return fmt::format("{}/{}.json", folder_, job); }

  // What the shell runs. It ends with the last job, and ends the jobs on an interrupt.
  std::string Script() const {
    switch (engine_.kind) {
      case Engine::Kind::kSlurm:
        return SlurmScript();
      case Engine::Kind::kSrun:
        return fmt::format("exec srun --ntasks={} --output={} sh {}", count_,
                           Quoted(folder_ + "/%t.log"), Quoted(folder_ + "/task.sh"));
      default:
        return CommandScript();
    }
  }

  std::string SlurmScript() const {
    std::string options;
    for (const std::string& option : engine_.options) options += " " + Quoted(option);
    return fmt::format(
        "sbatch --wait --parsable --requeue --array=0-{0} --job-name=drydock-sweep --output={1}{2} "
        "{3} > {4} &\n"
        "pid=$!\n"
        "trap 'id=$(cut -d\";\" -f1 {4}); [ -z \"$id\" ] || scancel \"$id\"; exit 130' INT TERM "
        "HUP\n"
        "wait $pid\n",
        count_ - 1, Quoted(folder_ + "/%a.log"), options, Quoted(folder_ + "/task.sh"),
        Quoted(folder_ + "/slurm-id"));
  }

  std::string CommandScript() const {
    std::string script = "status=0\n";
    for (size_t i = 0; i < count_; ++i) {
      const std::string job = fmt::format("{} --job {}", Quoted(program_), Quoted(FileOf(i)));
      std::string line = engine_.command;
      for (size_t at = line.find("{job}"); at != std::string::npos;
           at = line.find("{job}", at + job.size())) {
        line.replace(at, 5, job);
      }
      script += fmt::format("( {} ) > {} 2>&1 &\npids=\"$pids $!\"\n", line,
                            Quoted(fmt::format("{}/{}.log", folder_, i)));
    }
    return script + "for pid in $pids; do wait $pid || status=1; done\nexit $status\n";
  }

  size_t Done() const {
    return static_cast<size_t>(
        std::count_if(all_.items.begin(), all_.items.end(),
                      [this](const WorkItem& item) { return store_.Read(item.id).has_value(); }));
  }

  // The last line of a job's log.
  std::string LastWords(size_t job) const {
    const Result<std::string> log = ReadFile(fmt::format("{}/{}.log", folder_, job));
    if (!log.ok()) return "it has no log";
    const size_t end = log->find_last_not_of("\n ");
    if (end == std::string::npos) return "its log is empty";
    const size_t line = log->rfind('\n', end);
    return log->substr(line == std::string::npos ? 0 : line + 1, end - (line + 1) + 1);
  }

  // Points that no job has left. A job may fail behind its last point, so the points decide.
  Result<std::map<std::string, std::string>> Missing(int status) const {
    std::map<std::string, std::string> missing;
    size_t logs = 0;
    for (size_t i = 0; i < count_; ++i) {
      logs += FileExists(fmt::format("{}/{}.log", folder_, i)) ? 1 : 0;
      for (size_t at = i; at < all_.items.size(); at += count_) {
        if (store_.Read(all_.items[at].id)) continue;
        missing[all_.items[at].id] = fmt::format("job {} did not write it: {}", i, LastWords(i));
      }
    }
    // The engine itself has printed why.
    if (!missing.empty() && logs == 0) {
      return Error(fmt::format("{} did not run the jobs (exit status {})", Needed(), status),
                   {folder_, 0, 0});
    }
    return missing;
  }

  const Engine& engine_;
  JobFile all_;
  const JobsOptions& options_;
  const PointStore store_;
  size_t count_ = 0;
  std::string folder_, program_;
};

}  // namespace

Result<std::map<std::string, std::string>> RunJobs(const Engine& engine, const JobFile& all,
                                                   const JobsOptions& options) {
  return Jobs(engine, all, options).Run();
}

}  // namespace drydock
