/// `lull completions`: scripts with which shells complete options and their values.
///
/// They are made from the table of options and the pages of help.
enum Completions {
    static let shells = ["bash", "zsh", "fish"]

    static func make(_ arguments: [String]) throws(Failure) -> String {
        switch arguments {
        case ["bash"]: return bash
        case ["zsh"]: return zsh
        case ["fish"]: return fish
        default: throw .usage("the shell is missing: lull completions bash, zsh or fish")
        }
    }

    /// Returns the part of an explanation that fits beside the name: its first sentence, or the part of that before a
    /// colon.
    static func explanation(of option: Option, for subcommand: Subcommand) -> String {
        let text = option.explanation(for: subcommand)
        let limit = 60
        let ends = [text.firstRange(of: "; "), text.firstRange(of: ". ")].compactMap { $0?.lowerBound }
        let sentence = String(text[..<(ends.min() ?? text.endIndex)])
        guard sentence.count > limit, let colon = sentence.prefix(limit).ranges(of: ": ").last?.lowerBound else {
            return Terminal.cut(sentence, to: limit)
        }
        return String(sentence[..<colon])
    }
}

// MARK: - bash

extension Completions {
    static var bash: String {
        /// A branch that says how to complete something.
        func branch(_ pattern: String, _ completion: Option.Completion) -> String {
            switch completion {
            case .none: ""
            case .choice(let names): "        \(pattern)) words='\(names.joined(separator: " "))' ;;\n"
            default: "        \(pattern)) kind=\(completion) ;;\n"
            }
        }
        var options = ""
        var values = ""
        var operands = ""
        for subcommand in Subcommand.allCases {
            let name = subcommand.rawValue
            let known = subcommand.options
            options += "        \(name)) options='\(known.map(\.spelled).joined(separator: " "))' ;;\n"
            values += known.map { branch("\(name):\($0.spelled)", $0.completion(subcommand)) }.joined()
            operands += branch(name, subcommand.operands)
        }
        let commands = Help.commands.joined(separator: " ")
        return """
            # Completions of lull for bash; written by "lull completions bash".
            _lull() {
                local IFS=$' \\t\\n' word previous='' current='' command='' options='' words='' kind='' glued='' ended=0
                local index value rest=0
                COMPREPLY=()
                # bash splits words at = and :, so join them again.
                for ((index = 1; index <= COMP_CWORD; index++)); do
                    word=${COMP_WORDS[index]}
                    case $word in
                    = | : | :=) current+=$word glued=1 ;;
                    *)
                        if [[ -n $glued ]]; then
                            current+=$word glued=''
                        else
                            previous=$current current=$word
                            if ((index < COMP_CWORD)); then
                                if [[ -z $command ]]; then
                                    command=$word
                                elif [[ $word == -- ]]; then
                                    ended=$index
                                fi
                            fi
                        fi
                        ;;
                    esac
                    ((ended)) && break
                done
                word=${COMP_WORDS[COMP_CWORD]}
                if ((ended)); then
                    # After "--": a command with its arguments, or operands that look like options.
                    case $command in
            \(Subcommand.allCases.filter { $0.operands == .command }.map(\.rawValue).joined(separator: " | "))) ;;
                    *) return ;;
                    esac
                    ((COMP_CWORD == ended + 1)) && _lull_words "$(compgen -c -- "$word")" || _lull_files "$word"
                    return
                fi
                if [[ -z $command ]]; then
                    COMPREPLY=($(compgen -W '\(commands) --help --version' -- "$word"))
                    return
                fi
                if [[ $current == --*=* ]]; then
                    previous=${current%%=*} value=${current#*=}
                elif [[ $previous == --* ]]; then
                    value=$current
                fi
                case $command:$previous in
            \(values)        esac
                if [[ -z $words$kind ]]; then
                    case $command in
            \(options)        completions) words='\(shells.joined(separator: " "))' ;;
                    man | help) words='\(Help.pages.joined(separator: " "))' ;;
                    esac
                    if [[ $current == -* ]]; then
                        words=$options
                    else
                        case $command in
            \(operands)            esac
                    fi
                fi
                case $kind in
                file) _lull_files "$word" ;;
                store)
                    if [[ $value == sqlite:* ]]; then
                        [[ $word == : ]] && word=''
                        _lull_files "${word#sqlite:}"
                        # Leave out the files that belong to a store.
                        for index in "${!COMPREPLY[@]}"; do
                            case ${COMPREPLY[index]} in
                            *-wal | *-shm | *-want | *-write)
                                [[ -e ${COMPREPLY[index]%-*} ]] && unset "COMPREPLY[index]"
                                ;;
                            esac
                        done
                    elif [[ $value != *:* ]]; then
                        COMPREPLY=($(compgen -W 'sqlite: postgres:// redis://' -- "$value"))
                        compopt -o nospace 2>/dev/null
                    fi
                    ;;
                text) ;;
                command) COMPREPLY=($(compgen -W -- -- "$word")) ;;
                *)
                    [[ $word == = ]] && word=''
                    COMPREPLY=($(compgen -W "$words" -- "$word"))
                    ;;
                esac
            }
            _lull_files() {
                _lull_words "$(compgen -f -- "$1")"
                compopt -o filenames 2>/dev/null
            }
            _lull_words() {
                local line
                while IFS= read -r line; do
                    [[ -n $line ]] && COMPREPLY+=("$line")
                done <<<"$1"
            }
            complete -F _lull lull

            """
    }
}

