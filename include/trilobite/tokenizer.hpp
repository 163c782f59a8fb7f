#pragma once
// Text to token ids and back.
//
//     const auto tokenizer = trilobite::Tokenizer::load("model.gguf");
//     if (!tokenizer) return complain(tokenizer.error().message());
//     const std::vector<trilobite::TokenId> ids = tokenizer->encode("Hello, world");
//     const std::string text = tokenizer->decode(ids);
//
// A Tokenizer never changes after loading and may be used by many threads at once. Text is UTF-8;
// any bytes are accepted, docs/tokenizers.md says what becomes of invalid ones.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trilobite/error.hpp"

namespace trilobite {

using TokenId = int32_t;

/// Tokens with a meaning of their own; absent where the vocabulary has none.
struct SpecialTokens {
  std::optional<TokenId> bos;   ///< begins a text; [CLS] of BERT
  std::optional<TokenId> eos;   ///< ends a text; [SEP] of BERT
  std::optional<TokenId> unk;   ///< stands for what the vocabulary cannot express
  std::optional<TokenId> pad;   ///< fills a batch
  std::optional<TokenId> mask;  ///< hides a word in training
  std::optional<TokenId> eot;   ///< ends a turn of a conversation
};

struct EncodeOptions {
  /// Add the tokens that the model expects around a text (bos, eos, [CLS], [SEP]), as its file
  /// says.
  bool add_special = true;
  /// "<|eot_id|>" within the text becomes that token; false: it is text like any other.
  bool parse_special = true;
};

struct DecodeOptions {
  /// Write special tokens as their text; false: leave them out.
  bool special_tokens = false;
};

/// Bytes [begin, end) of the text that was encoded.
struct ByteRange {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool operator==(const ByteRange&) const = default;
};

/// Ids and where each comes from. Tokens that were added have the empty range at their place.
struct Encoding {
  std::vector<TokenId> ids;
  std::vector<ByteRange> offsets;  ///< as many as ids
};

struct BatchOptions {
  EncodeOptions encode;
  unsigned threads = 1;
  /// Longest row, added tokens included, which are kept; 0: no limit.
  size_t max_tokens = 0;
  bool truncate_left = false;  ///< drop the beginning rather than the end of a long text
  /// Fill every row to the length of the longest (or to `pad_to`, if that is more).
  bool pad = false;
  size_t pad_to = 0;
  bool pad_left = false;
};

/// One row per text.
struct Batch {
  std::vector<std::vector<TokenId>> ids;
  std::vector<size_t> lengths;  ///< tokens of each row that are not padding
};

class Tokenizer;

/// Decodes ids as a model produces them. A character that is spread over several tokens comes out
/// when it is whole. Refers to its Tokenizer, which must outlive it.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, DecodeOptions options = {});
  /// What comes next continues the text of `ids`, which is not given out again: a blank that begins
  /// the next word is part of the text. Special tokens alone are no text. Call it before the first
  /// push with the prompt of a generation.
  void continue_after(std::span<const TokenId> ids);
  /// The text that is complete now; often empty, valid until the next call.
  std::string_view push(TokenId id);
  /// What is left of an incomplete character, as U+FFFD. Ready for the next text afterwards.
  std::string_view finish();

 private:
  const Tokenizer& tokenizer_;
  DecodeOptions options_;
  bool is_first_ = true;
  std::string pending_;
  std::string ready_;
};

class Tokenizer {
 public:
  /// Recognises by content: GGUF, Hugging Face tokenizer.json, SentencePiece .model, GPT-2's
  /// vocab.json or encoder.json (merges.txt or vocab.bpe beside it), tiktoken ranks, BERT's
  /// vocab.txt, llama2.c's tokenizer.bin. A folder is searched for the first of these. The error
  /// names what is wrong or not supported; a tokenizer that loads gives the original's ids.
  static Result<Tokenizer> load(const std::filesystem::path& path);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  std::vector<TokenId> encode(std::string_view text, EncodeOptions options = {}) const;
  /// Appends to `ids`. Allocates nothing once `ids` and this tokenizer's own buffers have grown.
  void encode_to(std::vector<TokenId>& ids, std::string_view text,
                 EncodeOptions options = {}) const;
  /// Slower than `encode`, same ids.
  Encoding encode_with_offsets(std::string_view text, EncodeOptions options = {}) const;
  Batch encode_batch(std::span<const std::string_view> texts, const BatchOptions& options) const;

  /// Valid UTF-8; ids outside the vocabulary are left out.
  std::string decode(std::span<const TokenId> ids, DecodeOptions options = {}) const;
  /// The text that `ids` add to the text of `before`: what a model wrote after a prompt.
  std::string decode_after(std::span<const TokenId> before, std::span<const TokenId> ids,
                           DecodeOptions options = {}) const;

  size_t vocabulary_size() const;
  /// The bytes a token stands for, before a decoder joins them ("▁the", "##ing"); empty for ids
  /// outside the vocabulary.
  std::string_view piece(TokenId id) const;
  /// The token with exactly this piece, special ones included.
  std::optional<TokenId> find(std::string_view piece) const;
  const SpecialTokens& special() const;
  /// Control tokens: never made from text unless parsed, left out by decode.
  bool is_special(TokenId id) const;
  /// The model has said all it wanted: eos, eot and their like.
  bool is_end_of_generation(TokenId id) const;
  /// What `add_special` puts before and after a text.
  std::span<const TokenId> prefix() const;
  std::span<const TokenId> suffix() const;
  /// "byte-level BPE", "WordPiece", "SentencePiece BPE", "Unigram".
  std::string_view kind() const;

  /// For the loaders in src/tokenizer.
  struct Parts;
  explicit Tokenizer(std::unique_ptr<const Parts> parts);

 private:
  friend class StreamDecoder;
  struct Workspaces;
  std::unique_ptr<const Parts> parts_;
  std::unique_ptr<Workspaces> workspaces_;
};

}  // namespace trilobite
