// nccl-record: the NCCL calls of a program, run as the virtual ranks of a cluster.
#include "simccl/record/record_command.h"

int main(int argc, char** argv) { return drydock::RunTool(argc, argv, drydock::MakeRecordCommand); }
