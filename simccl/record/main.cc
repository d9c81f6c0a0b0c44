// nccl-record: records the NCCL calls of a program that runs as the virtual ranks of a cluster.
#include "simccl/record/record_command.h"

int main(int argc, char** argv) { return drydock::RunTool(argc, argv, drydock::MakeRecordCommand); }
