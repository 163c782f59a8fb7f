#include "store/schema.hpp"

#include <gmock/gmock.h>

#include "store/history.hpp"
#include "store/stores_for_test.hpp"

namespace trilobite::store {
namespace {

using testing::HasSubstr;

class Schema : public StoreTest {};

TEST_F(Schema, every_older_version_is_brought_up_to_date_with_its_data) {
  {
    auto database = open_database().value();
    EXPECT_EQ(schema_version(*database).value(), 0u);
    ASSERT_TRUE(migrate(*database, 1));
    EXPECT_EQ(schema_version(*database).value(), 1u);
    ASSERT_TRUE(
        database->run("INSERT INTO runs VALUES ('old', '2025', 1, '0', '', 'linux', 'm', '{}')"));
  }
  auto history = History::open(url_, Access::write).value();
  EXPECT_EQ(history.runs().value().at(0).id, "old");
  EXPECT_TRUE(history.baselines().value().empty());
}

TEST_F(Schema, migrating_twice_is_the_same_as_once) {
  auto database = open_database().value();
  ASSERT_TRUE(migrate(*database));
  ASSERT_TRUE(migrate(*database));
  EXPECT_EQ(schema_version(*database).value(), migrations().size());
}

TEST_F(Schema, a_newer_store_is_refused_and_unchanged) {
  {
    auto database = open_database().value();
    ASSERT_TRUE(migrate(*database));
    ASSERT_TRUE(database->run("UPDATE trilobite_store SET value = '99'"));
  }
  for (const auto access : {Access::read, Access::write}) {
    const auto opened = History::open(url_, access);
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message(), HasSubstr("newer"));
    EXPECT_EQ(opened.error().kind(), ErrorKind::input);
  }
  EXPECT_EQ(schema_version(*open_database().value()).value(), 99u);
}

TEST_F(Schema, an_older_store_that_may_only_be_read_says_so) {
  {
    auto database = open_database().value();
    ASSERT_TRUE(migrate(*database, 1));
  }
  EXPECT_THAT(History::open(url_, Access::read).error().message(), HasSubstr("older schema"));
}

TEST_F(Schema, a_database_of_something_else_is_refused) {
  {
    auto database = open_database().value();
    ASSERT_TRUE(database->run("CREATE TABLE recipes (name TEXT)"));
  }
  EXPECT_THAT(History::open(url_, Access::write).error().message(), HasSubstr("something else"));
}

TEST_F(Schema, a_version_that_is_no_number_is_an_error) {
  auto database = open_database().value();
  ASSERT_TRUE(migrate(*database));
  ASSERT_TRUE(database->run("UPDATE trilobite_store SET value = 'many'"));
  EXPECT_FALSE(schema_version(*database));
  ASSERT_TRUE(database->run("DELETE FROM trilobite_store"));
  EXPECT_FALSE(schema_version(*database));
}

class SchemaOfAFile : public StoreTest {};

TEST_F(SchemaOfAFile, a_locked_store_is_an_error_of_the_environment) {
  auto holder = open_database().value();
  ASSERT_TRUE(migrate(*holder));
  ASSERT_TRUE(holder->run("BEGIN EXCLUSIVE"));
  auto other = open_database().value();
  ASSERT_TRUE(other->run("PRAGMA busy_timeout = 50"));
  const auto refused = other->begin_writing();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::environment);
  EXPECT_THAT(refused.error().message(), HasSubstr("another program"));
}

TEST_F(SchemaOfAFile, a_full_disk_is_an_error_of_the_environment_and_loses_nothing) {
  auto database = open_database().value();
  ASSERT_TRUE(migrate(*database));
  ASSERT_TRUE(database->run("PRAGMA max_page_count = 20"));
  Result<std::vector<ResultRow>> inserted;
  const Value large = std::string(20'000, 'x');
  for (int i = 0; i < 20 && inserted; ++i) {
    const std::array<Value, 2> values{std::to_string(i), large};
    inserted = database->run("INSERT INTO self_tests VALUES ($1, '', '', $2)", values);
  }
  ASSERT_FALSE(inserted);
  EXPECT_EQ(inserted.error().kind(), ErrorKind::environment);
  EXPECT_TRUE(database->run("SELECT count(*) FROM self_tests"));
}

TEST_F(SchemaOfAFile, a_store_opened_to_read_cannot_be_written) {
  ASSERT_TRUE(migrate(*open_database().value()));
  auto database = open_sqlite(url_, Access::read).value();
  const auto written = database->run("DELETE FROM runs");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind(), ErrorKind::environment);
}

}  // namespace
}  // namespace trilobite::store
