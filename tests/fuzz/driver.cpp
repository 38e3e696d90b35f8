// Runs a fuzz target without libFuzzer: every file of a corpus unchanged, then seeded mutations of these files until the time
// or the count is used up. Files that are given by name are run once each. The options have libFuzzer's names:
//   fuzz_X CORPUS|FILE... [-max_total_time=S] [-runs=N] [-seed=N] [-max_len=BYTES] [-timeout=S] [-artifact_prefix=PATH]
// The current mutation is in the file PATHcurrent, which remains if the program dies of it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

/// Text and numbers on which readers have failed before.
const std::vector<std::string> kTokens{"0",
                                       "-1",
                                       "1",
                                       "2147483647",
                                       "2147483648",
                                       "4294967296",
                                       "18446744073709551616",
                                       "\n",
                                       "\r\n",
                                       " ",
                                       "\t",
                                       ",",
                                       "%",
                                       "#",
                                       "nan",
                                       "1e999",
                                       "-",
                                       "+",
                                       ".",
                                       "e",
                                       std::string(8, '\xff'),
                                       std::string(8, '\0'),
                                       std::string(4, '\x7f')};

Input mutate(const std::vector<Input>& corpus, std::mt19937_64& random) {
  Input input = corpus[random() % corpus.size()];
  for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes) {
    const std::size_t at = input.empty() ? 0 : random() % input.size();
    const auto here = input.begin() + static_cast<std::ptrdiff_t>(at);
    const std::string& token = kTokens[random() % kTokens.size()];
    switch (input.empty() ? 2 : random() % 8) {
      case 0:
        input[at] = static_cast<std::uint8_t>(input[at] ^ (1u << random() % 8));
        break;
      case 1:
        input[at] = static_cast<std::uint8_t>(random());
        break;
      case 2:
        input.insert(here, token.begin(), token.end());
        break;
      case 3:
        std::copy_n(token.begin(), std::min(token.size(), input.size() - at), here);
        break;
      case 4:
        input.erase(here, here + static_cast<std::ptrdiff_t>(std::min(input.size() - at, 1 + random() % 16)));
        break;
      case 5:
        input.resize(at);
        break;
      case 6: {  // duplicates a piece
        const Input piece(here, here + static_cast<std::ptrdiff_t>(std::min(input.size() - at, 1 + random() % 32)));
        input.insert(input.begin() + static_cast<std::ptrdiff_t>(random() % input.size()), piece.begin(), piece.end());
        break;
      }
      default: {  // changes a 64-bit field slightly
        std::uint64_t field = 0;
        const std::size_t bytes = std::min<std::size_t>(8, input.size() - at);
        std::memcpy(&field, &input[at], bytes);
        field += random() % 9 - 4;
        std::memcpy(&input[at], &field, bytes);
      }
    }
  }
  return input;
}

Input read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    std::cerr << file.string() << " cannot be read\n";
    std::exit(2);
  }
  return Input(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

/// Runs one input after the other, each with a time limit (an alarm ends the program) and with a copy on disk, unless the files
/// were given by name.
class Runner {
 public:
  Runner(const std::string& prefix, unsigned timeout, bool keeps) : place_(prefix + "current"), timeout_(timeout) {
    if (!keeps) return;
    file_ = ::open(place_.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
    if (file_ < 0) {
      std::cerr << place_ << " cannot be written (-artifact_prefix)\n";
      std::exit(2);
    }
  }
  ~Runner() {
    if (file_ < 0) return;
    ::close(file_);
    ::unlink(place_.c_str());
  }
  Runner(const Runner&) = delete;
  void operator()(Input input) {
    input.shrink_to_fit();  // so that a read beyond the end is outside of the allocation
    const auto bytes = static_cast<ssize_t>(input.size());
    if (file_ >= 0 && (::ftruncate(file_, bytes) != 0 || ::pwrite(file_, input.data(), input.size(), 0) != bytes)) {
      std::cerr << place_ << " cannot be written: a fault would leave no input\n";
      std::exit(2);
    }
    ::alarm(timeout_);
    LLVMFuzzerTestOneInput(input.data(), input.size());
    ::alarm(0);
  }

 private:
  const std::string place_;
  const unsigned timeout_;
  int file_ = -1;
};

}  // namespace

int main(int argc, char** argv) {
  double seconds = 10;
  std::uint64_t runs = ~std::uint64_t{0}, seed = 1, max_len = 1 << 20;
  unsigned timeout = 10;
  std::string prefix = "./";
  std::vector<Input> corpus;
  bool only_files = true;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const std::string value = arg.substr(arg.find('=') + 1);
    if (arg.starts_with("-max_total_time=")) {
      seconds = std::stod(value);
    } else if (arg.starts_with("-runs=")) {
      runs = std::stoull(value);
    } else if (arg.starts_with("-seed=")) {
      seed = std::stoull(value);
    } else if (arg.starts_with("-max_len=")) {
      max_len = std::stoull(value);
    } else if (arg.starts_with("-timeout=")) {
      timeout = static_cast<unsigned>(std::stoul(value));
    } else if (arg.starts_with("-artifact_prefix=")) {
      prefix = value;
    } else if (arg.starts_with("-rss_limit_mb=")) {
      continue;  // the sanitizer has this limit: ASAN_OPTIONS=hard_rss_limit_mb
    } else if (std::filesystem::is_directory(arg)) {
      only_files = false;
      std::vector<std::filesystem::path> files;
      for (const auto& entry : std::filesystem::directory_iterator(arg)) files.push_back(entry.path());
      std::sort(files.begin(), files.end());
      for (const auto& file : files) corpus.push_back(read_file(file));
    } else {
      corpus.push_back(read_file(arg));
    }
  }
  if (corpus.empty()) {
    std::cerr << "no corpus: give folders with at least one file, or files\n";
    return 2;
  }
  Runner run(prefix, timeout, !only_files);
  const auto start = std::chrono::steady_clock::now();
  for (const Input& input : corpus) run(input);
  std::mt19937_64 random(seed);
  std::uint64_t done = 0;
  if (only_files) runs = 0;
  while (done < runs && std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) {
    Input input = mutate(corpus, random);
    if (input.size() > max_len) input.resize(max_len);
    run(std::move(input));
    ++done;
  }
  std::cout << done << " mutations of " << corpus.size() << " files, seed " << seed << ": no fault\n";
  return 0;
}
