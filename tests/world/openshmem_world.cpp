// A program of several processes that oshrun starts. It tests exchanges of data between PEs, and waves, over OpenSHMEM, and
// prints how long they took. If a harm is given (kill, stop, throw or leave), it happens to process 1 half-way.
//
//   oshrun -np N openshmem_world PES_PER_PROCESS ROUNDS PATIENCE_SECONDS [kill|stop|throw|leave]
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/worklist/wires.hpp"
#include "shoal/world/openshmem.hpp"
#include "shoal/world/world.hpp"

namespace {

using namespace shoal;
using Clock = std::chrono::steady_clock;

double microseconds(Clock::time_point since, int rounds) {
  return std::chrono::duration<double, std::micro>(Clock::now() - since).count() / rounds;
}

/// What PE p gives in a round; in every 50th round, more than fits into a statement.
std::vector<std::uint64_t> gift(pe_t p, int round) {
  std::vector<std::uint64_t> words(round % 50 == 0 ? 7000 + static_cast<std::size_t>(p)
                                                   : 1 + static_cast<std::size_t>(p));
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint64_t>(p) << 40 | round << 20 | i;
  return words;
}

void body(World& world, pe_t me, int rounds, const std::string& harm) {
  const auto start = Clock::now();
  for (int round = 0; round < rounds; ++round) {
    const std::vector<std::uint64_t> mine = gift(me, round);
    const auto& all = world.all_gather(me, World::Call::of<int>("gift"), {std::as_bytes(std::span(mine)), nullptr});
    for (pe_t p = 0; p < world.n_pes(); ++p) {
      const std::vector<std::uint64_t> wanted = gift(p, round);
      const auto got = all[static_cast<std::size_t>(p)].bytes;
      if (got.size() != wanted.size() * 8 || std::memcmp(got.data(), wanted.data(), got.size()) != 0) {
        throw std::runtime_error("PE " + std::to_string(p) + " gave something else in round " + std::to_string(round));
      }
    }
    world.leave_call(me);
    if (harm.empty() || round != rounds / 2 || world.process() != 1 || me != world.first_here()) continue;
    if (harm == "kill") ::raise(SIGKILL);
    if (harm == "stop") ::raise(SIGSTOP);
    if (harm == "throw") throw CapacityError("planted");
    if (harm == "leave") return;
  }
  if (me == 0) std::printf("%d PEs: %.1f us for a gift\n", world.n_pes(), microseconds(start, rounds));
  world.barrier(me);
  if (me == world.first_here()) {
    Wires wires(world, {.on = true}, sizeof(int), 1);
    const auto waves = Clock::now();
    for (int round = 0; round < rounds;) {
      const auto process = static_cast<std::uint64_t>(world.process());
      const Wires::Turn turn = wires.turn();
      if (turn == Wires::Turn::wait) std::this_thread::yield();
      if (turn == Wires::Turn::to_say_completed) wires.say({process, kNoBucket});
      if (turn == Wires::Turn::to_say_created) wires.say({process + (round % 2), kNoBucket});
      if (turn != Wires::Turn::to_compare) continue;
      WaveAnswer all;
      if (wires.compare(all) != (round++ % 2 == 0)) throw std::runtime_error("wrong waves");
    }
    if (me == 0) std::printf("%d processes: %.1f us for two waves\n", world.n_processes(), microseconds(waves, rounds));
  }
  world.leave_call(me);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const pe_t pes = std::atoi(argv[1]);
  const std::string harm = argc > 4 ? argv[4] : "";
  std::atomic<int> status = 0;
  try {
    World world(pes, std::atof(argv[3]), openshmem_boards(), argv[2]);
    std::vector<std::thread> threads;
    for (pe_t me = world.first_here(); me < world.first_here() + pes; ++me) {
      threads.emplace_back([&, me] {
        try {
          body(world, me, std::atoi(argv[2]), harm);
          world.leave(me);
        } catch (const std::exception& error) {
          std::printf("PE %d: %s\n", me, error.what());
          world.fail(me, error.what());
          status = 4;
        }
      });
    }
    world.wait_for_bodies();
    for (std::thread& thread : threads) thread.join();
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    status = 4;
  }
  return status;
}
