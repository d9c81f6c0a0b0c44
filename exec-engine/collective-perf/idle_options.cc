#include "exec-engine/collective-perf/idle_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iterator>
#include <utility>

namespace drydock {
namespace {

struct IdleOption {
  const char* letter;
  const char* names;
  const char* what;
  const char* why;
};
// The options of nccl-tests 2.13 to 2.19 (common.cu) that have no meaning here. A value of 0
// switches most of them off, but not all, so a 0 is reported as well.
constexpr IdleOption kOptions[] = {
    {"-t", "-t,--nthreads", "Threads of a process", "each thread launches on its own GPUs"},
    {"-w", "-w,--warmup_iters", "Warm-up calls", "no simulated call is cold"},
    {"-N", "-N,--run_cycles", "Cycles of the whole table", "every cycle gives the same times"},
    {"-p", "-p,--parallel_init", "Parallel creation of communicators",
     "the creation of communicators is not timed"},
    {"-c", "-c", "Checks of the data", "no data is moved, so no value can be wrong"},
    {"-y", "-y,--stream_null", "The null stream", "the calls have their stream to themselves"},
    {"-T", "-T,--timeout", "Seconds before a hang ends the test", "a simulated call cannot hang"},
    {"-C", "-C,--report_cputime", "Host time in place of GPU time",
     "the times are those of the GPUs"},
    {"-S", "-S,--report_timestamps", "A time stamp for each row",
     "the same command always prints the same"},
    {"-D", "-D,--device_implementation", "Kernels of nccl-tests in place of NCCL's",
     "the calls are NCCL's own"},
    {"-V", "-V,--device_cta_count", "Thread blocks of those kernels", "the calls are NCCL's own"},
    {"-M", "-M,--memory", "A report of the GPU's memory", "no memory is allocated"},
    {"-u", "-u,--unalign", "Misaligned buffers", "buffers are aligned"},
    {"-I", "-I,--per_iter_timing", "The time of each call",
     "the calls of a steady loop take equally long"},
    {"-K", "-K,--per_iter_skip", "Leading calls that -I leaves out",
     "the calls of a steady loop take equally long"},
};

}  // namespace

void IdleOptions::Declare(CLI::App* app) {
  for (const IdleOption& option : kOptions) {
    options_.push_back(
        app->add_option_function<int64_t>(
               option.names, [](const int64_t&) {},
               fmt::format("{}: without effect, because {}", option.what, option.why))
            ->type_name("N"));
  }
}

void IdleOptions::Add(std::string typed, const std::string& why) {
  added_.push_back(std::move(typed) + ": " + why);
}

std::vector<std::string> IdleOptions::Given() const {
  std::vector<std::string> given;
  for (size_t i = 0; i < options_.size(); ++i) {
    if (options_[i]->count() == 0) continue;
    given.push_back(
        fmt::format("{} {}: {}", kOptions[i].letter, options_[i]->results()[0], kOptions[i].why));
  }
  given.insert(given.end(), added_.begin(), added_.end());
  return given;
}

}  // namespace drydock
