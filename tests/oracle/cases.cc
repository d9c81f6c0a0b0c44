// The calls of the ranks of a communicator.
#include "tests/oracle/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace drydock {
namespace {

std::string SizeText(int64_t bytes) {
  if (bytes >= 1 << 20) return fmt::format("{} MiB", bytes >> 20);
  return fmt::format("{} KiB", bytes >> 10);
}

struct Element {
  const char* name;
  int type;
  int bytes;
};
constexpr Element kFloat16 = {"float16", HACKNCCL_FLOAT16, 2};
constexpr Element kInt8 = {"int8", HACKNCCL_INT8, 1};
constexpr Element kFloat8 = {"float8", HACKNCCL_FLOAT8_E4M3, 1};

struct Function {
  const char* name;
  int function;
  bool has_parts;  // counts per rank
};
constexpr std::array kCollectives = {Function{"all-reduce", HACKNCCL_ALL_REDUCE, false},
                                     Function{"all-gather", HACKNCCL_ALL_GATHER, true},
                                     Function{"reduce-scatter", HACKNCCL_REDUCE_SCATTER, true},
                                     Function{"broadcast", HACKNCCL_BROADCAST, false},
                                     Function{"reduce", HACKNCCL_REDUCE, false}};
constexpr std::array kExchanges = {Function{"all-to-all", HACKNCCL_ALL_TO_ALL, true},
                                   Function{"gather", HACKNCCL_GATHER, true},
                                   Function{"scatter", HACKNCCL_SCATTER, true}};

hacknccl_call Call(const Function& function, const Element& element, int64_t bytes, int ranks) {
  const int64_t parts = function.has_parts ? ranks : 1;
  const int64_t count = std::max<int64_t>(1, bytes / element.bytes / parts);
  return {
      function.function, element.type, HACKNCCL_SUM, ranks - 1, static_cast<uint64_t>(count), 0};
}

OracleStep StepOf(const Function& function, const Element& element, int64_t bytes, int ranks) {
  const hacknccl_call call = Call(function, element, bytes, ranks);
  return {fmt::format("{} {} {}", function.name, element.name, SizeText(bytes)),
          [call](int) { return std::vector<hacknccl_call>{call}; }};
}

// On registered buffers.
OracleStep Registered(const Function& function, int64_t bytes, int ranks) {
  hacknccl_call call = Call(function, kFloat16, bytes, ranks);
  call.buffers = HACKNCCL_BUFFERS_REGISTERED;
  return {fmt::format("{} {}, registered", function.name, SizeText(bytes)),
          [call](int) { return std::vector<hacknccl_call>{call}; }};
}

OracleStep Shift(int64_t bytes, int distance, int ranks) {
  return {fmt::format("shift by {} of {}", distance, SizeText(bytes)), [=](int rank) {
            return std::vector<hacknccl_call>{
                SendTo((rank + distance) % ranks, bytes),
                ReceiveFrom((rank - distance + ranks) % ranks, bytes)};
          }};
}

// Only the first and the last rank exchange messages.
OracleStep Pair(int64_t bytes, int ranks) {
  return {fmt::format("message of {}", SizeText(bytes)), [=](int rank) {
            std::vector<hacknccl_call> calls;
            if (rank == 0) calls.push_back(SendTo(ranks - 1, bytes));
            if (rank == ranks - 1) calls.push_back(ReceiveFrom(0, bytes));
            return calls;
          }};
}

// Each rank sends each other rank a different amount, and nothing to some.
OracleStep UnevenAllToAll(int64_t unit, int ranks) {
  const auto bytes = [=](int from, int to) { return unit * ((from * 3 + to * 5) % 7); };
  return {fmt::format("uneven all-to-all of {}", SizeText(unit)), [=](int rank) {
            std::vector<hacknccl_call> calls;
            for (int peer = 0; peer < ranks; ++peer) {
              if (peer == rank) continue;
              if (bytes(rank, peer) > 0) calls.push_back(SendTo(peer, bytes(rank, peer)));
              if (bytes(peer, rank) > 0) calls.push_back(ReceiveFrom(peer, bytes(peer, rank)));
            }
            return calls;
          }};
}

// A collective and messages in one group.
OracleStep Mixed(int64_t bytes, int ranks) {
  const OracleStep shift = Shift(bytes, 1, ranks);
  const hacknccl_call all_reduce = Call(kCollectives[0], kFloat16, bytes, ranks);
  return {fmt::format("all-reduce and shift of {}", SizeText(bytes)), [=](int rank) {
            std::vector<hacknccl_call> calls = shift.calls(rank);
            calls.push_back(all_reduce);
            return calls;
          }};
}

// Collectives of several sizes, broadcasts with several roots, and messages, two to the same rank.
OracleStep Bundle(int64_t bytes, int ranks) {
  const OracleStep shift = Shift(bytes, 1, ranks);
  const OracleStep again = Shift(bytes / 4, 1, ranks);
  std::vector<hacknccl_call> collectives;
  for (const int64_t size : {bytes, 16 * bytes, 3 * bytes}) {
    collectives.push_back(Call(kCollectives[0], kFloat16, size, ranks));
    collectives.push_back(Call(kCollectives[3], kFloat16, size, ranks));
    collectives.back().root = static_cast<int>(size % 7) % ranks;
  }
  collectives.push_back(Call(kCollectives[1], kFloat16, 2 * bytes, ranks));
  return {fmt::format("group of {}", SizeText(bytes)), [=](int rank) {
            std::vector<hacknccl_call> calls = shift.calls(rank);
            calls.insert(calls.end(), collectives.begin(), collectives.end());
            for (const hacknccl_call& call : again.calls(rank)) calls.push_back(call);
            return calls;
          }};
}

// NCCL adds eight-bit floats from compute capability 9.0 on.
bool KnowsFloat8(const OracleCase& of) {
  return std::all_of(of.host_classes.begin(), of.host_classes.end(),
                     [](const NcclHost& host) { return host.compute_capability >= 90; });
}

}  // namespace

