// SPDX-License-Identifier: Apache-2.0
#include "literal.hpp"

#include "failure.hpp"
#include "literal_token.hpp"
#include "text.hpp"

#include <optional>

namespace command {

namespace {

constexpr std::size_t most_brackets = 32;

/// An open bracket and what has been read since.
struct frame {
    char open;
    bool comma = false;       ///< the last thing read was a comma
    bool any_comma = false;   ///< tells (2,) from (2)
    bool after_colon = false; ///< dict: a key and its colon were read
    std::vector<literal> items;
};

char closer_of(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

/// What a closed bracket is; a parenthesis around one value is that value.
literal close(frame &&f) {
    if (f.open == '(' && f.items.size() == 1 && !f.any_comma)
        return std::move(f.items[0]);
    literal value;
    value.what = f.open == '(' ? literal::kind::tuple : f.open == '[' ? literal::kind::list : literal::kind::dict;
    value.items = std::move(f.items);
    return value;
}

class parser {
public:
    explicit parser(std::string_view source) : in_(source) {}

    literal run(std::size_t first_nul) {
        if (first_nul != std::string_view::npos)
            fail_format("the header is not a Python dict: it has a NUL at its byte {}", first_nul);
        for (;;) {
            std::optional<literal> value = next_value();
            // A value may close any number of brackets before another one is due.
            while (value && !stack_.empty())
                value = take(std::move(*value));
            if (value)
                return finish(std::move(*value));
        }
    }

private:
    /// A scalar or an empty or just completed bracket; nothing if a bracket was opened.
    std::optional<literal> next_value() {
        in_.skip_blanks();
        const char c = in_.peek();
        if (c == '(' || c == '[' || c == '{') {
            if (stack_.size() == most_brackets)
                in_.fail_here(fmt::format("more than {} nested brackets", most_brackets));
            in_.advance();
            stack_.push_back(frame{.open = c, .items = {}});
            return std::nullopt;
        }
        if (!stack_.empty() && c == closer_of(stack_.back().open) && may_close())
            return pop();
        return in_.scalar();
    }

    /// A bracket may close where a value is due if it is empty or ends in a comma.
    bool may_close() const {
        const frame &f = stack_.back();
        return !f.after_colon && (f.items.empty() || f.comma);
    }

    literal pop() {
        in_.advance();
        frame top = std::move(stack_.back());
        stack_.pop_back();
        return close(std::move(top));
    }

    /// Adds a value to the innermost bracket; gives the bracket's value if it closes right after.
    std::optional<literal> take(literal &&value) {
        frame &f = stack_.back();
        f.items.push_back(std::move(value));
        f.comma = false;
        in_.skip_blanks();
        if (f.open == '{' && !f.after_colon) {
            in_.expect(':', "after a dict key");
            f.after_colon = true;
            return std::nullopt;
        }
        f.after_colon = false;
        if (in_.peek() == closer_of(f.open))
            return pop();
        in_.expect(',', "or a closing bracket");
        f.comma = f.any_comma = true;
        return std::nullopt;
    }

    literal finish(literal &&value) {
        in_.skip_blanks();
        if (!in_.at_end())
            in_.fail_here("something follows the value");
        return std::move(value);
    }

    token_reader in_;
    std::vector<frame> stack_;
};

} // namespace

literal parse_literal(std::string_view source) { return parser(source).run(source.find('\0')); }

} // namespace command
