// Nothing: its header is compiled for the tests (tests/CMakeLists.txt).
