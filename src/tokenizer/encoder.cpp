#include "tokenizer/encoder.hpp"

#include <algorithm>

namespace trilobite {
namespace {

/// Takes the words of one normalised fragment.
class WordEncoder final : public PieceConsumer {
 public:
  WordEncoder(const Tokenizer::Parts& parts, Workspace& workspace, const EncodeTarget& target)
      : model_(*parts.model),
        caches_(parts.caches_words && target.offsets == nullptr),
        w_(workspace),
        target_(target) {}

  void start(const AlignedView& text) { text_ = text; }
  void piece(size_t begin, size_t end) override {
    const auto word = text_.bytes.substr(begin, end - begin);
    if (!caches_ || word.size() > kLongestCached) return encode_new(word, begin);
    if (word.size() <= 16) return look_up(w_.cache.short_words, word);
    look_up(w_.cache.long_words, word);
  }

 private:
  static constexpr size_t kLongestCached = 48;

  template <typename Table>
  void look_up(Table& table, std::string_view word) {
    const auto key = Table::key_of(word);
    auto& place = table.place_of(word, key);
    auto& ids = target_.ids;
    if (place.holds(word, key)) {
      const auto tokens = place.tokens();
      ids.insert(ids.end(), tokens.begin(), tokens.end());
      return;
    }
    const size_t before = ids.size();
    encode_new(word, 0);
    place.fill(word, key, std::span(ids).subspan(before));
  }

  void encode_new(std::string_view word, size_t begin) {
    TokenSink sink{&target_.ids, target_.offsets == nullptr ? nullptr : &w_.lengths};
    w_.lengths.clear();
    model_.encode(word, w_.model, sink);
    for (const uint32_t length : w_.lengths) {
      target_.offsets->push_back(text_.origin(begin, begin + length));
      begin += length;
    }
  }

  const WordModel& model_;
  bool caches_;
  Workspace& w_;
  const EncodeTarget& target_;
  AlignedView text_;
};

class TextEncoder {
 public:
  TextEncoder(const Tokenizer::Parts& parts, EncodeOptions options, Workspace& workspace,
              const EncodeTarget& target)
      : parts_(parts),
        options_(options),
        w_(workspace),
        target_(target),
        keeps_origins_(target.offsets != nullptr || asks_where_text_begins(parts)),
        words_(parts, workspace, target) {}

  void run(std::string_view text) {
    const auto end = static_cast<uint32_t>(text.size());
    if (options_.add_special) add(parts_.prefix, {0, 0});
    for_each_fragment(parts_.added, {.bytes = text}, [&](const AlignedView& fragment) {
      const auto normalized = normalize(parts_.normalizer, fragment, keeps_origins_, w_.normalized);
      for_each_fragment(parts_.added_after_normalizing, normalized,
                        [&](const AlignedView& part) { encode_fragment(part); });
    });
    if (options_.add_special) add(parts_.suffix, {end, end});
  }

 private:
  /// A marker that goes before the first word of the input alone: a normaliser, which may take
  /// bytes from its beginning, must then say where the rest comes from.
  static bool asks_where_text_begins(const Tokenizer::Parts& parts) {
    if (parts.normalizer.empty()) return false;
    return std::ranges::any_of(parts.rewriter, [](const NormalizeStep& step) {
      const auto* metaspace = std::get_if<Metaspace>(&step);
      return metaspace != nullptr && metaspace->prepend == Metaspace::Prepend::first_only;
    });
  }
  void add(std::span<const TokenId> ids, ByteRange origin) {
    target_.ids.insert(target_.ids.end(), ids.begin(), ids.end());
    if (target_.offsets != nullptr)
      target_.offsets->insert(target_.offsets->end(), ids.size(), origin);
  }
  template <typename Each>
  void for_each_fragment(const AddedTokens& tokens, const AlignedView& text, Each&& each) {
    if (tokens.is_empty()) return each(text);
    AddedTokens::Cursor cursor(tokens, text.bytes, options_.parse_special);
    for (AddedTokens::Fragment fragment{}; cursor.next(fragment);) {
      if (fragment.token == nullptr) {
        each(text.part(fragment.begin, fragment.end));
      } else {
        add({&fragment.token->id, 1}, text.origin(fragment.begin, fragment.end));
      }
    }
  }
  void encode_fragment(const AlignedView& part) {
    const auto text = normalize(parts_.rewriter, part, keeps_origins_, w_.rewritten);
    words_.start(text);
    split(parts_.splits, text.bytes, words_);
  }

  const Tokenizer::Parts& parts_;
  EncodeOptions options_;
  Workspace& w_;
  const EncodeTarget& target_;
  bool keeps_origins_;
  WordEncoder words_;
};

}  // namespace

void Workspace::shrink() {
  constexpr size_t kKeptBytes = size_t{16} << 20;
  if (normalized.text[0].bytes().capacity() + normalized.text[1].bytes().capacity() > kKeptBytes)
    normalized = NormalizeBuffers();
  if (rewritten.text[0].bytes().capacity() + rewritten.text[1].bytes().capacity() > kKeptBytes)
    rewritten = NormalizeBuffers();
  if (model.tokens.capacity() * sizeof(SizedSymbol) > kKeptBytes) model = ModelBuffers();
}

void encode(const Tokenizer::Parts& parts, std::string_view text, EncodeOptions options,
            Workspace& workspace, const EncodeTarget& target) {
  TextEncoder(parts, options, workspace, target).run(text);
}

}  // namespace trilobite
