// completion: what a shell needs to complete command lines, from the program's own definitions.
#include <fmt/format.h>

#include <algorithm>

#include "../help_formatter.hpp"
#include "../shared/output.hpp"
#include "commands.hpp"

namespace cli {
namespace {

struct Choice {
    const CLI::Option* option;
    std::vector<std::string> names;
    /// The allowed values, where there are some.
    std::vector<std::string> values;
};

// The values that a validator of a set allows: CLI11 says them as "{a,b}" behind a colon of the type.
std::vector<std::string> values_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const std::size_t open = type.find('{');
    const std::size_t close = type.find('}', open);
    std::vector<std::string> values;
    if (open == std::string::npos || close == std::string::npos) return values;
    std::string word;
    const auto end_word = [&] {
        // A map's entries are "name->value".
        word = word.substr(0, word.find("->"));
        if (!word.empty()) values.push_back(word);
        word.clear();
    };
    for (std::size_t i = open + 1; i < close; ++i) {
        if (type[i] == ',') end_word();
        else word += type[i];
    }
    end_word();
    return values;
}

std::vector<Choice> options_of(const CLI::App& command) {
    std::vector<Choice> choices;
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_positional()) continue;
        Choice choice{option, {}, values_of(*option)};
        for (const std::string& name : option->get_snames()) choice.names.push_back("-" + name);
        for (const std::string& name : option->get_lnames()) choice.names.push_back("--" + name);
        choices.push_back(std::move(choice));
    }
    return choices;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) { return app.get_subcommands([](const CLI::App*) { return true; }); }

std::vector<std::string> names_of(const CLI::App& command) {
    std::vector<std::string> names = {command.get_name()};
    for (const std::string& alias : command.get_aliases()) names.push_back(alias);
    return names;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
    return fmt::format("{}", fmt::join(words, separator));
}

bool takes_value(const Choice& choice) { return choice.option->get_type_size() != 0; }

std::string bash(const CLI::App& app) {
    std::vector<std::string> all;
    for (const CLI::App* command : commands_of(app)) {
        for (const std::string& name : names_of(*command)) all.push_back(name);
    }
    std::vector<std::string> own;
    for (const Choice& choice : options_of(app)) own.insert(own.end(), choice.names.begin(), choice.names.end());
    std::string text =
        "# bash completion of hurray; written by: hurray completion bash\n"
        "_hurray() {\n"
        "    local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\" command=\"\" word\n"
        "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
        "        case \"$word\" in -*) ;; *) command=\"$word\"; break ;; esac\n"
        "    done\n"
        "    COMPREPLY=()\n"
        "    if [[ -z \"$command\" ]]; then\n";
    text += fmt::format("        mapfile -t COMPREPLY < <(compgen -W '{} {}' -- \"$current\")\n        return\n    fi\n",
                        joined(all, " "), joined(own, " "));
    text += "    case \"$command\" in\n";
    for (const CLI::App* command : commands_of(app)) {
        const auto choices = options_of(*command);
        std::vector<std::string> names;
        text += fmt::format("    {})\n        case \"$previous\" in\n", joined(names_of(*command), "|"));
        for (const Choice& choice : choices) {
            names.insert(names.end(), choice.names.begin(), choice.names.end());
            if (choice.values.empty()) continue;
            text += fmt::format("        {}) mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$current\"); return ;;\n",
                                joined(choice.names, "|"), joined(choice.values, " "));
        }
        text += "        *) ;;\n        esac\n";
        std::vector<std::string> words;
        for (const CLI::Option* option : command->get_options()) {
            if (option->get_positional()) {
                for (const std::string& value : values_of(*option)) words.push_back(value);
            }
        }
        text += fmt::format("        if [[ \"$current\" == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$current\"); return; fi\n",
                            joined(names, " "));
        if (!words.empty()) text += fmt::format("        mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$current\"); return\n", joined(words, " "));
        text += "        ;;\n";
    }
    text +=
        "    *) ;;\n    esac\n"
        "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
        "}\n"
        "complete -o filenames -F _hurray hurray\n";
    return text;
}

// Within single quotes; a quote ends them, stands alone, and begins them again.
std::string single_quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) {
        if (c == '\'') quoted += "'\\''";
        else quoted += c;
    }
    return quoted + "'";
}

