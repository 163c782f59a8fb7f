#include "tokenizer/added_tokens.hpp"

#include <algorithm>

#include "tokenizer/utf8.hpp"

namespace trilobite {
namespace {

bool has_class(const utf8::Character& c, uint8_t bits) {
  return (unicode::class_of(c.code_point) & bits) != 0;
}

size_t skip_space_back(std::string_view text, size_t end) {
  while (end > 0) {
    const auto last = utf8::decode_last(text.substr(0, end));
    if (!has_class(last, unicode::kSpace)) break;
    end -= last.length;
  }
  return end;
}

size_t skip_space(std::string_view text, size_t begin) {
  while (begin < text.size()) {
    const auto first = utf8::decode(text.substr(begin));
    if (!has_class(first, unicode::kSpace)) break;
    begin += first.length;
  }
  return begin;
}

}  // namespace

void AddedTokens::add(AddedToken token) {
  matcher_.add(token.content, static_cast<int32_t>(tokens_.size()));
  tokens_.push_back(std::move(token));
}

bool AddedTokens::Cursor::accepts(const AddedToken& token, size_t begin, size_t end) const {
  if (token.special && !parse_special_) return false;
  if (!token.single_word) return true;
  const bool free_before =
      begin == 0 || !has_class(utf8::decode_last(text_.substr(0, begin)), unicode::kWord);
  const bool free_after =
      end == text_.size() || !has_class(utf8::decode(text_.substr(end)), unicode::kWord);
  return free_before && free_after;
}

bool AddedTokens::Cursor::find_token() {
  for (;;) {
    const auto found = tokens_.matcher_.find(text_, search_from_);
    if (found.begin == std::string_view::npos) return false;
    size_t begin = found.begin;
    size_t end = search_from_ = begin + found.match.length;
    const auto& token = tokens_.tokens_[static_cast<size_t>(found.match.value)];
    if (begin < position_ || !accepts(token, begin, end)) continue;
    if (token.lstrip) begin = std::max(skip_space_back(text_, begin), position_);
    if (token.rstrip) end = skip_space(text_, end);
    waiting_ = {begin, end, &token};
    return true;
  }
}

bool AddedTokens::Cursor::next(Fragment& fragment) {
  if (waiting_.token != nullptr) {
    fragment = waiting_;
    waiting_.token = nullptr;
    position_ = fragment.end;
    return true;
  }
  if (position_ == text_.size()) return false;
  const size_t begin = position_;
  if (!find_token()) {
    position_ = text_.size();
    fragment = {begin, position_, nullptr};
    return true;
  }
  if (waiting_.begin == begin) return next(fragment);
  position_ = waiting_.begin;
  fragment = {begin, position_, nullptr};
  return true;
}

}  // namespace trilobite
