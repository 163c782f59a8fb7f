#include "tokenizer/building.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tokenizer/byte_alphabet.hpp"
#include "tokenizer/utf8.hpp"
#include "tokenizer/wordpiece_model.hpp"

namespace trilobite {

void MergeListBuilder::append(std::string_view piece, std::string& text) const {
  if (byte_level_) {
    append_bytes_of(piece, text);
  } else {
    text += piece;
  }
}

void MergeListBuilder::add_pair(std::string_view left, std::string_view right) {
  auto& pending = pending_[waiting_++];
  auto& text = pending.text;
  text.clear();
  append(left, text);
  pending.cut = text.size();
  append(right, text);
  pending.left = vocabulary_.probe(std::string_view(text).substr(0, pending.cut));
  pending.right = vocabulary_.probe(std::string_view(text).substr(pending.cut));
  if (waiting_ == kBlock) work_off();
}

void MergeListBuilder::add_line(std::string_view line) {
  const size_t blank = line.find(' ');
  if (blank != std::string_view::npos && line.find(' ', blank + 1) == std::string_view::npos)
    return add_pair(line.substr(0, blank), line.substr(blank + 1));
  work_off();
  if (!problem_)
    problem_ = Error(fmt::format("merge rule {} is '{}', not two pieces", rank_, line));
}

Result<MergeTable> MergeListBuilder::finish() {
  work_off();
  if (problem_) return std::unexpected(*std::move(problem_));
  return std::move(table_);
}

TokenId MergeListBuilder::find(const Vocabulary::Probe& probe) {
  if (const auto id = vocabulary_.find(probe)) return *id;
  if (!problem_) {
    problem_ = Error(fmt::format("merge rule {} needs the piece '{}', which the vocabulary lacks",
                                 rank_, probe.piece));
  }
  return kUnknownSymbol;
}

void MergeListBuilder::look_up(Pending& pending) {
  pending.left_id = find(pending.left);
  pending.right_id = find(pending.right);
  // Rules are mostly in the order of what they make, so the result is seldom a new search.
  const auto makes = [&](TokenId id) {
    return vocabulary_.contains(id) && vocabulary_.piece(id) == pending.text;
  };
  if (!makes(last_result_) && !makes(++last_result_))
    last_result_ = find(vocabulary_.probe(pending.text));
  pending.result = last_result_;
  table_.prefetch(pending.left_id, pending.right_id);
  ++rank_;
}

void MergeListBuilder::work_off() {
  const uint32_t first_rank = rank_;
  const std::span block(pending_.data(), waiting_);
  for (auto& pending : block) look_up(pending);
  waiting_ = 0;
  if (problem_) return;
  for (uint32_t i = 0; const auto& pending : block)
    table_.insert(pending.left_id, pending.right_id, {first_rank + i++, pending.result});
}

namespace {

/// Finds all pairs of symbols that make a piece. A symbol is a piece or a single character (byte),
/// even one that is no piece itself.
class PairFinder {
 public:
  PairFinder(const Vocabulary& vocabulary, SymbolTable& symbols)
      : vocabulary_(vocabulary),
        symbols_(symbols),
        next_symbol_(static_cast<Symbol>(vocabulary.size())),
        table_(4 * vocabulary.size()) {}

  /// Returns how many pairs make the piece.
  size_t add_pairs_of(TokenId id, uint32_t rank) {
    const size_t before = table_.size();
    const auto piece = vocabulary_.piece(id);
    for (size_t cut = step(piece, 0); cut < piece.size(); cut += step(piece, cut)) {
      const Symbol left = symbol(piece.substr(0, cut));
      if (left == kUnknownSymbol) continue;
      const Symbol right = symbol(piece.substr(cut));
      if (right != kUnknownSymbol) table_.insert(left, right, {rank, id});
    }
    return table_.size() - before;
  }
  MergeTable take() { return std::move(table_); }

 private:
  size_t step(std::string_view piece, size_t at) const {
    return symbols_.is_byte_level() ? 1 : utf8::decode(piece.substr(at)).length;
  }
  Symbol symbol(std::string_view text) {
    if (const auto id = vocabulary_.find(text)) return *id;
    if (symbols_.is_byte_level()) return kUnknownSymbol;
    const auto first = utf8::decode(text);
    if (first.length != text.size() || first.is_invalid()) return kUnknownSymbol;
    const Symbol known = symbols_.of_character(first.code_point);
    if (known != kUnknownSymbol) return known;
    symbols_.add_character(first.code_point, next_symbol_);
    return next_symbol_++;
  }

