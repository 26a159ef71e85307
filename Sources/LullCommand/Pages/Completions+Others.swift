// Completions for zsh and fish.

extension Completions {
    static var zsh: String {
        var cases = ""
        for subcommand in Subcommand.allCases {
            var specs = Self.options(of: subcommand).map { option in
                let explanation = zshEscaped(Self.explanation(of: option, for: subcommand))
                return switch option.completion(subcommand) {
                case .none: "'--\(option.name)[\(explanation)]'"
                case .choice(let names):
                    "'--\(option.name)=[\(explanation)]:\(option.name):(\(names.joined(separator: " ")))'"
                case .file: "'--\(option.name)=[\(explanation)]:file:_files'"
                case .store: "'--\(option.name)=[\(explanation)]:store:_lull_stores'"
                case .text: "'--\(option.name)=[\(explanation)]:value: '"
                }
            }
            switch subcommand.operands {
            case .none: break
            case .file: specs.append("'1:trace:_files'")
            case .command: specs.append("'*::command: _normal'")
            case .keywords(let names): specs.append("'1:action:(\(names.joined(separator: " ")))'")
            }
            cases += "    \(subcommand.rawValue))\n        _arguments -S \\\n            "
            cases += specs.joined(separator: " \\\n            ") + "\n        ;;\n"
        }
        let commands = Help.commands.map { name in
            "        '\(name):\(zshEscaped(Help.summary(of: name)))'\n"
        }.joined()
        return """
            #compdef lull
            # Completions of lull for zsh; written by "lull completions zsh".
            _lull() {
                local curcontext="$curcontext" state state_descr line
                typeset -A opt_args
                _arguments -C '(- *)--help[explain lull]' '(- *)--version[print the version]' \\
                    '1:command:_lull_commands' '*::argument:->arguments'
                [[ $state == arguments ]] || return
                case $words[1] in
            \(cases)    completions) _arguments '1:shell:(\(shells.joined(separator: " ")))' ;;
                man|help) _arguments '1:command:(\(Help.pages.joined(separator: " ")))' ;;
                esac
            }
            _lull_commands() {
                local -a commands
                commands=(
            \(commands)    )
                _describe command commands
            }
            _lull_stores() {
                if compset -P 'sqlite:'; then _files; else compadd -S '' sqlite: postgres:// redis://; fi
            }
            if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _lull "$@"; else compdef _lull lull; fi

            """
    }

    private static func zshEscaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "[", "]", ":", "\\": escaped += "\\\(character)"
            case "'": escaped += "'\\''"
            default: escaped.append(character)
            }
        }
        return escaped
    }

    static var fish: String {
        let all = Help.commands.joined(separator: " ")
        var lines = [
            "# Completions of lull for fish; written by \"lull completions fish\".",
            "complete -c lull -f",
            "function __lull_stores",
            "    string match -q '*:*' -- (commandline -ct); or printf '%s\\n' sqlite: postgres:// redis://",
            "    string match -qr '^(postgres|redis)' -- (commandline -ct); and return",
            "    for file in (__fish_complete_path (string replace -r '^sqlite:' '' -- (commandline -ct)) 2>/dev/null)",
            "        echo sqlite:$file",
            "    end",
            "end",
        ]
        let none = "-n 'not __fish_seen_subcommand_from \(all)'"
        lines.append("complete -c lull \(none) -l help -d 'explain lull'")
        lines.append("complete -c lull \(none) -l version -d 'print the version'")
        for subcommand in Subcommand.allCases {
            let name = subcommand.rawValue
            let summary = fishQuoted(Help.summary(of: name))
            lines.append("complete -c lull \(none) -a \(name) -d \(summary)")
            let seen = "complete -c lull -n '__fish_seen_subcommand_from \(name)'"
            for option in Self.options(of: subcommand) {
                let explanation = Self.explanation(of: option, for: subcommand)
                let value =
                    switch option.completion(subcommand) {
                    case .none: ""
                    case .choice(let names): " -x -a '\(names.joined(separator: " "))'"
                    case .file: " -r -F"
                    case .store: " -x -a '(__lull_stores)'"
                    case .text: " -x"
                    }
                lines.append("\(seen) -l \(option.name)\(value) -d \(fishQuoted(explanation))")
            }
            switch subcommand.operands {
            case .none: break
            case .file: lines.append("\(seen) -F")
            case .command:
                lines.append(
                    "complete -c lull -n '__fish_seen_subcommand_from \(name); and contains -- -- (commandline -opc)' "
                        + "-F -a '(__fish_complete_command)'")
            case .keywords(let names): lines.append("\(seen) -a '\(names.joined(separator: " "))'")
            }
        }
        for name in Help.commands where Subcommand(rawValue: name) == nil {
            lines.append("complete -c lull \(none) -a \(name) -d \(fishQuoted(Help.summary(of: name)))")
        }
        let shells = shells.joined(separator: " ")
        lines.append("complete -c lull -n '__fish_seen_subcommand_from completions' -a '\(shells)'")
        let pages = Help.pages.joined(separator: " ")
        lines.append("complete -c lull -n '__fish_seen_subcommand_from man help' -a '\(pages)'")
        return lines.joined(separator: "\n") + "\n"
    }

    private static func fishQuoted(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}
