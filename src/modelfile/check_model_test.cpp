#include "modelfile/check_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder_for_test.hpp"
#include "modelfile/model_for_test.hpp"

namespace trilobite::modelfile {
namespace {

using gguf::TensorType;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ModelShape small_llama() { return small_shape("llama"); }

void write_small_llama(const Path& path, const std::vector<TensorForTest>& tensors) {
  write_small_model(path, small_llama(), tensors);
}

std::vector<std::string> findings_in(const Path& path, bool problems, bool deep = true) {
  const auto file = gguf::GgufFile::open(path).value();
  ThreadPool pool(2);
  std::vector<std::string> texts;
  for (const auto& finding : check_model(file.contents(), deep, pool)) {
    if (finding.problem == problems) texts.push_back(finding.text);
  }
  return texts;
}

TEST(CheckModel, a_whole_model_has_no_findings) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.gguf";
  write_small_llama(path, tensors_of(small_llama()));
  EXPECT_THAT(findings_in(path, true), IsEmpty());
  EXPECT_THAT(findings_in(path, false), IsEmpty());
}

TEST(CheckModel, missing_misshapen_and_foreign_tensors_are_named) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.gguf";
  auto tensors = tensors_of(small_llama());
  tensors.erase(tensors.begin() + 1);  // output_norm
  tensors[1].dimensions = {4};
  tensors[1].values.resize(4);
  tensors.push_back({"blk.0.spare.weight", {4}, TensorType::f32, normal_values(4)});
  write_small_llama(path, tensors);
  const auto problems = findings_in(path, true);
  EXPECT_THAT(problems, Contains(HasSubstr("1 tensors that llama needs are missing: output_norm")));
  EXPECT_THAT(problems, Contains(HasSubstr("blk.0.attn_norm.weight is 4, not 8")));
  EXPECT_THAT(problems, Contains(HasSubstr("no part of llama")));
  EXPECT_THAT(problems, Contains(HasSubstr("change the results: blk.0.spare")));
}

TEST(CheckModel, numbers_that_are_none_are_found_when_every_weight_is_read) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.gguf";
  auto tensors = tensors_of(small_llama());
  // The encoder refuses infinity, so a number to be found takes its place until the file is
  // written.
  tensors[3].values[9] = 12345.0F;
  write_small_llama(path, tensors);
  auto bytes = read_file(path).value();
  const float marker = 12345.0F;
  const auto at = bytes.find(std::string_view(reinterpret_cast<const char*>(&marker), 4));
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 4, std::string("\0\0\x80\x7f", 4));  // infinity
  ASSERT_TRUE(write_file_atomically(path, bytes));
  EXPECT_THAT(findings_in(path, true, false), IsEmpty());
  EXPECT_THAT(findings_in(path, true), Contains(HasSubstr("row 1, column 1 is inf")));
}

TEST(CheckModel, tensors_that_share_bytes_are_found) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.gguf";
  write_small_llama(path, tensors_of(small_llama()));
  auto bytes = read_file(path).value();
  // The offset follows the name, the number of dimensions, one dimension and the type.
  const std::string_view name = "output_norm.weight";
  const auto at = bytes.find(name) + name.size() + 4 + 8 + 4;
  bytes.replace(at, 8, std::string(8, '\0'));
  ASSERT_TRUE(write_file_atomically(path, bytes));
  EXPECT_THAT(findings_in(path, true),
              Contains(HasSubstr("share bytes: output_norm.weight and token_embd.weight")));
}

TEST(CheckModel, an_architecture_that_nobody_knows_is_a_problem) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.gguf";
  write_model(path, {{"w", {4}, TensorType::f32, {1, 2, 3, 4}}},
              [](gguf::Writer& writer) { writer.set_text("general.architecture", "abacus"); });
  EXPECT_THAT(findings_in(path, true), Contains(HasSubstr("'abacus' is not known")));
}

TEST(CheckModel, the_layout_of_i2s_tensors_is_guessed) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.gguf";
  write_model(path, {{"w", {128, 16}, TensorType::i2_s, normal_values(128 * 16)}});
  EXPECT_THAT(findings_in(path, false), Contains(HasSubstr("I2_S layout x86-128 in 1 of")));
}

TEST(CheckModel, ternary_weights_that_are_all_zero_are_no_problem) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.gguf";
  write_model(path, {{"w", {128, 16}, TensorType::i2_s, std::vector<float>(128 * 16)}},
              [](gguf::Writer& writer) { writer.set_text("general.architecture", "abacus"); });
  EXPECT_THAT(findings_in(path, true), ElementsAre(HasSubstr("'abacus' is not known")));
}

TEST(CheckModel, a_file_of_metadata_alone_is_noted) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.gguf";
  write_model(path, {});
  EXPECT_THAT(findings_in(path, true), IsEmpty());
  EXPECT_THAT(findings_in(path, false), Contains(HasSubstr("no tensors")));
}

}  // namespace
}  // namespace trilobite::modelfile
