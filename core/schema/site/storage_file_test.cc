#include "core/schema/site/storage_file.h"

#include <gtest/gtest.h>

#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

std::string Read(const std::string& yaml, Storage* storage) {
  Diagnostics diagnostics;
  ReadStorage(ParseYaml(yaml, "f").value(), storage, &diagnostics);
  return testing::FirstLine(testing::ErrorText(diagnostics.ToStatus()));
}

TEST(StorageFile, ReadsRates) {
  Storage storage;
  EXPECT_EQ(Read("{read: 2 TB/s, write: 1 TB/s, host: 25 GB/s, source: s}", &storage), "ok");
  EXPECT_EQ(storage.read.bytes_per_second(), 2e12);
  EXPECT_EQ(storage.write.bytes_per_second(), 1e12);
  EXPECT_EQ(storage.host.bytes_per_second(), 25e9);
  EXPECT_TRUE(IsStorage(storage));
}

TEST(StorageFile, RatesAreStatedWithTheirSource) {
  Storage storage;
  EXPECT_EQ(Read("{read: 2 TB/s, source: s}", &storage),
            "f:1:1: error: 'storage' lacks the key 'write'");
  EXPECT_EQ(Read("{read: 1 bps, write: 1 TB/s, source: s}", &storage),
            "f:1:8: error: 'read' is 1 bps; it must be at least 1 Mbps");
  EXPECT_EQ(Read("{read: 1 TB/s, write: 1 TB/s, source: ''}", &storage),
            "f:1:39: error: 'source' is empty; say where the rates come from");
}

}  // namespace
}  // namespace drydock
