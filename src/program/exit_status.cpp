#include "exit_status.hpp"

#include <cstdio>
#include <new>

#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"

namespace shoal {

int complain(int status, const std::string& program, const std::string& what) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: error: %s\n", program.c_str(), printable(what).c_str());
  return status;
}

int exit_status_of(const std::string& program, const std::function<bool()>& body) {
  try {
    return body() ? 0 : 1;
  } catch (const UsageError& error) {
    return complain(2, program, error.what());
  } catch (const CapacityError& error) {
    return complain(3, program, error.what());
  } catch (const std::bad_alloc&) {
    return complain(3, program, "out of memory; make it smaller, or use more PEs");
  } catch (const Error& error) {
    return complain(4, program, error.what());
  } catch (const std::exception& error) {
    return complain(5, program, std::string("the program threw an exception of its own: ") + error.what());
  } catch (...) {
    return complain(5, program, "the program threw an exception of its own that has no text");
  }
}

}  // namespace shoal
