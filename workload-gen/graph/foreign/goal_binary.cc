#include "workload-gen/graph/foreign/goal_binary.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "workload-gen/graph/foreign/import.h"

namespace drydock {
namespace {

constexpr uint64_t kMagic = 4223;
constexpr size_t kMagicBytes = 8, kCountBytes = 6, kJumpBytes = 16, kOpBytes = 39;
constexpr uint64_t kMaxRanks = 1 << 20;

// REQUIRES: the number lies within `content`.
template <typename Number>
Number ReadAt(const std::string& content, size_t at) {
  Number number = 0;
  for (size_t i = 0; i < sizeof(Number); ++i) {
    number |= static_cast<Number>(static_cast<Number>(static_cast<unsigned char>(content[at + i]))
                                  << (8 * i));
  }
  return number;
}

class BinaryReader {
 public:
  BinaryReader(const std::string& content, const std::string& path)
      : content_(content), path_(path) {}

  Result<std::string> Text() {
    if (content_.size() < kMagicBytes + kCountBytes) return Cut();
    ranks_ = ReadAt<uint32_t>(content_, kMagicBytes);
    if (ranks_ < 1 || ranks_ > kMaxRanks) {
      return Fail(fmt::format("the number of ranks, {}, is not from 1 to {}", ranks_, kMaxRanks));
    }
    uint64_t next = kCountBytes + kJumpBytes * ranks_;
    if (content_.size() - kMagicBytes < next) return Cut();
    text_ = fmt::format("num_ranks {}\n", ranks_);
    for (rank_ = 0; rank_ < ranks_; ++rank_) {
      const size_t jump = kMagicBytes + kCountBytes + kJumpBytes * rank_;
      const auto begin = ReadAt<uint64_t>(content_, jump);
      const auto end = ReadAt<uint64_t>(content_, jump + 8);
      if (begin != next || end < begin) {
        return Fail(fmt::format("rank {} does not begin where the one before it ends", rank_));
      }
      if (end > content_.size() - kMagicBytes) return Cut();
      RETURN_IF_ERROR(ReadRank(kMagicBytes + begin, kMagicBytes + end));
      next = end;
    }
    return std::move(text_);
  }

 private:
  Error Fail(const std::string& what) const { return Error(what, {path_, 0, 0}); }
  Error Cut() const { return Fail("the binary schedule ends too early: it is damaged or cut"); }

  Status ReadRank(size_t begin, size_t end) {
    if (end - begin < 8) return Cut();
    const uint64_t ops = ReadAt<uint32_t>(content_, begin);
    const uint64_t first = begin + 8 + 4 * uint64_t{ReadAt<uint32_t>(content_, begin + 4)};
    const uint64_t dependents = first + kOpBytes * ops;
    if (dependents > end) return Cut();
    total_ops_ += ops;
    if (total_ops_ > kMaxForeignOps) {
      return Fail(fmt::format("there are more than {} ops", kMaxForeignOps));
    }
    text_ += fmt::format("rank {} {{\n", rank_);
    for (uint64_t op = 0; op < ops; ++op) RETURN_IF_ERROR(ReadOp(first + kOpBytes * op, op));
    // Dependents stand in the order of the ops, so their list is read once.
    uint64_t read = 0;
    for (uint64_t op = 0; op < ops; ++op) {
      const size_t counts = first + kOpBytes * op + 23;
      for (const char* word : {"requires", "irequires"}) {
        const size_t at = counts + (word[0] == 'i' ? 8 : 0);
        const uint64_t count = ReadAt<uint32_t>(content_, at);
        if (count > 0 && ReadAt<uint32_t>(content_, at + 4) != read) {
          return Fail(
              fmt::format("op {} of rank {} does not name the dependents that follow those "
                          "of the op before it",
                          op, rank_));
        }
        if (count > (end - dependents) / 4 - read) return Cut();
        for (uint64_t i = 0; i < count; ++i, ++read) {
          const uint64_t dependent = ReadAt<uint32_t>(content_, dependents + 4 * read);
          if (dependent >= ops) {
            return Fail(fmt::format("op {} of rank {} has the dependent {}, but there are {} ops",
                                    op, rank_, dependent, ops));
          }
          text_ += fmt::format("l{} {} l{}\n", dependent, word, op);
        }
      }
    }
    text_ += "}\n";
    return OkStatus();
  }

  Status ReadOp(size_t at, uint64_t op) {
    const auto kind = static_cast<unsigned char>(content_[at + 4]);
    const auto peer = ReadAt<uint32_t>(content_, at + 5);
    const auto size = ReadAt<uint64_t>(content_, at + 9);
    const auto tag = ReadAt<uint32_t>(content_, at + 17);
    const int cpu = static_cast<unsigned char>(content_[at + 21]);
    const int nic = static_cast<unsigned char>(content_[at + 22]);
    if (kind == 3) {
      text_ += fmt::format("l{}: calc {} cpu {}\n", op, size, cpu);
      return OkStatus();
    }
    if (kind != 1 && kind != 2) {
      return Fail(fmt::format("op {} of rank {} has the kind {}, which is not from 1 to 3", op,
                              rank_, kind));
    }
    if (peer >= ranks_ || peer == rank_) {
      return Fail(
          fmt::format("op {} of rank {} has the peer {}, which is no other rank", op, rank_, peer));
    }
    text_ +=
        fmt::format("l{}: {} {}b {} {} tag {} cpu {} nic {}\n", op, kind == 1 ? "send" : "recv",
                    size, kind == 1 ? "to" : "from", peer, tag, cpu, nic);
    return OkStatus();
  }

  const std::string& content_;
  const std::string& path_;
  std::string text_;
  uint64_t ranks_ = 0, rank_ = 0, total_ops_ = 0;
};

}  // namespace

bool IsGoalBinary(const std::string& content) {
  return content.size() >= kMagicBytes && ReadAt<uint64_t>(content, 0) == kMagic;
}

Result<std::string> GoalText(const std::string& content, const std::string& path) {
  return BinaryReader(content, path).Text();
}

}  // namespace drydock
