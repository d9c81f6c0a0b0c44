// "Is the memory of a pretended GPU as large as that of the real one, and what is kept in it?"
#include "capture/hackcuda/device/memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "capture/hackcuda/testing/pretended.h"

namespace drydock::hackcuda {
namespace {

using capture::Side;

constexpr size_t kMiB = size_t{1} << 20;

TEST(Memory, ADeviceIsFullAtItsSize) {
  SetDevice(0);
  EXPECT_EQ(UsableMemory(), static_cast<size_t>(kTestMemory - kTestContext));
  EXPECT_EQ(AllocateDevice(UsableMemory() + 1), nullptr);
  void* most = AllocateDevice(UsableMemory() - 4 * kMiB);
  ASSERT_NE(most, nullptr);
  void* rest = AllocateDevice(3 * kMiB);  // pages of 2 MiB
  ASSERT_NE(rest, nullptr);
  EXPECT_EQ(AllocateDevice(1), nullptr);
  EXPECT_TRUE(FreeDevice(most));
  EXPECT_FALSE(FreeDevice(most));
  void* again = AllocateDevice(UsableMemory() - 4 * kMiB);
  EXPECT_EQ(again, most);
  EXPECT_TRUE(FreeDevice(again));
  EXPECT_TRUE(FreeDevice(rest));
  EXPECT_EQ(UsedMemory(0), 0u);
}

TEST(Memory, DevicesAreApart) {
  SetDevice(0);
  void* first = AllocateDevice(kMiB);
  SetDevice(1);
  void* second = AllocateDevice(kMiB);
  EXPECT_EQ(PlaceOf(first).device, 0);
  EXPECT_EQ(PlaceOf(static_cast<char*>(second) + 100).device, 1);
  EXPECT_EQ(PlaceOf(static_cast<char*>(second) + 100).base, second);
  EXPECT_EQ(PlaceOf(static_cast<char*>(second) + 2 * kMiB).side, Side::kHost);
  EXPECT_TRUE(FreeDevice(first));
  EXPECT_TRUE(FreeDevice(second));
  SetDevice(0);
}

TEST(Memory, PinnedMemoryOfTheHost) {
  void* own = AllocateHost(100);
  EXPECT_EQ(PlaceOf(own).side, Side::kPinned);
  EXPECT_TRUE(FreeHost(own));
  char program[64];
  EXPECT_EQ(PlaceOf(program).side, Side::kHost);
  PinHost(program, sizeof program);
  EXPECT_EQ(PlaceOf(program + 63).side, Side::kPinned);
  EXPECT_FALSE(FreeHost(program));
  UnpinHost(program);
  EXPECT_EQ(PlaceOf(program).side, Side::kHost);
}

// Small values are kept; what a large copy would have written reads as zeros.
TEST(Memory, WhatCopiesLeave) {
  auto* device = static_cast<char*>(AllocateDevice(4 * kKept));
  std::vector<char> host(2 * kKept, 'x'), back(2 * kKept, 'y');
  CopyBytes(device, host.data(), kKept);
  CopyBytes(back.data(), device, kKept);
  EXPECT_EQ(back[0], 'x');
  EXPECT_EQ(back[kKept - 1], 'x');
  CopyBytes(device, host.data(), 2 * kKept);
  CopyBytes(back.data(), device, 2 * kKept);
  EXPECT_EQ(back[0], 0);
  FillBytes(device, 'z', 16);
  FillBytes(device + 8192, 'z', 16);
  FillBytes(device + 8, 0, 2 * kKept);
  EXPECT_EQ(device[7], 'z');
  EXPECT_EQ(device[8], 0);
  EXPECT_EQ(device[8192], 0);
  EXPECT_TRUE(FreeDevice(device));
}

TEST(Memory, AddressesWithoutMemory) {
  SetDevice(1);
  void* addresses = ReserveAddresses(2 * static_cast<size_t>(kTestMemory));
  ASSERT_NE(addresses, nullptr);
  EXPECT_EQ(PlaceOf(addresses).device, 1);
  EXPECT_EQ(UsedMemory(1), 0u);
  EXPECT_TRUE(TakeMemory(1, UsableMemory()));
  EXPECT_FALSE(TakeMemory(1, 1));
  GiveMemory(1, UsableMemory());
  EXPECT_TRUE(FreeAddresses(addresses));
  EXPECT_FALSE(FreeAddresses(addresses));
  SetDevice(0);
}

}  // namespace
}  // namespace drydock::hackcuda
