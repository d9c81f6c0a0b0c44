// What the kernels of DeepEP and HybridEP cost on each GPU (configs/token-exchange.yaml). Plain
// data.
#ifndef DRYDOCK_SIMCCL_TOKENS_TOKEN_COSTS_H_
#define DRYDOCK_SIMCCL_TOKENS_TOKEN_COSTS_H_

#include <map>
#include <string>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/model/gpu.h"

namespace drydock {

struct TokenCosts {
  Time start;                    // from the kernel's turn to its first data
  Bandwidth rate;                // that one SM sends, if all members share a host
  Bandwidth rate_between_hosts;  // the same if tokens cross the network too and are forwarded
};

// By library ("deepep", "hybridep"), then by GPU.
using TokenCostTable = std::map<std::string, std::map<std::string, TokenCosts>>;

// Reports all mistakes together, each with its location.
Result<TokenCostTable> ParseTokenCosts(const std::string& text, const std::string& file_name);

// Returns the library's costs on the GPU, or on the GPU to which its file refers. The error names
// the GPUs that the table has.
Result<TokenCosts> FindTokenCosts(const TokenCostTable& table, const std::string& library,
                                  const GpuSpec& gpu);

// configs/token-exchange.yaml of this installation.
std::string TokenCostsPath();

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_TOKENS_TOKEN_COSTS_H_
