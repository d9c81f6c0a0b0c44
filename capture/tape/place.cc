#include "capture/tape/place.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <tuple>

namespace drydock::capture {
namespace {

constexpr std::string_view kStep = "Optimizer.step#";
// Around a node of autograd and what the engine does for it, such as sums and hooks.
constexpr std::string_view kEvaluation = "autograd::engine::evaluate_function";

bool IsStep(const OperatorRange& range) {
  return range.kind == RangeKind::kScope && range.name.starts_with(kStep);
}
bool IsEvaluation(const OperatorRange& range) {
  return range.kind == RangeKind::kOperator && range.name.starts_with(kEvaluation);
}
bool RecordsGradients(const OperatorRange& range) {
  return range.kind == RangeKind::kOperator && range.sequence >= 0 && !IsEvaluation(range);
}
// PyTorch's own node, and the node with which FSDP2 sees that a group's gradients are there.
bool HandsOver(const OperatorRange& range) {
  return range.name.ends_with("AccumulateGrad") ||
         range.name.find("RegisterPostBackward") != std::string::npos;
}

}  // namespace

void PlaceTracker::Begin(uint32_t number, const OperatorRange& range) {
  Thread& thread = threads_[number];
  thread.open.push_back({&range, thread.now});
  switch (range.kind) {
    case RangeKind::kModule:
      if (thread.modules == 0 && thread.node < 0) {
        if (range.path.empty()) microbatch_ = passes_[range.root]++;
        thread.now.microbatch = microbatch_;
      }
      // A module that is no part of another belongs to the module that calls it.
      if (thread.modules++ == 0 || !range.path.empty()) thread.now.module = &range;
      break;
    case RangeKind::kBackward:
      BeginNode(&thread);
      // A node without a number, such as that of a parameter, belongs to the node before it.
      if (const auto it = origins_.find(range.sequence); it != origins_.end()) {
        thread.now = it->second;
      }
      break;
    case RangeKind::kScope:
      if (IsStep(range)) ++thread.steps;
      break;
    case RangeKind::kOperator:
      if (IsEvaluation(range)) BeginNode(&thread);
      if (!RecordsGradients(range)) break;
      if (thread.node >= 0) ++thread.recomputes;
      origins_[range.sequence] = thread.now;
      if (thread.now.microbatch < 0) origins_[range.sequence].microbatch = microbatch_;
      break;
  }
}

void PlaceTracker::BeginNode(Thread* thread) {
  has_seen_backward_ = true;
  thread->outer_nodes.emplace_back(thread->node, thread->recomputes);
  thread->node = static_cast<int>(thread->open.size()) - 1;
  thread->recomputes = 0;
}

void PlaceTracker::End(uint32_t number) {
  Thread& thread = threads_[number];
  if (thread.open.empty()) return;
  const Frame frame = thread.open.back();
  thread.open.pop_back();
  const OperatorRange& range = *frame.range;
  if (range.kind == RangeKind::kModule) {
    --thread.modules;
    thread.now.module = frame.outer.module;
  } else if (range.kind == RangeKind::kBackward || IsEvaluation(range)) {
    // What follows on this thread, such as the node of a parameter, belongs to the same module.
    std::tie(thread.node, thread.recomputes) = thread.outer_nodes.back();
    thread.outer_nodes.pop_back();
    if (thread.modules > 0) thread.now = frame.outer;
  } else if (IsStep(range)) {
    --thread.steps;
  } else if (RecordsGradients(range) && thread.node >= 0) {
    --thread.recomputes;
  }
}

void PlaceTracker::Restart() {
  passes_.clear();
  microbatch_ = -1;
  has_seen_backward_ = false;
}

PlaceTracker::Here PlaceTracker::HereOf(uint32_t number) const {
  Here here;
  const auto it = threads_.find(number);
  if (it == threads_.end()) return here;
  const Thread& thread = it->second;
  here.module = thread.now.module;
  here.microbatch = thread.now.microbatch;
  here.in_step = thread.steps > 0 && thread.modules == 0;
  if (thread.node >= 0) {
    here.in_recompute = thread.recomputes > 0;
    here.in_backward = !here.in_recompute;
    here.syncs = HandsOver(*thread.open[static_cast<size_t>(thread.node)].range);
  } else if (thread.modules == 0) {
    here.module = nullptr;
    here.microbatch = microbatch_;
  }
  return here;
}

std::string PathInLayer(const OperatorRange& module) {
  std::string_view path = module.path;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('.'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const bool is_number =
        std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c); });
    if (is_number) return std::string(rest);
  }
  // Wrappers (DDP, mixed precision) call what they wrap "module".
  while (path == "module" || path.starts_with("module.")) {
    path.remove_prefix(std::min<size_t>(path.size(), 7));
  }
  return std::string(path);
}

}  // namespace drydock::capture
