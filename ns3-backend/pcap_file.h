// Frames as a capture file of Ethernet packets: RoCE v2 over UDP, as a real cable would carry them
// (pcap with time stamps in nanoseconds, which tcpdump, tshark and Wireshark read).
#ifndef DRYDOCK_NS3_BACKEND_PCAP_FILE_H_
#define DRYDOCK_NS3_BACKEND_PCAP_FILE_H_

#include <cstdint>
#include <string>

#include "ns3-backend/model/wire/fabric-map.h"
#include "ns3-backend/model/wire/frame.h"

namespace drydock {

// What the file begins with.
std::string PcapHeader();

// Appends one packet: `frame` as it was put on `link` at `now`, in ps. Headers are whole, payloads
// (which nobody simulates) are left out, as by a capture with a short snap length; the length given
// is that from the Ethernet header to the ICRC.
//
//  - Addresses: host h, NIC n is 10.(h / 256).(h mod 256).(n + 1); MAC addresses are locally
//    administered. The UDP source port is taken from the hash that ECMP uses.
//  - DSCP is the class selector of the frame's traffic class; ECN is 3 on marked frames.
//  - Data are RDMA WRITE Middle whatever their place in a message (frames do not know it). The
//    destination queue pair is the number of the sending one; PSNs are modulo 2^24.
//  - An acknowledgement names the last packet that came in order; a NAK the one that is missing.
//  - PAUSE frames are those of IEEE 802.1Qbb.
void AppendPacket(const ns3::rdma::FabricMap& map, uint32_t link, const ns3::rdma::Frame& frame,
                  int64_t now, std::string* file);

}  // namespace drydock

#endif  // DRYDOCK_NS3_BACKEND_PCAP_FILE_H_
