// Writes frames as a capture file of Ethernet packets: RoCE v2 over UDP, as on a real cable (pcap
// with time stamps in nanoseconds, which tcpdump, tshark and Wireshark read).
#ifndef DRYDOCK_NS3_BACKEND_PCAP_FILE_H_
#define DRYDOCK_NS3_BACKEND_PCAP_FILE_H_

#include <cstdint>
#include <string>

#include "ns3-backend/model/wire/fabric-map.h"
#include "ns3-backend/model/wire/frame.h"

namespace drydock {

// Returns the header of the file.
std::string PcapHeader();

// Appends one packet: `frame` as sent on `link` at `now`, in ps. Headers are complete. Payloads are
// not simulated and are left out, as in a capture with a short snap length; the stated length
// reaches from the Ethernet header to the ICRC.
//
//  - Addresses: host h, NIC n is 10.(h / 256).(h mod 256).(n + 1); MAC addresses are locally
//    administered. The UDP source port comes from the hash that ECMP uses.
//  - DSCP is the class selector of the frame's traffic class; ECN is 3 on marked frames.
//  - Data packets are RDMA WRITE Middle: frames do not know their position in a message. The
//    destination queue pair is the number of the sending queue pair; PSNs are modulo 2^24.
//  - An acknowledgement states the last packet that arrived in order, a NAK the missing packet.
//  - PAUSE frames are those of IEEE 802.1Qbb.
void AppendPacket(const ns3::rdma::FabricMap& map, uint32_t link, const ns3::rdma::Frame& frame,
                  int64_t now, std::string* file);

}  // namespace drydock

#endif  // DRYDOCK_NS3_BACKEND_PCAP_FILE_H_