  const Vocabulary& vocabulary_;
  SymbolTable& symbols_;
  Symbol next_symbol_;
  MergeTable table_;
};

bool is_mergeable(const Vocabulary& vocabulary, TokenId id) {
  const auto kind = vocabulary.kind(id);
  return (kind == TokenKind::normal || kind == TokenKind::unused) &&
         vocabulary.find(vocabulary.piece(id)) == id;
}

}  // namespace

Result<MergeTable> merges_by_score(const Vocabulary& vocabulary, SymbolTable& symbols) {
  std::vector<TokenId> order;
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    if (is_mergeable(vocabulary, static_cast<TokenId>(i))) order.push_back(static_cast<TokenId>(i));
  }
  std::ranges::stable_sort(order, std::greater(), [&](TokenId id) { return vocabulary.score(id); });
  PairFinder pairs(vocabulary, symbols);
  uint32_t rank = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    // Equal scores are equal ranks: then the leftmost pair merges first.
    if (i > 0 && vocabulary.score(order[i]) < vocabulary.score(order[i - 1])) ++rank;
    if (pairs.add_pairs_of(order[i], rank) > 0 && vocabulary.kind(order[i]) == TokenKind::unused) {
      return fail(
          fmt::format("the piece '{}' is unused but can be merged to; such vocabularies "
                      "are not supported",
                      vocabulary.piece(order[i])));
    }
  }
  return pairs.take();
}

MergeTable merges_by_id(const Vocabulary& vocabulary, SymbolTable& symbols) {
  PairFinder pairs(vocabulary, symbols);
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (is_mergeable(vocabulary, id)) pairs.add_pairs_of(id, static_cast<uint32_t>(i));
  }
  return pairs.take();
}

void set_byte_level_model(Tokenizer::Parts& parts, MergeTable merges, bool whole_words_first) {
  parts.kind = "byte-level BPE";
  parts.model = std::make_unique<BpeModel>(
      BpeModel::Definition{.vocabulary = &parts.vocabulary,
                           .symbols = SymbolTable::of_bytes(parts.vocabulary),
                           .merges = std::move(merges),
                           .unknown = {.unk = parts.special.unk.value_or(-1), .fuse = false},
                           .whole_words_first = whole_words_first});
}

void set_wordpiece_model(Tokenizer::Parts& parts, const BertOptions& options) {
  parts.kind = "WordPiece";
  WordPieceModel::Definition definition{.unk = parts.special.unk.value_or(-1),
                                        .most_characters = options.most_characters};
  for (size_t i = 0; i < parts.vocabulary.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    auto piece = parts.vocabulary.piece(id);
    if (piece.empty() || parts.vocabulary.kind(id) != TokenKind::normal) continue;
    const auto& mark = options.beginning.empty() ? options.continuation : options.beginning;
    const bool is_marked = piece.starts_with(mark);
    if (is_marked) piece.remove_prefix(mark.size());
    const bool continues = is_marked == options.beginning.empty();
    (continues ? definition.continuations : definition.beginnings).emplace_back(piece, id);
  }
  parts.model = std::make_unique<WordPieceModel>(std::move(definition));
}

void add_control_tokens(Tokenizer::Parts& parts, bool user_defined) {
  for (size_t i = 0; i < parts.vocabulary.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    const auto kind = parts.vocabulary.kind(id);
    const bool is_control = kind == TokenKind::control || kind == TokenKind::unknown;
    if (!is_control && !(user_defined && kind == TokenKind::user_defined)) continue;
    parts.added.add(
        {.content = std::string(parts.vocabulary.piece(id)), .id = id, .special = is_control});
  }
}

void find_end_of_generation(Tokenizer::Parts& parts) {
  constexpr std::array<std::string_view, 9> kNames = {
      "<|eot_id|>",    "<|eom_id|>", "<|end_of_text|>",       "<|endoftext|>", "<|im_end|>",
      "<end_of_turn>", "<|end|>",    "<|END_OF_TURN_TOKEN|>", "<EOT>"};
  auto& ends = parts.end_of_generation;
  if (parts.special.eos) ends.push_back(*parts.special.eos);
  if (parts.special.eot) ends.push_back(*parts.special.eot);
  for (size_t i = 0; i < parts.vocabulary.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    const auto kind = parts.vocabulary.kind(id);
    if (kind != TokenKind::control && kind != TokenKind::user_defined) continue;
    if (std::ranges::find(kNames, parts.vocabulary.piece(id)) != kNames.end()) ends.push_back(id);
  }
  std::ranges::sort(ends);
  ends.erase(std::ranges::unique(ends).begin(), ends.end());
}

std::optional<TokenId> find_control(const Vocabulary& vocabulary, std::string_view piece) {
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (vocabulary.kind(id) == TokenKind::control && vocabulary.piece(id) == piece) return id;
  }
  return std::nullopt;
}

}  // namespace trilobite
