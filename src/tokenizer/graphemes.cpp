#include "tokenizer/graphemes.hpp"

#include "tokenizer/utf8.hpp"

namespace trilobite {
namespace {

using unicode::GraphemeClass;
using enum unicode::GraphemeClass;

bool is_control(GraphemeClass c) { return c == cr || c == lf || c == control; }

bool hangul_joins(GraphemeClass left, GraphemeClass right) {
  if (left == hangul_l)
    return right == hangul_l || right == hangul_v || right == hangul_lv || right == hangul_lvt;
  if (left == hangul_lv || left == hangul_v) return right == hangul_v || right == hangul_t;
  return (left == hangul_lvt || left == hangul_t) && right == hangul_t;
}

/// What the rules need to know of the cluster so far.
class ClusterState {
 public:
  explicit ClusterState(GraphemeClass first) : last_(first) { note(first); }

  /// Whether there is no boundary before `next`.
  bool joins(GraphemeClass next) const {
    if (last_ == cr) return next == lf;
    if (is_control(last_) || is_control(next)) return false;
    if (hangul_joins(last_, next)) return true;
    if (next == extend || next == zero_width_joiner || next == spacing_mark) return true;
    if (last_ == prepend) return true;
    if (next == pictographic) return pictograph_and_joiner_;
    return next == regional_indicator && last_ == regional_indicator && indicators_ % 2 == 1;
  }
  void take(GraphemeClass next) {
    pictograph_and_joiner_ = next == zero_width_joiner && pictograph_;
    note(next);
    last_ = next;
  }

 private:
  void note(GraphemeClass c) {
    if (c == pictographic) pictograph_ = true;
    if (c != pictographic && c != extend) pictograph_ = false;
    indicators_ = c == regional_indicator ? indicators_ + 1 : 0;
  }
  GraphemeClass last_;
  bool pictograph_ = false;  // a pictograph, then only extending characters
  bool pictograph_and_joiner_ = false;
  unsigned indicators_ = 0;
};

}  // namespace

size_t first_grapheme(std::string_view text) {
  const auto first = utf8::decode(text);
  size_t length = first.length;
  ClusterState state(unicode::grapheme_class(first.code_point));
  while (length < text.size()) {
    const auto next = utf8::decode(text.substr(length));
    const auto next_class = unicode::grapheme_class(next.code_point);
    if (!state.joins(next_class)) break;
    state.take(next_class);
    length += next.length;
  }
  return length;
}

}  // namespace trilobite
