#include "model/stop_texts.hpp"

#include <gtest/gtest.h>

namespace trilobite::model {
namespace {

TEST(StopTexts, nothing_of_a_stop_text_is_ever_shown) {
  StopTexts stops({"END", "\n\n"});
  EXPECT_EQ(stops.push("one E"), "one ");
  EXPECT_EQ(stops.push("N"), "");
  EXPECT_EQ(stops.push("E\n"), "ENE");
  EXPECT_EQ(stops.push("two\nEND three"), "\ntwo\n");
  EXPECT_TRUE(stops.stopped());
  EXPECT_EQ(stops.push("four"), "");
  EXPECT_EQ(stops.finish(), "");
}

TEST(StopTexts, what_was_held_back_comes_at_the_end) {
  StopTexts stops({"ababc"});
  EXPECT_EQ(stops.push("ababab"), "ab");
  EXPECT_FALSE(stops.stopped());
  EXPECT_EQ(stops.finish(), "abab");
  EXPECT_EQ(stops.finish(), "");
}

TEST(StopTexts, the_earliest_of_several_counts_in_any_cut) {
  const std::string text = "some text, with a comma; and more";
  for (size_t cut = 1; cut < text.size(); ++cut) {
    StopTexts stops({"; and", "comma", "zzz"});
    std::string shown;
    for (size_t at = 0; at < text.size(); at += cut) shown += stops.push(text.substr(at, cut));
    shown += stops.finish();
    EXPECT_EQ(shown, "some text, with a ") << cut;
  }
}

TEST(StopTexts, without_any_everything_is_shown_at_once) {
  StopTexts stops({});
  EXPECT_EQ(stops.push("text"), "text");
  EXPECT_EQ(stops.finish(), "");
}

}  // namespace
}  // namespace trilobite::model
