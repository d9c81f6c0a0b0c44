#include "ns3-backend/pcap_file.h"

#include <algorithm>

namespace drydock {
namespace {

using ns3::rdma::FabricDirection;
using ns3::rdma::FabricMap;
using ns3::rdma::Frame;

constexpr uint16_t kIpv4 = 0x0800, kMacControl = 0x8808;
constexpr int64_t kIcrc = 4;
// InfiniBand Architecture Specification, volume 1, 9.2 (opcodes of the reliable connection) and
// annex A17 (RoCE v2, CNP).
constexpr uint8_t kWriteMiddle = 0x07, kAcknowledge = 0x11, kCnp = 0x81;

void Append(std::string* to, uint64_t value, int bytes) {  // most significant first
  for (int i = bytes - 1; i >= 0; --i) to->push_back(static_cast<char>(value >> (8 * i)));
}

void AppendLittle(std::string* to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to->push_back(static_cast<char>(value >> (8 * i)));
}

void AppendMac(std::string* to, uint32_t node, uint16_t port) {
  Append(to, 0x02, 1);
  Append(to, node, 3);
  Append(to, port, 2);
}

uint32_t IpAddress(uint32_t host, int16_t nic) {
  return uint32_t{10} << 24 | (host & 0xffff) << 8 | (static_cast<uint32_t>(nic + 1) & 0xff);
}

uint16_t Checksum(const std::string& header) {
  uint32_t sum = 0;
  for (size_t i = 0; i + 1 < header.size(); i += 2) {
    sum += static_cast<uint32_t>(static_cast<uint8_t>(header[i])) << 8 |
           static_cast<uint8_t>(header[i + 1]);
  }
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

// `length` is the number of bytes from this header to the ICRC.
std::string Ipv4Header(const FabricMap& map, const Frame& frame, int64_t length) {
  const FabricDirection& from = map.direction(frame.from);
  const FabricDirection& to = map.direction(frame.to);
  const uint32_t ecn = frame.IsControl() ? 0 : (frame.flags & Frame::CE) ? 3 : 2;
  const auto header = [&](uint16_t checksum) {
    std::string out;
    Append(&out, 0x45, 1);
    Append(&out, uint32_t{frame.priority} << 5 | ecn, 1);
    Append(&out, static_cast<uint64_t>(std::min<int64_t>(length, 65535)), 2);
    Append(&out, 0x00004000, 4);  // no identification, do not fragment
    Append(&out, 64, 1);
    Append(&out, 17, 1);  // UDP
    Append(&out, checksum, 2);
    Append(&out, IpAddress(from.from_node, from.from_nic), 4);
    Append(&out, IpAddress(to.to_node, to.to_nic), 4);
    return out;
  };
  return header(Checksum(header(0)));
}

// The base transport header and the extended headers before the payload.
std::string TransportHeader(const Frame& frame) {
  const bool notice = frame.flags & Frame::CNP;
  uint32_t psn = frame.psn;
  if (frame.flags & Frame::NACK) {
    psn += frame.payload;
  } else if (frame.IsAck()) {
    psn -= 1;
  }
  std::string out;
  Append(&out, notice ? kCnp : frame.IsAck() ? kAcknowledge : kWriteMiddle, 1);
  Append(&out, 0x40, 1);    // migrated, no padding
  Append(&out, 0xffff, 2);  // the default partition
  Append(&out, notice ? 0x40 : 0, 1);
  Append(&out, frame.queuePair, 3);
  Append(&out, frame.flags & Frame::ACK_REQUESTED ? 0x80 : 0, 1);
  Append(&out, psn, 3);
  if (notice) out.append(16, '\0');
  if (frame.IsAck()) Append(&out, frame.flags & Frame::NACK ? 0x60000000 : 0x1f000000, 4);
  return out;
}

// Returns the first bytes of the frame; `whole` is their number with the payload.
std::string Packet(const FabricMap& map, uint32_t link, const Frame& frame, int64_t* whole) {
  const FabricDirection& direction = map.direction(link);
  std::string out;
  if (frame.flags & Frame::PAUSE) {
    Append(&out, 0x0180c2000001, 6);
    AppendMac(&out, direction.from_node, direction.from_port);
    Append(&out, kMacControl, 2);
    Append(&out, 0x0101, 2);
    Append(&out, uint64_t{1} << frame.priority, 2);
    for (int priority = 0; priority < 8; ++priority) {
      Append(&out, priority == frame.priority ? frame.psn : 0, 2);
    }
    out.resize(60, '\0');  // the minimum of Ethernet, without its checksum
    *whole = 60;
    return out;
  }
  AppendMac(&out, direction.to_node, direction.to_port);
  AppendMac(&out, direction.from_node, direction.from_port);
  Append(&out, kIpv4, 2);
  const std::string transport = TransportHeader(frame);
  const int64_t payload = frame.IsControl() ? 0 : frame.payload;
  const int64_t udp = 8 + static_cast<int64_t>(transport.size()) + payload + kIcrc;
  out += Ipv4Header(map, frame, 20 + udp);
  Append(&out, 0xc000 | (frame.path & 0x3fff), 2);
  Append(&out, 4791, 2);  // RoCE v2
  Append(&out, static_cast<uint64_t>(std::min<int64_t>(udp, 65535)), 2);
  Append(&out, 0, 2);  // no checksum
  out += transport;
  *whole = 14 + 20 + udp;
  return out;
}

}  // namespace

std::string PcapHeader() {
  std::string out;
  AppendLittle(&out, 0xa1b23c4d, 4);  // times in nanoseconds
  AppendLittle(&out, 2, 2);
  AppendLittle(&out, 4, 2);
  AppendLittle(&out, 0, 8);
  AppendLittle(&out, 262144, 4);
  AppendLittle(&out, 1, 4);  // Ethernet
  return out;
}

void AppendPacket(const FabricMap& map, uint32_t link, const Frame& frame, int64_t now,
                  std::string* file) {
  int64_t whole = 0;
  const std::string packet = Packet(map, link, frame, &whole);
  const int64_t ns = now / 1000;
  AppendLittle(file, static_cast<uint64_t>(ns / 1'000'000'000), 4);
  AppendLittle(file, static_cast<uint64_t>(ns % 1'000'000'000), 4);
  AppendLittle(file, packet.size(), 4);
  AppendLittle(file, static_cast<uint64_t>(whole), 4);
  *file += packet;
}

}  // namespace drydock
