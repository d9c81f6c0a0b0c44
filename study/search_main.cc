// drydock-search: the layouts that train a model fastest on a cluster.
#include "study/commands.h"

int main(int argc, char** argv) { return drydock::RunTool(argc, argv, drydock::MakeSearchCommand); }
