#include "simccl/hacknccl/oracle/meeting.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace drydock {
namespace {

using Word = std::atomic<uint32_t>;
static_assert(sizeof(Word) == sizeof(uint32_t), "a futex is a plain word");

// Two messages of NCCL's connection set-up: 256 B for each of 64 channels in both directions.
constexpr size_t kMailBytes = 64 << 10;
// Larger records of a gather travel in pieces.
constexpr size_t kSlotBytes = 256 << 10;

void Wake(Word* word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

// Waits until *word is no longer `value`. Checks from time to time whether a rank failed.
bool WaitWhile(Word* word, uint32_t value, const Word& failed) {
  const timespec patience = {0, 50'000'000};
  while (word->load() == value) {
    if (failed.load() != 0) return false;
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAIT, value, &patience, nullptr, 0);
  }
  return true;
}

size_t Index(int number) { return static_cast<size_t>(number); }

}  // namespace

// A barrier: the last rank to arrive opens it for all.
struct Meeting::Gate {
  Word arrived;
  Word round;
};

struct Meeting::Mail {
  Word full;
  int tag;
  size_t bytes;
  char data[kMailBytes];
};

// Two gates for each rank that leads a group, a slot for each rank, and a mail box for each pair
// follow in memory.
struct Meeting::Shared {
  Word failed;
};

namespace {
constexpr size_t kHeader = 64;
}  // namespace

size_t Meeting::Bytes(int ranks) {
  const size_t n = Index(ranks);
  return kHeader + 2 * n * sizeof(Gate) + n * kSlotBytes + n * n * sizeof(Mail);
}

Meeting::Shared& Meeting::shared() const { return *static_cast<Shared*>(memory_); }

Meeting::Gate& Meeting::gate(const Group& group) const {
  auto* gates = reinterpret_cast<Gate*>(static_cast<char*>(memory_) + kHeader);
  return gates[2 * Index(group.ranks.front()) + (group.of_host ? 1 : 0)];
}

char* Meeting::slot(int rank) const {
  return static_cast<char*>(memory_) + kHeader + 2 * Index(ranks_) * sizeof(Gate) +
         Index(rank) * kSlotBytes;
}

Meeting::Mail& Meeting::mail(int from, int to) const {
  auto* boxes = reinterpret_cast<Mail*>(slot(ranks_));
  return boxes[Index(from) * Index(ranks_) + Index(to)];
}

void Meeting::Fail() { shared().failed.store(1); }

bool Meeting::Pass(Gate* gate, size_t members) {
  const uint32_t round = gate->round.load();
  if (gate->arrived.fetch_add(1) + 1 < members) {
    return WaitWhile(&gate->round, round, shared().failed);
  }
  gate->arrived.store(0);
  gate->round.fetch_add(1);
  Wake(&gate->round);
  return shared().failed.load() == 0;
}

bool Meeting::Barrier(const Group& group) { return Pass(&gate(group), group.ranks.size()); }

bool Meeting::AllGather(const Group& group, void* data, size_t bytes) {
  const size_t members = group.ranks.size();
  const auto rank_of = [&group](size_t i) { return group.ranks[i]; };
  char* records = static_cast<char*>(data);
  for (size_t done = 0; done < bytes; done += kSlotBytes) {
    const size_t piece = std::min(kSlotBytes, bytes - done);
    for (size_t i = 0; i < members; ++i) {
      if (rank_of(i) == rank_) memcpy(slot(rank_), records + i * bytes + done, piece);
    }
    if (!Barrier(group)) return false;
    for (size_t i = 0; i < members; ++i) {
      if (rank_of(i) != rank_) memcpy(records + i * bytes + done, slot(rank_of(i)), piece);
    }
    if (!Barrier(group)) return false;
  }
  return true;
}

bool Meeting::Send(int to, int tag, const void* data, size_t bytes) {
  Mail& box = mail(rank_, to);
  if (bytes > kMailBytes || !WaitWhile(&box.full, 1, shared().failed)) return false;
  box.tag = tag;
  box.bytes = bytes;
  if (bytes > 0) memcpy(box.data, data, bytes);
  box.full.store(1);
  Wake(&box.full);
  return true;
}

bool Meeting::Receive(int from, int tag, void* data, size_t bytes) {
  Mail& box = mail(from, rank_);
  if (!WaitWhile(&box.full, 0, shared().failed)) return false;
  const bool expected = box.tag == tag && box.bytes == bytes;
  if (expected && bytes > 0) memcpy(data, box.data, bytes);
  box.full.store(0);
  Wake(&box.full);
  return expected;
}

}  // namespace drydock
