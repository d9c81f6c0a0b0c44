#include "drydock/shipped/shipped_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/files.h"
#include "core/base/installation.h"

namespace drydock {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

TEST(ShippedFiles, AreFoundByName) {
  EXPECT_THAT(ShippedNames(ShippedKind::kModel), Contains("gpt-22b"));
  EXPECT_THAT(ShippedNames(ShippedKind::kCluster), Contains("selene"));
  EXPECT_THAT(ShippedNames(ShippedKind::kGpu), Contains("h100-sxm-80g"));
  const std::string selene = ConfigDirectory() + "/clusters/selene.topo";
  EXPECT_EQ(ShippedFile(ShippedKind::kCluster, "selene"), selene);
  EXPECT_EQ(ShippedFile(ShippedKind::kCluster, "selene.topo"), selene);
  EXPECT_EQ(ShippedFile(ShippedKind::kCluster, "selen"), "");
  EXPECT_EQ(ShippedFile(ShippedKind::kCluster, "../clusters/selene"), "");
  EXPECT_EQ(ShippedFile(ShippedKind::kModel, "selene"), "");
  EXPECT_EQ(ShippedFile(ShippedKind::kCluster, ""), "");
}

TEST(ShippedFiles, AFileOfTheUserComesFirstAndAFolderDoesNot) {
  const std::string folder = testing::TempDir() + "shipped_files";
  ASSERT_TRUE(MakeDirectories(folder).ok());
  const std::string file = folder + "/selene";
  ASSERT_TRUE(WriteFileAtomically(file, "mine").ok());
  EXPECT_EQ(FileMeant(ShippedKind::kCluster, file), file);
  EXPECT_EQ(FileMeant(ShippedKind::kCluster, "no-such-cluster"), "no-such-cluster");
  const std::string selene = ShippedFile(ShippedKind::kCluster, "selene");
  EXPECT_EQ(FileMeant(ShippedKind::kCluster, "selene"), selene);
  // "docs" is a folder of the tests' working folder, and the name of nothing that ships.
  EXPECT_EQ(FileMeant(ShippedKind::kCluster, "docs"), "docs");
  EXPECT_THAT(WithShippedClusters({"--cluster", "selene", "-b", "8", "--cluster=selene"}),
              ElementsAre("--cluster", selene, "-b", "8", "--cluster=" + selene));
  EXPECT_THAT(WithShippedClusters({"--cluster"}), ElementsAre("--cluster"));
}

}  // namespace
}  // namespace drydock
