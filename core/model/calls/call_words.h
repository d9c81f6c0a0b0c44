// Words for communication calls on command lines: Drydock's names and those of nccl.h and
// nccl-tests ("all_reduce", "ncclAllReduce", "alltoall", "half", "64M").
// Errors list the valid names and suggest the nearest.
#ifndef DRYDOCK_CORE_MODEL_CALLS_CALL_WORDS_H_
#define DRYDOCK_CORE_MODEL_CALLS_CALL_WORDS_H_

#include <string>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

Result<CollectiveType> ParseCollective(const std::string& word);
Result<DataType> ParseDataType(const std::string& word);
Result<ReduceOp> ParseReduceOp(const std::string& word);
Result<BufferKind> ParseBufferKind(const std::string& word);

// Parses "64 MiB" or "100 MB"; as in nccl-tests, "64M" is 64 MiB and "8" is 8 B. 0 is an error.
Result<Bytes> ParseCallSize(const std::string& word);

// Return nccl-tests' names: "half", "bfloat16", "float".
std::string NcclTestsName(DataType type);
std::string NcclTestsName(ReduceOp op);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_CALL_WORDS_H_
