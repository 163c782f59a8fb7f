#pragma once
// In which of its layouts a file has its I2_S tensors. bitnet.cpp's files do not say; ours do, in
// the metadata key kI2sLayoutKey.

#include <optional>
#include <string_view>

#include "gguf/gguf_file.hpp"
#include "quant/i2s_layout_guess.hpp"

namespace trilobite::modelfile {

inline constexpr std::string_view kI2sLayoutKey = "trilobite.i2s_layout";
/// The one that is written here.
inline constexpr auto kWrittenI2sLayout = quant::I2sLayout::x86_block128;

/// One layout for all tensors, because one program wrote them: what the file says, else what the
/// structure of a tensor or the shapes of all tell, else (confidence 0) the commonest that every
/// shape allows. Without I2_S tensors nothing is possible.
quant::I2sLayoutGuess guess_i2s_layout(const gguf::Gguf& file);

/// `wanted`, else the guess; a guess that could not tell is logged as a warning.
quant::I2sLayout choose_i2s_layout(const gguf::Gguf& file, std::optional<quant::I2sLayout> wanted);

}  // namespace trilobite::modelfile
