// A slow and lossy wire between two network devices, for tests and benches on kernels without netem. Needs Linux and root.
//
//   ip netns exec BETWEEN slow_wire DEVICE DEVICE DELAY_MS LOSS
//
// A frame that arrives at one device leaves by the other one, later or not at all; the order is kept. Prints "ready" when the wire
// works. SIGUSR1 cuts the wire: from then on nothing passes.
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongest = 1 << 17;    ///< bytes of the largest frame: senders leave splitting to the card
constexpr std::size_t kMostUnderWay = 8192;  ///< frames in flight; more are lost
volatile std::sig_atomic_t g_cut = 0;

int check(int result, const std::string& what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

/// A socket that reads and writes the frames of one device.
class End {
 public:
  explicit End(const std::string& device)
      : socket_(check(socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0), "a packet socket (are you root?)")) {
    // Work that a sender leaves to its card (checksums, splitting) is passed on in a header. Frames sent by this program are not
    // read.
    set(SOL_PACKET, PACKET_VNET_HDR, 1, device);
    set(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, device);
    set(SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20, device);
    set(SOL_SOCKET, SO_SNDBUFFORCE, 64 << 20, device);
    sockaddr_ll at{};
    at.sll_family = AF_PACKET;
    at.sll_protocol = htons(ETH_P_ALL);
    at.sll_ifindex = static_cast<int>(if_nametoindex(device.c_str()));
    if (at.sll_ifindex == 0) throw std::system_error(errno, std::generic_category(), device);
    check(bind(socket_, reinterpret_cast<sockaddr*>(&at), sizeof(at)), device);
  }
  ~End() { close(socket_); }
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  int socket_number() const { return socket_; }
  /// Reads the next frame. @return its bytes; 0 if there is none
  std::size_t receive(char* frame) const {
    const ssize_t bytes = recv(socket_, frame, kLongest, 0);
    return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
  }
  /// Sends a frame. If there is no space for it, it is lost, as on any wire.
  void send_off(const char* frame, std::size_t bytes) const {
    while (send(socket_, frame, bytes, 0) < 0 && errno == EINTR) {
    }
  }

 private:
  void set(int level, int option, int value, const std::string& device) const {
    check(setsockopt(socket_, level, option, &value, sizeof(value)), device);
  }
  const int socket_;
};

struct Frame {
  Clock::time_point due;
  std::unique_ptr<char[]> at;
  std::size_t bytes;
  const End* to;
};

class Wire {
 public:
  Wire(const std::string& left, const std::string& right, Clock::duration delay, double loss)
      : left_(left), right_(right), delay_(delay), loss_(loss) {}

  [[noreturn]] void carry() {
    for (;;) {
      wait();
      take(left_, right_);
      take(right_, left_);
      while (!under_way_.empty() && under_way_.front().due <= Clock::now()) {
        Frame& frame = under_way_.front();
        if (g_cut == 0) frame.to->send_off(frame.at.get(), frame.bytes);
        free_.push_back(std::move(frame.at));
        under_way_.pop_front();
      }
    }
  }

 private:
  /// Waits until a frame arrives or must be sent.
  void wait() const {
    pollfd ends[] = {{left_.socket_number(), POLLIN, 0}, {right_.socket_number(), POLLIN, 0}};
    timespec until{};
    if (!under_way_.empty()) {
      const auto left = std::chrono::nanoseconds(std::max(Clock::duration{0}, under_way_.front().due - Clock::now()));
      until.tv_sec = left.count() / 1'000'000'000, until.tv_nsec = left.count() % 1'000'000'000;
    }
    if (ppoll(ends, 2, under_way_.empty() ? nullptr : &until, nullptr) < 0 && errno != EINTR) check(-1, "ppoll");
  }
  void take(const End& from, const End& to) {
    for (;;) {
      std::unique_ptr<char[]> frame;
      if (free_.empty()) {
        frame = std::make_unique_for_overwrite<char[]>(kLongest);
      } else {
        frame = std::move(free_.back());
        free_.pop_back();
      }
      const std::size_t bytes = from.receive(frame.get());
      if (bytes == 0 || under_way_.size() == kMostUnderWay || chance_(random_) < loss_) {
        free_.push_back(std::move(frame));
        if (bytes == 0) return;
      } else {
        under_way_.push_back({Clock::now() + delay_, std::move(frame), bytes, &to});
      }
    }
  }

  const End left_, right_;
  const Clock::duration delay_;
  const double loss_;
  std::mt19937_64 random_;  ///< default seed: every run loses the same frames, if they come in the same order
  std::uniform_real_distribution<double> chance_;
  std::deque<Frame> under_way_;  ///< ordered by `due`
  std::vector<std::unique_ptr<char[]>> free_;
};

}  // namespace

int main(int argc, char** argv) {
  const double delay_ms = argc == 5 ? std::atof(argv[3]) : -1, loss = argc == 5 ? std::atof(argv[4]) : -1;
  if (delay_ms < 0 || delay_ms > 10'000 || loss < 0 || loss > 1) {
    std::fprintf(stderr,
                 "usage: slow_wire DEVICE DEVICE DELAY_MS LOSS, each way: 0 to 10000, and 0 to 1 of all frames\n");
    return 2;
  }
  try {
    prctl(PR_SET_TIMERSLACK, 1);  // 1 ns: by default the kernel may wake it up to 50 microseconds late
    const std::chrono::duration<double, std::milli> delay(delay_ms);
    Wire wire(argv[1], argv[2], std::chrono::duration_cast<Clock::duration>(delay), loss);
    std::signal(SIGUSR1, [](int) { g_cut = 1; });
    std::puts("ready");
    std::fflush(stdout);
    wire.carry();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "slow_wire: %s\n", error.what());
    return 1;
  }
}