// MARK: - zsh and fish

extension Completions {
    static var zsh: String {
        var cases = ""
        for subcommand in Subcommand.allCases {
            var specs = subcommand.options.map { option in
                let explanation = "[\(zshEscaped(Self.explanation(of: option, for: subcommand)))]"
                let value =
                    switch option.completion(subcommand) {
                    case .none: explanation
                    case .choice(let names): "=\(explanation):\(option.name):(\(names.joined(separator: " ")))"
                    case .file: "=\(explanation):file:_files"
                    case .store: "=\(explanation):store:_lull_stores"
                    case .text, .command: "=\(explanation):value: "
                    }
                return "'\(option.spelled)\(value)'"
            }
            switch subcommand.operands {
            case .file: specs.append("'1:trace:_files'")
            case .command: specs.append("'*::command: _normal'")
            case .choice(let names): specs.append("'1:action:(\(names.joined(separator: " ")))'")
            case .none, .store, .text: break
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
        /// Completes something after a command, or instead of one.
        func line(after commands: String? = nil, _ rest: String) -> String {
            let condition = commands.map { "__fish_seen_subcommand_from \($0)" }
            return "complete -c lull -n '\(condition ?? none)' \(rest)"
        }
        let none = "not __fish_seen_subcommand_from \(Help.commands.joined(separator: " "))"
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
            line("-l help -d 'explain lull'"),
            line("-l version -d 'print the version'"),
        ]
        for name in Help.commands {
            lines.append(line("-a \(name) -d \(fishQuoted(Help.summary(of: name)))"))
            guard let subcommand = Subcommand(rawValue: name) else { continue }
            for option in subcommand.options {
                let value =
                    switch option.completion(subcommand) {
                    case .none: ""
                    case .choice(let names): " -x -a '\(names.joined(separator: " "))'"
                    case .file: " -r -F"
                    case .store: " -x -a '(__lull_stores)'"
                    case .text, .command: " -x"
                    }
                let explanation = fishQuoted(Self.explanation(of: option, for: subcommand))
                lines.append(line(after: name, "-l \(option.name)\(value) -d \(explanation)"))
            }
            switch subcommand.operands {
            case .file: lines.append(line(after: name, "-F"))
            case .command:
                lines.append(
                    line(
                        after: "\(name); and contains -- -- (commandline -opc)",
                        "-F -a '(__fish_complete_command)'"))
            case .choice(let names): lines.append(line(after: name, "-a '\(names.joined(separator: " "))'"))
            case .none, .store, .text: break
            }
        }
        lines.append(line(after: "completions", "-a '\(shells.joined(separator: " "))'"))
        lines.append(line(after: "man help", "-a '\(Help.pages.joined(separator: " "))'"))
        return lines.joined(separator: "\n") + "\n"
    }

    private static func fishQuoted(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}
