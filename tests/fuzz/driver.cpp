// Runs a fuzz target without libFuzzer: every file of a corpus as it is, then seeded mutations of them until the time
// or the count is over.   fuzz_X CORPUS... [-max_total_time=S] [-runs=N] [-seed=N]   (libFuzzer's names)
#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
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
      case 6: {  // a piece is doubled
        const Input piece(here, here + static_cast<std::ptrdiff_t>(std::min(input.size() - at, 1 + random() % 32)));
        input.insert(input.begin() + static_cast<std::ptrdiff_t>(random() % input.size()), piece.begin(), piece.end());
        break;
      }
      default: {  // a 64-bit field is changed by a little
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

}  // namespace

int main(int argc, char** argv) {
  double seconds = 10;
  std::uint64_t runs = ~std::uint64_t{0}, seed = 1;
  std::vector<Input> corpus;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg.starts_with("-max_total_time=")) {
      seconds = std::stod(arg.substr(16));
    } else if (arg.starts_with("-runs=")) {
      runs = std::stoull(arg.substr(6));
    } else if (arg.starts_with("-seed=")) {
      seed = std::stoull(arg.substr(6));
    } else {
      std::vector<std::filesystem::path> files;
      for (const auto& entry : std::filesystem::directory_iterator(arg)) files.push_back(entry.path());
      std::sort(files.begin(), files.end());
      for (const auto& file : files) {
        std::ifstream in(file, std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
      }
    }
  }
  if (corpus.empty()) {
    std::cerr << "no corpus: give folders with at least one file\n";
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  for (const Input& input : corpus) LLVMFuzzerTestOneInput(input.data(), input.size());
  std::mt19937_64 random(seed);
  std::uint64_t done = 0;
  while (done < runs && std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) {
    Input input = mutate(corpus, random);
    input.shrink_to_fit();  // a read behind the end leaves the allocation
    LLVMFuzzerTestOneInput(input.data(), input.size());
    ++done;
  }
  std::cout << done << " mutations of " << corpus.size() << " files, seed " << seed << ": no fault\n";
  return 0;
}
