#include "notify/github.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <regex>

#include "base/json.hpp"
#include "notify/http.hpp"
#include "notify/libcurl.hpp"

namespace trilobite::notify {
namespace {

constexpr size_t kLongestText = 65'000;  // GitHub takes 65,536 characters
constexpr unsigned kPages = 20;          // of 100 entries: where we look for what we wrote before

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

/// A token goes over the wire only where nobody can read along.
Result<void> check_api_url(const std::string& url) {
  if (auto loaded = libcurl.load(); !loaded) return loaded;
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parsed(curl_url(), curl_url_cleanup);
  const auto part = [&](CURLUPart which) {
    char* text = nullptr;
    if (curl_url_get(parsed.get(), which, &text, 0) != CURLUE_OK) return std::string();
    const std::unique_ptr<char, void (*)(void*)> owner(text, curl_free);
    return std::string(text);
  };
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK ||
      (part(CURLUPART_SCHEME) != "https" && part(CURLUPART_SCHEME) != "http"))
    return fail("GITHUB_API_URL is not an http or https address", ErrorKind::environment);
  if (part(CURLUPART_SCHEME) == "http" && !is_this_machine(part(CURLUPART_HOST)))
    return fail("GITHUB_API_URL must begin with https://: the token would be sent in the clear",
                ErrorKind::environment);
  return {};
}

std::string capped(const std::string& text) {
  if (text.size() <= kLongestText) return text;
  const auto end = text.rfind('\n', kLongestText);
  // A long single line may end inside a character; JSON output repairs that.
  return text.substr(0, end == std::string::npos ? kLongestText : end) +
         "\n\n(shortened: the whole is in the files of this run)\n";
}

/// What the server gives as its reason, unless it repeats the token.
std::string reason(const GitHub& github, const HttpAnswer& answer) {
  const auto json = parse_json(answer.body);
  if (!json || !json->is_object()) return "";
  const auto message = json->find("message");
  if (message == json->end() || !message->is_string()) return "";
  auto text = message->get<std::string>().substr(0, 200);
  if (text.find(github.token) != std::string::npos) return "";
  std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return " (" + text + ")";
}

/// Sends `body` (nothing with GET) to a path below the repository.
Result<Json> ask(const GitHub& github, const std::string& method, const std::string& path,
                 const Json& body = nullptr) {
  const auto where = fmt::format("/repos/{}/{}", github.repository, path);
  const auto answer =
      exchange({method,
                github.api_url + where,
                {"Authorization: Bearer " + github.token, "Accept: application/vnd.github+json",
                 "X-GitHub-Api-Version: 2022-11-28", "User-Agent: trilobite",
                 "Content-Type: application/json"},
                body.is_null() ? "" : json_line(body)},
               github.timeout);
  if (!answer) return fail_from(answer, fmt::format("{} {}", method, where));
  if (answer->status < 200 || answer->status > 299)
    return fail(fmt::format("{} {}: the server answered {}{}", method, where, answer->status,
                            reason(github, *answer)),
                ErrorKind::environment);
  auto json = parse_json(answer->body);
  if (!json)
    return fail(fmt::format("{} {}: the server's answer is not JSON", method, where),
                ErrorKind::environment);
  return json;
}

/// The number (`key`) of the first entry of a paged list whose text begins with `marker`.
Result<std::optional<int64_t>> find_ours(const GitHub& github, const std::string& list,
                                         const std::string& marker, const char* key) {
  for (unsigned page = 1; page <= kPages; ++page) {
    const auto entries = ask(github, "GET",
                             fmt::format("{}{}per_page=100&page={}", list,
                                         list.find('?') == std::string::npos ? '?' : '&', page));
    if (!entries) return fail_from(entries);
    if (!entries->is_array())
      return fail(fmt::format("{}: the server's answer is not a list", list),
                  ErrorKind::environment);
    for (const auto& entry : *entries) {
      if (!entry.is_object() || entry.contains("pull_request")) continue;
      const auto body = entry.find("body");
      const auto number = entry.find(key);
      if (body != entry.end() && body->is_string() && number != entry.end() &&
          number->is_number_integer() && body->get_ref<const std::string&>().starts_with(marker))
        return number->get<int64_t>();
    }
    if (entries->size() < 100) break;
  }
  return std::nullopt;
}

Json body_of(const Message& message) {
  return {{"body", message.marker + "\n" + capped(message.text)}};
}

Result<void> sent(const Result<Json>& answer) {
  if (!answer) return fail_from(answer);
  return {};
}

}  // namespace

Result<GitHub> github_from(const std::function<const char*(const char*)>& variable) {
  const auto text = [&](const char* name) {
    const char* value = variable(name);
    return std::string(value == nullptr ? "" : value);
  };
  GitHub github{.api_url = text("GITHUB_API_URL"),
                .repository = text("GITHUB_REPOSITORY"),
                .token = text("GITHUB_TOKEN")};
  if (github.api_url.empty()) github.api_url = "https://api.github.com";
  while (github.api_url.ends_with('/')) github.api_url.pop_back();
  if (auto checked = check_api_url(github.api_url); !checked) return fail_from(checked);
  if (github.token.empty())
    return fail("the environment variable GITHUB_TOKEN is not set", ErrorKind::environment);
  // Anything else could end the header and begin another.
  if (!std::ranges::all_of(github.token, [](unsigned char c) { return c > 0x20 && c < 0x7f; }))
    return fail("GITHUB_TOKEN holds characters that no token has", ErrorKind::environment);
  if (!std::regex_match(github.repository, std::regex("[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")))
    return fail("the environment variable GITHUB_REPOSITORY must be owner/name",
                ErrorKind::environment);
  return github;
}

Result<void> comment_on_pull_request(const GitHub& github, uint64_t number,
                                     const Message& message) {
  const auto list = fmt::format("issues/{}/comments", number);
  const auto ours = find_ours(github, list, message.marker, "id");
  if (!ours) return fail_from(ours);
  if (*ours)
    return sent(ask(github, "PATCH", fmt::format("issues/comments/{}", **ours), body_of(message)));
  return sent(ask(github, "POST", list, body_of(message)));
}

Result<void> raise_issue(const GitHub& github, const std::string& label, const Message& message) {
  const auto open = find_ours(github, fmt::format("issues?state=open&labels={}", label),
                              message.marker, "number");
  if (!open) return fail_from(open);
  if (*open)
    return sent(ask(github, "POST", fmt::format("issues/{}/comments", **open), body_of(message)));
  auto issue = body_of(message);
  issue["title"] = message.title;
  issue["labels"] = Json::array({label});
  return sent(ask(github, "POST", "issues", issue));
}

}  // namespace trilobite::notify
