#include "capture/tape/gpu_work.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "capture/kernels/attention.h"
#include "capture/kernels/known_operators.h"
#include "capture/kernels/traffic.h"
#include "core/model/attention_backend.h"

namespace drydock::capture {
namespace {

// "aten::mm" is "mm".
std::string_view ShortOperatorName(std::string_view name) {
  const size_t colon = name.rfind("::");
  return colon == std::string_view::npos ? name : name.substr(colon + 2);
}

bool HasTensors(const OperatorRange& range, const OperatorValues& outputs) {
  return FirstTensor(range.arguments) != nullptr || FirstTensor(outputs) != nullptr;
}

constexpr size_t kBlocksX = 1;  // words of kLaunch

void Estimate(std::string kernel, Bytes bytes, GpuWork* work) {
  work->estimated_as = std::move(kernel);
  work->estimated_bytes = bytes;
}

}  // namespace

std::string ShortKernelName(std::string_view symbol) {
  std::string name(symbol);
  int status = 0;
  char* readable = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  if (readable != nullptr) name = readable;
  std::free(readable);
  const std::string anonymous = "(anonymous namespace)::";
  for (size_t at = name.find(anonymous); at != std::string::npos; at = name.find(anonymous)) {
    name.erase(at, anonymous.size());
  }
  name = name.substr(0, name.find_first_of("<("));
  if (name.starts_with("void ")) name.erase(0, 5);
  return name;
}

void GpuWorkReader::Begin(uint32_t number, const OperatorRange& range) {
  Thread& thread = threads_[number];
  const bool is_known = thread.known < 0 && IsKnownOperator(range.name);
  if (is_known) thread.known = static_cast<int>(thread.open.size());
  thread.open.push_back({&range, is_known, {}});
}

void GpuWorkReader::End(uint32_t number, int64_t outputs) {
  Thread& thread = threads_[number];
  if (thread.open.empty()) return;
  Frame frame = std::move(thread.open.back());
  thread.open.pop_back();
  if (frame.is_known) thread.known = -1;
  if (frame.works.empty()) return;
  Close(&frame, ranges_.OutputsOf(outputs),
        thread.open.empty() ? &thread.works : &thread.open.back().works);
}

// What an operator without tensors asks for belongs to the one around it.
void GpuWorkReader::Close(Frame* frame, const OperatorValues& outputs, std::vector<size_t>* outer) {
  if (frame->is_known && ReplaceByKnown(*frame)) return;
  if (frame->range->kind == RangeKind::kOperator && HasTensors(*frame->range, outputs)) {
    Translate(frame->range, outputs, frame->works);
  } else {
    outer->insert(outer->end(), frame->works.begin(), frame->works.end());
  }
}

bool GpuWorkReader::ReplaceByKnown(const Frame& frame) {
  std::vector<Submodule> submodules = KnownSubmodules(*frame.range);
  if (submodules.empty()) return false;
  GpuWork& first = works_[frame.works.front()];
  first.estimated_as.clear();
  if (const char* backend = AttentionBackendOf(frame.range->name)) {
    if (submodules.front().Is<submodule::Attention>()) {
      attention_flops_[backend] += submodules.front().flops;
    } else {
      Estimate(frame.range->name, submodules.front().bytes, &first);
    }
  }
  first.submodules = std::move(submodules);
  SetName(&first, frame.range);
  for (size_t i = 1; i < frame.works.size(); ++i) works_[frame.works[i]].is_dropped = true;
  return true;
}

std::string GpuWorkReader::AttentionBackend() const {
  const auto most =
      std::max_element(attention_flops_.begin(), attention_flops_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == attention_flops_.end() ? "" : most->first;
}

size_t GpuWorkReader::Add(const LogEntry& entry, const PlaceTracker::Here& here) {
  const size_t number = works_.size();
  GpuWork& work = works_.emplace_back();
  work.kind = entry.kind;
  work.is_backward = here.in_backward;
  work.module = here.module;
  switch (entry.kind) {
    case EntryKind::kLaunch:
      work.kernel = entry.words[0];
      work.blocks = entry.words[kBlocksX] * entry.words[kBlocksX + 1] * entry.words[kBlocksX + 2];
      break;
    case EntryKind::kProduct:
      work.product = ProductOf(entry.words);
      break;
    case EntryKind::kAttention:
      work.submodules = {LoggedAttention(entry.words)};
      attention_flops_[kAttentionByCudnn] += work.submodules.front().flops;
      break;
    case EntryKind::kConvolution:
      work.submodules = {LoggedConvolution(entry.words)};
      Estimate("convolution of " + std::string(log_.name(entry.words[0])),
               work.submodules.front().bytes, &work);
      break;
    case EntryKind::kTraffic:
      work.submodules = {TrafficSubmodule(Bytes(entry.words[2]), work.is_backward)};
      Estimate(
          std::string(log_.name(entry.words[1])) + " of " + std::string(log_.name(entry.words[0])),
          Bytes(entry.words[2]), &work);
      break;
    case EntryKind::kFill:
      work.bytes = Bytes(entry.words[0]);
      break;
    default:
      work.bytes = Bytes(entry.words[2] * 2);  // read and written
      break;
  }
  Thread& thread = threads_[entry.thread];
  if (thread.known >= 0) {
    thread.open[static_cast<size_t>(thread.known)].works.push_back(number);
  } else if (!thread.open.empty()) {
    thread.open.back().works.push_back(number);
  } else {
    thread.works.push_back(number);
  }
  return number;
}

void GpuWorkReader::Finish() {
  for (auto& [_, thread] : threads_) {
    while (!thread.open.empty()) {
      Frame frame = std::move(thread.open.back());
      thread.open.pop_back();
      if (frame.works.empty()) continue;
      Close(&frame, {}, thread.open.empty() ? &thread.works : &thread.open.back().works);
    }
    Translate(nullptr, {}, thread.works);
    thread.works.clear();
    thread.known = -1;
  }
}

// What an operator reads and writes and its products do not is left to its launches.
void GpuWorkReader::Translate(const OperatorRange* range, const OperatorValues& outputs,
                              const std::vector<size_t>& works) {
  std::vector<int64_t> blocks;
  Bytes left = range != nullptr ? TrafficOf(*range, outputs) : Bytes();
  for (const size_t number : works) {
    GpuWork& work = works_[number];
    SetName(&work, range);
    if (work.kind == EntryKind::kLaunch) {
      blocks.push_back(work.blocks);
      continue;
    }
    if (work.product.has_value()) {
      const LoggedProduct& p = *work.product;
      // A product without extents does nothing.
      work.is_dropped = std::min({p.m, p.n, p.k, p.batch}) <= 0;
      if (!work.is_dropped) work.submodules = {ProductSubmodule(p, work.is_backward)};
    }
    if (work.submodules.empty() && !work.is_dropped) {
      work.submodules = {TrafficSubmodule(work.bytes, work.is_backward)};  // a fill or a copy
    } else {
      for (const Submodule& submodule : work.submodules) left -= std::min(left, submodule.bytes);
    }
  }
  std::vector<Bytes> parts(blocks.size());
  if (range != nullptr) parts = DealOut(*range, left, blocks);
  size_t launch = 0;
  for (const size_t number : works) {
    GpuWork& work = works_[number];
    if (work.kind != EntryKind::kLaunch) continue;
    const Bytes bytes = parts[launch++];
    work.submodules = {TrafficSubmodule(bytes, work.is_backward)};
    std::string key = ShortKernelName(log_.name(work.kernel));
    if (range != nullptr) key += " of " + range->name;
    Estimate(std::move(key), bytes, &work);
    work.is_unknown = range == nullptr;
  }
}

void GpuWorkReader::SetName(GpuWork* work, const OperatorRange* range) const {
  if (work->module != nullptr) work->name = PathInLayer(*work->module);
  std::string own;
  if (range != nullptr) {
    own = ShortOperatorName(range->name);
  } else if (work->kernel >= 0) {
    own = ShortOperatorName(ShortKernelName(log_.name(work->kernel)));
  } else {
    own = FieldsOf(work->kind).name;
  }
  if (!work->name.empty()) work->name += '.';
  work->name += own;
}

}  // namespace drydock::capture
