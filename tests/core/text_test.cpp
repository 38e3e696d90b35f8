#include "shoal/core/text.hpp"

#include <gtest/gtest.h>

#include "shoal/core/error.hpp"

namespace shoal {
namespace {

TEST(Printable, WhatATerminalObeysIsWrittenOut) {
  EXPECT_EQ(printable("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(printable(std::string_view("a\0b\tc\nd\re\x7f", 10)), "a\\x00b\\x09c\\x0ad\\x0de\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m")
      << "the single character that means ESC [";
}

TEST(Printable, NamesOfAnyLanguageStayAsTheyAre) {
  for (const char* name : {"", "roads.gr", "a b\\c",
                           "Stra\xc3\x9f"
                           "e.mtx",
                           "\xe5\x9b\xbe.el", "\xf0\x9f\x90\x9f.el", "\xc2\xa0", "\xef\xbf\xbd", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(printable(name), name);
  }
}

TEST(Printable, BytesThatAreNoUtf8) {
  for (const auto& [bytes, shown] :
       {std::pair{"\x9b"
                  "31m",
                  "\\x9b31m"},
        std::pair{"\xc3", "\\xc3"}, std::pair{"\xc3(", "\\xc3("}, std::pair{"\xc0\x9b", "\\xc0\\x9b"},
        std::pair{"\xe0\x80\x9b", "\\xe0\\x80\\x9b"}, std::pair{"\xf0\x80\x80\x9b", "\\xf0\\x80\\x80\\x9b"},
        std::pair{"\xed\xa0\x80", "\\xed\\xa0\\x80"}, std::pair{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
        std::pair{"\xff\xfe", "\\xff\\xfe"}}) {
    EXPECT_EQ(printable(bytes), shown);
  }
}

TEST(Printable, Twice) {
  const std::string once = printable("\x1b\xff\\x1b");
  EXPECT_EQ(printable(once), once);
}

TEST(Errors, ShowNoBytesThatATerminalObeys) {
  EXPECT_STREQ(UsageError("\x1b[31mx.el: is missing\n").what(), "\\x1b[31mx.el: is missing\\x0a");
}

}  // namespace
}  // namespace shoal
