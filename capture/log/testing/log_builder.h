// Writes logs by hand, for tests.
#ifndef DRYDOCK_CAPTURE_LOG_TESTING_LOG_BUILDER_H_
#define DRYDOCK_CAPTURE_LOG_TESTING_LOG_BUILDER_H_

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "capture/log/entry.h"

namespace drydock::capture {

class LogBuilder {
 public:
  void Name(std::string_view text) {
    std::vector<int64_t> words(2 + (text.size() + 7) / 8);
    words[0] = names_++;
    words[1] = static_cast<int64_t>(text.size());
    memcpy(&words[2], text.data(), text.size());
    Append(EntryKind::kName, words);
  }
  // The n-th entry begins after n * 10 ns, and n ns of CPU time.
  void Entry(EntryKind kind, const std::vector<int64_t>& words) { Append(kind, words); }

  std::string content() const {
    LogHeader header;
    memcpy(header.magic, kLogMagic, sizeof header.magic);
    header.bytes = entries_.size();
    header.rank = 3;
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) + entries_;
  }

 private:
  void Append(EntryKind kind, const std::vector<int64_t>& words) {
    EntryHeader header = {kind, static_cast<uint16_t>(words.size()), 100, 0, 0};
    if (kind != EntryKind::kName) {
      ++count_;
      header.wall_ns = count_ * 10;
      header.cpu_ns = count_ + 1;
    }
    entries_.append(reinterpret_cast<const char*>(&header), sizeof header);
    entries_.append(reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]);
  }

  std::string entries_;
  int64_t names_ = 0, count_ = 0;
};

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LOG_TESTING_LOG_BUILDER_H_
