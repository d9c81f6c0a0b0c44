#include "exec-engine/command/progress_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace drydock {
namespace {

constexpr double kFirstEstimate = 1;  // seconds of run time that an estimate needs

// Returns the share of the run that is done: of its ops, or of its simulated time if that is
// larger.
double Share(const Progress::Snapshot& at) {
  const double ops =
      at.all_ops == 0 ? 1 : static_cast<double>(at.ops) / static_cast<double>(at.all_ops);
  if (at.until == Time::Max()) return ops;
  return std::min(1.0, std::max(ops, at.now.seconds() / at.until.seconds()));
}

std::string Rate(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.1f} M events/s", per_second * 1e-6);
  return fmt::format("{:.0f} k events/s", per_second * 1e-3);
}

std::string Left(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s left", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min left", seconds / 60);
  return fmt::format("{:.1f} h left", seconds / 3600);
}

// Text of limited length, composed without allocation.
class Line {
 public:
  explicit Line(char (&text)[kBriefProgressSize]) : text_(text) {}

  Line& operator<<(const char* words) {
    for (; *words != 0 && size_ < kBriefProgressSize; ++words) text_[size_++] = *words;
    return *this;
  }
  // Pads with zeros to `digits`.
  Line& Number(int64_t number, int digits = 1) {
    char reversed[20];
    int count = 0;
    for (; (number > 0 || count < digits) && count < 20; number /= 10) {
      reversed[count++] = static_cast<char>('0' + number % 10);
    }
    while (count > 0 && size_ < kBriefProgressSize) text_[size_++] = reversed[--count];
    return *this;
  }
  size_t size() const { return size_; }

 private:
  char* text_;
  size_t size_ = 0;
};

}  // namespace

std::string ProgressText(const Progress::Snapshot& at, double seconds) {
  const double share = Share(at);
  std::string out = fmt::format("{:.0f} %, {} simulated, {} of {} ops", share * 100,
                                ToString(at.now), at.ops, at.all_ops);
  if (seconds < kFirstEstimate) return out;
  out += ", " + Rate(static_cast<double>(at.events) / seconds);
  if (share > 0) out += ", " + Left(seconds / share * (1 - share));
  return out;
}

size_t WriteBriefProgress(const Progress::Snapshot& at, char (&text)[kBriefProgressSize]) {
  constexpr int64_t kPsInMs = 1'000'000'000, kPsInUs = 1'000'000;
  Line line(text);
  line.Number(at.ops) << " of ";
  line.Number(at.all_ops) << " ops done, ";
  line.Number(at.now.ps() / kPsInMs) << ".";
  line.Number(at.now.ps() % kPsInMs / kPsInUs, 3) << " ms simulated";
  return line.size();
}

}  // namespace drydock
