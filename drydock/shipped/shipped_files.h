// The models, clusters, GPUs and failure rates that come with Drydock, by name.
#ifndef DRYDOCK_DRYDOCK_SHIPPED_SHIPPED_FILES_H_
#define DRYDOCK_DRYDOCK_SHIPPED_SHIPPED_FILES_H_

#include <string>
#include <vector>

namespace drydock {

enum class ShippedKind { kModel, kCluster, kGpu, kFailures };

// The names of the shipped files of this kind, sorted. A model that ships in several forms counts
// once.
std::vector<std::string> ShippedNames(ShippedKind kind);

// The file of a shipped name, with or without its extension; "" if no such name ships.
std::string ShippedFile(ShippedKind kind, const std::string& name);

// The file that a user means by `name`: a file of this name, else the shipped file of this name,
// else `name` itself.
std::string FileMeant(ShippedKind kind, const std::string& name);

// Replaces the values of --cluster that are names of shipped clusters by their files.
std::vector<std::string> WithShippedClusters(std::vector<std::string> arguments);

}  // namespace drydock

#endif  // DRYDOCK_DRYDOCK_SHIPPED_SHIPPED_FILES_H_
