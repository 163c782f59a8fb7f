#include "modelfile/i2s_layout.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "modelfile/tensor_codec.hpp"

namespace trilobite::modelfile {
namespace {

using quant::I2sLayout;
using quant::I2sLayoutGuess;

std::optional<I2sLayoutGuess> said_by(const gguf::Gguf& file) {
  const auto name = file.text(kI2sLayoutKey);
  const auto layout = name ? std::ranges::find(quant::kI2sLayouts, *name,
                                               [](I2sLayout each) { return name_of(each); })
                           : quant::kI2sLayouts.end();
  if (layout == quant::kI2sLayouts.end()) return std::nullopt;
  return I2sLayoutGuess{*layout, 1, {*layout}, "the file says so"};
}

/// Keeps of `possible` what is in `others`.
void intersect(std::vector<I2sLayout>& possible, const std::vector<I2sLayout>& others) {
  std::erase_if(possible, [&](I2sLayout layout) {
    return std::ranges::find(others, layout) == others.end();
  });
}

}  // namespace

I2sLayoutGuess guess_i2s_layout(const gguf::Gguf& file) {
  if (auto said = said_by(file)) return *std::move(said);
  I2sLayoutGuess all;
  for (const auto& tensor : file.tensors()) {
    if (tensor.type->type != gguf::TensorType::i2_s) continue;
    // Whoever reads a damaged tensor says what is wrong with it.
    const auto guess = quant::guess_i2s_layout(packed_view(tensor));
    if (!guess) continue;
    if (guess->confidence > 0) return *guess;
    if (all.possible.empty()) all = *guess;
    intersect(all.possible, guess->possible);
    if (all.possible.empty()) return {};
    all.layout = all.possible.front();
  }
  if (all.possible.size() == 1) {
    all.confidence = 1;
    all.reason = "no other layout holds the shapes of all tensors";
  }
  return all;
}

I2sLayout choose_i2s_layout(const gguf::Gguf& file, std::optional<I2sLayout> wanted) {
  if (wanted) return *wanted;
  const auto guess = guess_i2s_layout(file);
  if (guess.confidence == 0 && !guess.possible.empty()) {
    log::warn(
        "in which layout the I2_S tensors are cannot be told, {} is assumed ({}); name it with "
        "--i2s-layout if the model talks nonsense",
        name_of(guess.layout), guess.reason);
  }
  return guess.layout;
}

}  // namespace trilobite::modelfile
