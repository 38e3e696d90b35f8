// The measuring process: a run that is too slow is ended, a failure is reported, and the next question is answered all the
// same.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "../../cli/measuring_process.cpp"  // a part of the command, not of the library

namespace shoal::cli {
namespace {

/// Answers each question with the process id, the question, and the number of questions so far.
MeasuringProcess::Answer begin() {
  return [asked = 0](const Json& question, const RunClock& clock) mutable -> Json {
    ++asked;
    const std::string what = question["what"];
    if (what == "sleep") {
      clock.limited([&] {
        std::this_thread::sleep_for(std::chrono::duration<double>(question["seconds"].get<double>()));
        return 0;
      });
    }
    if (what == "sleep between") std::this_thread::sleep_for(std::chrono::milliseconds(300));
    if (what == "abort") std::abort();
    if (what == "exit") _exit(7);
    if (what == "usage") throw UsageError("usage");
    if (what == "capacity") throw CapacityError("capacity");
    if (what == "transport") throw TransportError("transport");
    if (what == "device") throw DeviceError("device");
    if (what == "memory") throw std::bad_alloc();
    if (what == "other") throw std::logic_error("other");
    return {{"process", getpid()}, {"asked", asked}, {"what", what}};
  };
}

Json ask(MeasuringProcess& process, const std::string& what, double limit = MeasuringProcess::kNoLimit) {
  return process.ask({{"what", what}, {"seconds", 0.3}}, limit);
}

TEST(MeasuringProcess, AnswersInAProcessOfItsOwnThatStays) {
  MeasuringProcess process(begin);
  const Json first = ask(process, "a line\nand another, \"quoted\""), second = ask(process, "b");
  EXPECT_EQ(first["what"], "a line\nand another, \"quoted\"");
  EXPECT_NE(first["process"], getpid());
  EXPECT_EQ(first["process"], second["process"]);
  EXPECT_EQ(second["asked"], 2);
}

TEST(MeasuringProcess, EndsARunThatTakesTooLong) {
  MeasuringProcess process(begin);
  const Json before = ask(process, "a");
  const auto start = std::chrono::steady_clock::now();
  try {
    process.ask({{"what", "sleep"}, {"seconds", 100}}, 0.1);
    FAIL() << "it had 0.1 s";
  } catch (const TooSlow& slow) {
    EXPECT_EQ(slow.limit_seconds, 0.1);
    EXPECT_STREQ(slow.what(), "a run took longer than 0.1 s, and was ended");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(kill(before["process"], 0), -1) << "the process still exists";
  const Json after = ask(process, "b");
  EXPECT_NE(after["process"], before["process"]);
  EXPECT_EQ(after["asked"], 1);
}

TEST(MeasuringProcess, LimitsRunsAndNothingElse) {
  MeasuringProcess process(begin);
  EXPECT_EQ(ask(process, "sleep", 60)["what"], "sleep");
  EXPECT_EQ(ask(process, "sleep between", 0.1)["what"], "sleep between");
}

TEST(MeasuringProcess, SaysHowAProcessEndedByItself) {
  MeasuringProcess process(begin);
  for (const auto& [what, says] : {std::pair{"abort", "Aborted"}, {"exit", "exit status 7"}}) {
    try {
      ask(process, what);
      FAIL() << what;
    } catch (const DeviceError& error) {
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
    EXPECT_EQ(ask(process, "b")["asked"], 1) << "a new process after " << what;
  }
}

TEST(MeasuringProcess, ThrowsWhatTheAnswerThrew) {
  MeasuringProcess process(begin);
  const Json before = ask(process, "a");
  EXPECT_THROW(ask(process, "usage"), UsageError);
  EXPECT_THROW(ask(process, "capacity"), CapacityError);
  EXPECT_THROW(ask(process, "transport"), TransportError);
  EXPECT_THROW(ask(process, "memory"), std::bad_alloc);
  EXPECT_THROW(ask(process, "other"), std::runtime_error);
  EXPECT_EQ(ask(process, "b")["process"], before["process"]);
  EXPECT_THROW(ask(process, "device"), DeviceError);
  EXPECT_NE(ask(process, "b")["process"], before["process"]) << "errors of a device may persist until the process ends";
}

TEST(MeasuringProcess, ThrowsWhatTheBeginningThrew) {
  MeasuringProcess process([]() -> MeasuringProcess::Answer { throw UsageError("no such device"); });
  EXPECT_THROW(ask(process, "a"), UsageError);
  EXPECT_THROW(ask(process, "a"), UsageError);
}

}  // namespace
}  // namespace shoal::cli
