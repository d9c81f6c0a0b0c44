// Fuzz targets for files of other tools that describe clusters and collectives, and for studies.
#ifndef DRYDOCK_TESTS_FUZZ_FILE_TARGET_H_
#define DRYDOCK_TESTS_FUZZ_FILE_TARGET_H_

#include <string>
#include <vector>

namespace drydock::fuzz {

// A topology file of SimAI, given as a cluster.
void SimaiTopology(const std::string& input);
std::vector<std::string> SimaiTopologySeeds();
// SimAI.conf beside a valid topology file.
void SimaiConf(const std::string& input);
std::vector<std::string> SimaiConfSeeds();
// An algorithm of MSCCL, which then plans a call over the GPUs that it is for.
void Msccl(const std::string& input);
std::vector<std::string> MscclSeeds();
// What 'nvidia-smi topo -m' prints.
void GpuTopology(const std::string& input);
std::vector<std::string> GpuTopologySeeds();
// A topology of NVIDIA Air, as DOT or JSON.
void AirTopology(const std::string& input);
std::vector<std::string> AirTopologySeeds();
// A study file, whose points are then listed.
void Study(const std::string& input);
std::vector<std::string> StudySeeds();

}  // namespace drydock::fuzz

#endif  // DRYDOCK_TESTS_FUZZ_FILE_TARGET_H_
