#include "measuring_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <new>

namespace shoal::cli {
namespace {

using Json = MeasuringProcess::Json;
using Clock = std::chrono::steady_clock;

// What the child writes, one line each: '<' a run begins, '>' it is over, '=' the answer, '!' an error.

void write_all(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(descriptor, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw DeviceError(std::string("the process that measures takes no questions: ") + std::strerror(errno));
    done += static_cast<std::size_t>(n);
  }
}

std::string line(char mark, const Json& json) {
  return std::string(1, mark).append(json.dump(-1, ' ', false, Json::error_handler_t::replace)).append("\n");
}

/// Takes the first line off `buffer`, reading for up to `seconds` until there is one. @return false: time is up. @throws EndOfPipe
struct EndOfPipe {};
bool next_line(int descriptor, std::string& buffer, std::string& out, double seconds) {
  const Clock::time_point begin = Clock::now();
  for (;;) {
    if (const std::size_t end = buffer.find('\n'); end != std::string::npos) {
      out = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return true;
    }
    int wait_ms = -1;
    if (std::isfinite(seconds)) {
      const double left = seconds - std::chrono::duration<double>(Clock::now() - begin).count();
      if (left <= 0) return false;
      wait_ms = static_cast<int>(std::min(left * 1e3 + 1, 1e6));
    }
    pollfd watched = {descriptor, POLLIN, 0};
    if (poll(&watched, 1, wait_ms) <= 0) continue;
    char text[4096];
    const ssize_t n = ::read(descriptor, text, sizeof text);
    if (n == 0 || (n < 0 && errno != EINTR)) throw EndOfPipe{};
    if (n > 0) buffer.append(text, static_cast<std::size_t>(n));
  }
}

Json as_json(const std::exception& error) {
  const char* kind = dynamic_cast<const UsageError*>(&error)       ? "usage"
                     : dynamic_cast<const CapacityError*>(&error)  ? "capacity"
                     : dynamic_cast<const TransportError*>(&error) ? "transport"
                     : dynamic_cast<const DeviceError*>(&error)    ? "device"
                     : dynamic_cast<const Error*>(&error)          ? "other"
                     : dynamic_cast<const std::bad_alloc*>(&error) ? "memory"
                                                                   : "unknown";
  return {{"kind", kind}, {"what", error.what()}};
}

[[noreturn]] void rethrow(const Json& error) {
  const std::string kind = error.at("kind"), what = error.at("what");
  if (kind == "usage") throw UsageError(what);
  if (kind == "capacity") throw CapacityError(what);
  if (kind == "transport") throw TransportError(what);
  if (kind == "device") throw DeviceError(what);
  if (kind == "memory") throw std::bad_alloc();
  if (kind == "other") throw Error(what);
  throw std::runtime_error(what);
}

std::string slow_text(double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "a run took longer than %.3g s, and was ended", seconds);
  return text;
}

}  // namespace

TooSlow::TooSlow(double limit) : Error(slow_text(limit)), limit_seconds(limit) {}

void RunClock::say(char mark) const { write_all(descriptor_, std::string{mark, '\n'}); }

void MeasuringProcess::start() {
  int down[2], up[2];
  if (pipe2(down, O_CLOEXEC) != 0) throw Error(std::string("a pipe cannot be made: ") + std::strerror(errno));
  if (pipe2(up, O_CLOEXEC) != 0) {
    const std::string why = std::strerror(errno);
    close(down[0]), close(down[1]);
    throw Error("a pipe cannot be made: " + why);
  }
  std::fflush(nullptr);  // or the child would write it a second time
  const pid_t asker = getpid();
  child_ = fork();
  if (child_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // if the asker is killed, no child stays behind on the GPUs
    if (getppid() != asker) _exit(0);
    close(down[1]), close(up[0]);
    serve(down[0], up[1]);
  }
  close(down[0]), close(up[1]);
  questions_ = down[1], answers_ = up[0];
  received_.clear();
  if (child_ < 0) {
    const std::string why = std::strerror(errno);
    end();
    throw Error("a process for measuring cannot be started: " + why);
  }
}

void MeasuringProcess::serve(int questions, int answers) const {
  signal(SIGPIPE, SIG_IGN);
  Answer answer;
  std::string received, text;
  try {
    while (next_line(questions, received, text, kNoLimit)) {
      std::string reply;
      try {
        if (!answer) answer = begin_();
        reply = line('=', answer(Json::parse(text), RunClock(answers)));
      } catch (const std::exception& error) {
        reply = line('!', as_json(error));
      }
      write_all(answers, reply);
    }
  } catch (...) {  // the asker has closed the pipe, or has ended
  }
  std::fflush(nullptr);
  _exit(0);  // without destructors: open files belong to the asker
}

void MeasuringProcess::end() {
  if (questions_ >= 0) close(questions_);
  if (answers_ >= 0) close(answers_);
  questions_ = answers_ = -1;
  if (child_ > 0) {
    kill(child_, SIGKILL);
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  child_ = 0;
}

/// Waits for a child that ended by itself. @return how it ended
std::string MeasuringProcess::died() {
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = 0;
  end();
  if (WIFSIGNALED(status)) return std::string("the run crashed its process: ") + strsignal(WTERMSIG(status));
  return "the run ended its process with exit status " + std::to_string(WEXITSTATUS(status));
}

Json MeasuringProcess::ask(const Json& question, double run_seconds) {
  if (child_ == 0) start();
  write_all(questions_, question.dump() + "\n");
  std::string text;
  for (double limit = kNoLimit;;) {
    try {
      if (!next_line(answers_, received_, text, limit)) {
        end();
        throw TooSlow(run_seconds);
      }
    } catch (const EndOfPipe&) {
      throw DeviceError(died());
    }
    if (text == "<") {
      limit = run_seconds;
    } else if (text == ">") {
      limit = kNoLimit;
    } else if (!text.empty() && text[0] == '=') {
      return Json::parse(text.substr(1));
    } else {
      const Json error = Json::parse(text.substr(1));
      if (error.at("kind") == "device") end();  // a CUDA error stays for the life of a process
      rethrow(error);
    }
  }
}

}  // namespace shoal::cli
