// Processes that MPI started. An error within MPI ends all of them (MPI_ERRORS_ARE_FATAL, the default).
#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "../common/processes.hpp"
#include "ranks.hpp"
#include "shoal/core/text.hpp"
#include "shoal/data/pending_file.hpp"

namespace shoal::mpi {

class Processes : public baselines::Processes {
 public:
  Processes(int* argc, char*** argv) {
    MPI_Init(argc, argv);
    io::remove_pending_files_on_signals();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm host;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &rank_on_host);
    MPI_Comm_size(host, &on_host);
    MPI_Comm_free(&host);
  }
  ~Processes() override { MPI_Finalize(); }

  std::string launcher() const override { return "MPI has " + counted(size, "process", "processes"); }
  std::string cure() const override { return "use the mpirun of the MPI that this program was built with"; }
  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }
  double most(double value) override { return over_all(value, MPI_MAX, MPI_DOUBLE); }
  std::int64_t sum(std::int64_t value) override { return over_all(value, MPI_SUM, MPI_INT64_T); }
  int least(int value) override { return over_all(value, MPI_MIN, MPI_INT); }
  void broadcast(void* data, int bytes, int root) override { MPI_Bcast(data, bytes, MPI_BYTE, root, MPI_COMM_WORLD); }
  void gather_words(const void* own, const std::vector<std::int64_t>& counts, int word_bytes, void* all) override {
    Layout layout(size);
    for (int r = 0; r < size; ++r) layout.count(r, counts[r]);
    layout.place();
    MPI_Datatype word;
    MPI_Type_contiguous(word_bytes, MPI_BYTE, &word);
    MPI_Type_commit(&word);
    MPI_Gatherv(own, layout.counts[rank], word, all, layout.counts.data(), layout.begins.data(), word, 0,
                MPI_COMM_WORLD);
    MPI_Type_free(&word);
  }
  void begin_exchange(const std::vector<baselines::Message>& out, const std::vector<baselines::Message>& in) override {
    for (const auto& m : in) {
      MPI_Irecv(m.words, m.count, MPI_DOUBLE, m.rank, 0, MPI_COMM_WORLD, &requests_.emplace_back());
    }
    for (const auto& m : out) {
      MPI_Isend(m.words, m.count, MPI_DOUBLE, m.rank, 0, MPI_COMM_WORLD, &requests_.emplace_back());
    }
  }
  void end_exchange() override {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }
  [[noreturn]] void end_all(int status) override {
    MPI_Abort(MPI_COMM_WORLD, status);
    std::abort();  // MPI_Abort does not return
  }

  /// The library's version, such as "Open MPI v4.1.4, ..."
  static std::string library() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    return {text, static_cast<std::size_t>(length)};
  }

 private:
  std::vector<MPI_Request> requests_;
};

}  // namespace shoal::mpi
