// Empty: this file exists so that GoogleTest's header is precompiled for the tests (tests/CMakeLists.txt).