std::string zsh_description(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

std::string zsh_option(const Choice& choice) {
    std::string value;
    if (takes_value(choice)) {
        value = ":" + value_name(*choice.option) + ":";
        if (!choice.values.empty()) value += "(" + joined(choice.values, " ") + ")";
    }
    std::string text;
    for (const std::string& name : choice.names) {
        // Those that may be given again say so with a star.
        const std::string star = choice.option->get_items_expected_max() > 1 ? "*" : "";
        text += "        " +
                single_quoted(star + name + "[" + zsh_description(choice.option->get_description()) + "]" + value) + " \\\n";
    }
    return text;
}

std::string zsh(const CLI::App& app) {
    std::string text =
        "#compdef hurray\n# zsh completion of hurray; written by: hurray completion zsh\n_hurray() {\n"
        "    local context state line\n    local -a commands\n    commands=(\n";
    for (const CLI::App* command : commands_of(app)) {
        for (const std::string& name : names_of(*command)) {
            text += "        " + single_quoted(name + ":" + zsh_description(command->get_description())) + "\n";
        }
    }
    text += "    )\n    _arguments -C \\\n";
    for (const Choice& choice : options_of(app)) text += zsh_option(choice);
    text +=
        "        '1:command:->command' '*::argument:->argument'\n"
        "    case $state in\n"
        "    command) _describe command commands ;;\n"
        "    argument)\n        case $words[1] in\n";
    for (const CLI::App* command : commands_of(app)) {
        text += "        " + joined(names_of(*command), "|") + ") _arguments \\\n";
        for (const Choice& choice : options_of(*command)) text += zsh_option(choice);
        std::vector<std::string> words;
        for (const CLI::Option* option : command->get_options()) {
            if (option->get_positional()) {
                for (const std::string& value : values_of(*option)) words.push_back(value);
            }
        }
        text += words.empty() ? "        '*:file:_files' ;;\n" : "        '1:value:(" + joined(words, " ") + ")' ;;\n";
    }
    return text + "        esac ;;\n    esac\n}\n_hurray \"$@\"\n";
}

std::string fish(const CLI::App& app) {
    std::string text = "# fish completion of hurray; written by: hurray completion fish\n";
    for (const CLI::App* command : commands_of(app)) {
        for (const std::string& name : names_of(*command)) {
            text += fmt::format("complete -c hurray -n __fish_use_subcommand -f -a {} -d {}\n", name,
                                single_quoted(command->get_description()));
        }
    }
    const auto put = [&](const std::string& condition, const Choice& choice) {
        text += "complete -c hurray -n '" + condition + "'";
        for (const std::string& name : choice.option->get_snames()) text += " -s " + name;
        for (const std::string& name : choice.option->get_lnames()) text += " -l " + name;
        if (!choice.values.empty()) text += " -x -a '" + joined(choice.values, " ") + "'";
        else if (takes_value(choice)) text += " -x";
        text += " -d " + single_quoted(choice.option->get_description()) + "\n";
    };
    for (const Choice& choice : options_of(app)) put("__fish_use_subcommand", choice);
    for (const CLI::App* command : commands_of(app)) {
        const std::string condition = "__fish_seen_subcommand_from " + joined(names_of(*command), " ");
        for (const Choice& choice : options_of(*command)) put(condition, choice);
        for (const CLI::Option* option : command->get_options()) {
            const auto values = values_of(*option);
            if (option->get_positional() && !values.empty()) {
                text += "complete -c hurray -n '" + condition + "' -f -a '" + joined(values, " ") + "'\n";
            }
        }
    }
    return text;
}

}  // namespace

void add_completion(CLI::App& app, Request& request) {
    const auto shell = std::make_shared<std::string>();
    CLI::App& command = *app.add_subcommand("completion", "Print the completion of a shell: bash, zsh or fish");
    command.add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
    add_examples(command, {{"source <(hurray completion bash)", "for this shell"},
                           {"hurray completion zsh > ~/.zfunc/_hurray", "for every zsh whose fpath has that folder"},
                           {"hurray completion fish > ~/.config/fish/completions/hurray.fish", "for every fish"}});
    command.callback([shell, &app, &request] {
        const std::string text = *shell == "bash" ? bash(app) : *shell == "zsh" ? zsh(app) : fish(app);
        request.run = [text] {
            standard_output().write(text);
            return 0;
        };
    });
}

}  // namespace cli