std::vector<OracleStep> OracleSteps(const OracleCase& of, int ranks, bool full) {
  constexpr int64_t kKi = 1 << 10, kMi = 1 << 20;
  const std::vector<int64_t> sizes =
      full ? std::vector<int64_t>{kKi,     8 * kKi,  64 * kKi, 256 * kKi, kMi,
                                  4 * kMi, 16 * kMi, 64 * kMi, 256 * kMi, 1024 * kMi}
           : std::vector<int64_t>{kKi, 64 * kKi, 2 * kMi, 32 * kMi, 1024 * kMi};
  std::vector<OracleStep> steps;
  for (const Function& function : kCollectives) {
    for (const int64_t bytes : sizes) steps.push_back(StepOf(function, kFloat16, bytes, ranks));
    for (const Element& element : {kInt8, kFloat8}) {
      if (element.type == HACKNCCL_FLOAT8_E4M3 && !KnowsFloat8(of)) continue;
      steps.push_back(StepOf(function, element, kMi, ranks));
      steps.push_back(StepOf(function, element, 256 * kMi, ranks));
    }
  }
  for (const int64_t bytes : {64 * kKi, 64 * kMi}) {
    for (const Function& function : kCollectives)
      steps.push_back(Registered(function, bytes, ranks));
    steps.push_back(Registered(kExchanges[0], bytes, ranks));
  }
  for (const int64_t bytes : {kKi, 512 * kKi, 64 * kMi}) {
    for (const Function& function : kExchanges) {
      steps.push_back(StepOf(function, kFloat16, bytes, ranks));
    }
    steps.push_back(Shift(bytes, 1, ranks));
    steps.push_back(Shift(bytes, ranks / 2, ranks));
    steps.push_back(Pair(bytes, ranks));
    steps.push_back(UnevenAllToAll(bytes, ranks));
    steps.push_back(Mixed(bytes, ranks));
    steps.push_back(Bundle(bytes, ranks));
  }
  return steps;
}

}  // namespace drydock
