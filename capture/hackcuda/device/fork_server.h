// Ranks that run the same program do the same until it asks which rank it is. One process, the fork
// server, runs the program up to there, and each rank goes on as a fork of it. In an ordinary
// process nothing here does anything.
//
// A fork is the process as it was, with the variables, the log and the output of its rank: nothing
// that a program has done by then is of one rank. Where a fork would share more with others than
// memory (threads, sockets, processes), the server ends instead, and each rank starts by itself.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DEVICE_FORK_SERVER_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DEVICE_FORK_SERVER_H_

namespace drydock::hackcuda {

// To be called wherever a program is about to learn which rank it is. In the fork server, returns
// in each rank, once.
void BecomeRank();

}  // namespace drydock::hackcuda

extern "C" {

// Makes this process a fork server, if its launcher wants one (capture::kForkServerVariable).
// Returns the names of the variables that ranks differ in, each with a zero behind it and another
// zero behind the last; null: it is no fork server.
const char* hackcuda_serve_forks();

// BecomeRank(). Returns the variables of the rank, "NAME=VALUE", as hackcuda_serve_forks does;
// null: this process has been a rank from the start.
const char* hackcuda_become_rank();

}  // extern "C"

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DEVICE_FORK_SERVER_H_
