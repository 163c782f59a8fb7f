#pragma once
// AddedTokens: tokens that are found in the text itself before anything else is done to it, such as
// "<|eot_id|>" or "[MASK]".

#include <functional>
#include <string>
#include <vector>

#include "tokenizer/prefix_matcher.hpp"
#include "trilobite/tokenizer.hpp"

namespace trilobite {

struct AddedToken {
  std::string content;
  TokenId id = -1;
  bool special = false;      // ignored unless special tokens are parsed
  bool single_word = false;  // not within a word
  bool lstrip = false;       // takes the white space before it along
  bool rstrip = false;       // and that after it
};

class AddedTokens {
 public:
  void add(AddedToken token);
  bool is_empty() const { return tokens_.empty(); }
  const std::vector<AddedToken>& tokens() const { return tokens_; }

  /// Text between tokens has no token.
  struct Fragment {
    size_t begin;
    size_t end;
    const AddedToken* token;
  };
  /// The leftmost, longest tokens, and the text between them, in order.
  class Cursor {
   public:
    Cursor(const AddedTokens& tokens, std::string_view text, bool parse_special)
        : tokens_(tokens), text_(text), parse_special_(parse_special) {}
    /// False at the end.
    bool next(Fragment& fragment);

   private:
    bool find_token();
    bool accepts(const AddedToken& token, size_t begin, size_t end) const;
    const AddedTokens& tokens_;
    std::string_view text_;
    bool parse_special_;
    size_t position_ = 0;     // up to here everything was given out
    size_t search_from_ = 0;  // up to here tokens were looked for
    Fragment waiting_{0, 0, nullptr};
  };

 private:
  std::vector<AddedToken> tokens_;
  PrefixMatcher matcher_;
};

}  // namespace trilobite
