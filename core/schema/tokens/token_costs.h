// What the kernels of DeepEP and HybridEP cost on each GPU (configs/token-exchange.yaml). Plain
// data.
#ifndef DRYDOCK_CORE_SCHEMA_TOKENS_TOKEN_COSTS_H_
#define DRYDOCK_CORE_SCHEMA_TOKENS_TOKEN_COSTS_H_

#include <map>
#include <string>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/model/gpu.h"
#include "core/model/workload.h"

namespace drydock {

struct TokenCosts {
  Time start;                    // from the kernel's turn to its first data
  Bandwidth rate;                // that one SM sends, if all members share a host
  Time start_between_hosts;      // the same two if tokens cross the network too
  Bandwidth rate_between_hosts;
  // Mean error against measurements that no value was fitted to, as a share of the time.
  double error = 0;
  double error_between_hosts = 0;
  bool measured = true;  // otherwise the rates are assumed, and so are the errors
};

// By the name of the kind of exchange (BufferKindNames), then by GPU.
using TokenCostTable = std::map<std::string, std::map<std::string, TokenCosts>>;

// Reports all mistakes together, each with its location.
Result<TokenCostTable> ParseTokenCosts(const std::string& text, const std::string& file_name);

// Returns the costs of an exchange on the GPU, or on the GPU to which its file refers; null if the
// table has neither. REQUIRES: ExchangesTokens(buffers).
const TokenCosts* FindTokenCosts(const TokenCostTable& table, BufferKind buffers,
                                 const GpuSpec& gpu);

// "the file has no costs of deepep on v100; it has those of h100"
Error NoTokenCosts(const TokenCostTable& table, BufferKind buffers, const GpuSpec& gpu);

// configs/token-exchange.yaml of this installation.
std::string TokenCostsPath();
Result<TokenCostTable> LoadTokenCosts();

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_TOKENS_TOKEN_COSTS_H_
