# Completions of lull for bash; written by "lull completions bash".
_lull() {
    local IFS=$' \t\n' word previous='' current='' command='' options='' words='' kind='' glued='' ended=0
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
run | work) ;;
        *) return ;;
        esac
        ((COMP_CWORD == ended + 1)) && _lull_words "$(compgen -c -- "$word")" || _lull_files "$word"
        return
    fi
    if [[ -z $command ]]; then
        COMPREPLY=($(compgen -W 'filter run simulate tune top submit work status list touch flush cancel dead workers pause resume serve forget compact schema adopt completions man version help --help --version' -- "$word"))
        return
    fi
    if [[ $current == --*=* ]]; then
        previous=${current%%=*} value=${current#*=}
    elif [[ $previous == --* ]]; then
        value=$current
    fi
    case $command:$previous in
        filter:--wait) kind=text ;;
        filter:--throttle) kind=text ;;
        filter:--max-wait) kind=text ;;
        filter:--max-count) kind=text ;;
        filter:--spacing) kind=text ;;
        filter:--edges) words='leading trailing both' ;;
        filter:--delay-rule) words='restart extend' ;;
        filter:--combine) words='latest first collect merge-json' ;;
        filter:--max-batch) kind=text ;;
        filter:--limit) kind=text ;;
        filter:--burst) kind=text ;;
        filter:--max-running) kind=text ;;
        filter:--key-field) kind=text ;;
        filter:--key-json) kind=text ;;
        filter:--delay-field) kind=text ;;
        filter:--delay-json) kind=text ;;
        filter:--delimiter) kind=text ;;
        filter:--max-keys) kind=text ;;
        filter:--record) kind=file ;;
        filter:--format) words='lines jsonl' ;;
        filter:--at-end) words='flush drop wait keep' ;;
        filter:--store) kind=store ;;
        filter:--namespace) kind=text ;;
        filter:--patience) kind=text ;;
        filter:--lease) kind=text ;;
        filter:--max-attempts) kind=text ;;
        run:--wait) kind=text ;;
        run:--throttle) kind=text ;;
        run:--max-wait) kind=text ;;
        run:--max-count) kind=text ;;
        run:--spacing) kind=text ;;
        run:--edges) words='leading trailing both' ;;
        run:--delay-rule) words='restart extend' ;;
        run:--combine) words='latest first collect merge-json' ;;
        run:--max-batch) kind=text ;;
        run:--limit) kind=text ;;
        run:--burst) kind=text ;;
        run:--max-running) kind=text ;;
        run:--while-running) words='queue cancel restart concurrent skip' ;;
        run:--interrupt) words='due submit' ;;
        run:--key-field) kind=text ;;
        run:--key-json) kind=text ;;
        run:--delay-field) kind=text ;;
        run:--delay-json) kind=text ;;
        run:--delimiter) kind=text ;;
        run:--max-keys) kind=text ;;
        run:--record) kind=file ;;
        run:--kill-after) kind=text ;;
        run:--jobs) kind=text ;;
        run:--at-end) words='flush drop wait keep' ;;
        run:--store) kind=store ;;
        run:--namespace) kind=text ;;
        run:--patience) kind=text ;;
        run:--lease) kind=text ;;
        run:--max-attempts) kind=text ;;
        simulate:--wait) kind=text ;;
        simulate:--throttle) kind=text ;;
        simulate:--max-wait) kind=text ;;
        simulate:--max-count) kind=text ;;
        simulate:--spacing) kind=text ;;
        simulate:--edges) words='leading trailing both' ;;
        simulate:--delay-rule) words='restart extend' ;;
        simulate:--combine) words='latest first collect merge-json' ;;
        simulate:--max-batch) kind=text ;;
        simulate:--limit) kind=text ;;
        simulate:--burst) kind=text ;;
        simulate:--while-running) words='queue cancel restart concurrent skip' ;;
        simulate:--interrupt) words='due submit' ;;
        simulate:--run-time) kind=text ;;
        simulate:--jobs) kind=text ;;
        simulate:--format) words='summary jsonl json' ;;
        simulate:--at-end) words='flush drop wait' ;;
        simulate:--svg) kind=file ;;
        tune:--max-wait) kind=text ;;
        tune:--max-count) kind=text ;;
        tune:--spacing) kind=text ;;
        tune:--edges) words='leading trailing both' ;;
        tune:--delay-rule) words='restart extend' ;;
        tune:--limit) kind=text ;;
        tune:--burst) kind=text ;;
        tune:--format) words='summary json' ;;
        tune:--svg) kind=file ;;
        tune:--color) words='auto always never' ;;
        tune:--waits) kind=text ;;
        tune:--target-saving) kind=text ;;
        tune:--target-delay) kind=text ;;
        submit:--wait) kind=text ;;
        submit:--throttle) kind=text ;;
        submit:--max-wait) kind=text ;;
        submit:--max-count) kind=text ;;
        submit:--spacing) kind=text ;;
        submit:--edges) words='leading trailing both' ;;
        submit:--delay-rule) words='restart extend' ;;
        submit:--combine) words='latest first collect merge-json' ;;
        submit:--max-batch) kind=text ;;
        submit:--limit) kind=text ;;
        submit:--burst) kind=text ;;
        submit:--max-running) kind=text ;;
        submit:--while-running) words='queue restart' ;;
        submit:--interrupt) words='due submit' ;;
        submit:--store) kind=store ;;
        submit:--namespace) kind=text ;;
        submit:--patience) kind=text ;;
        submit:--after) kind=text ;;
        submit:--token) kind=text ;;
        submit:--context) kind=text ;;
        work:--wait) kind=text ;;
        work:--throttle) kind=text ;;
        work:--max-wait) kind=text ;;
        work:--max-count) kind=text ;;
        work:--spacing) kind=text ;;
        work:--edges) words='leading trailing both' ;;
        work:--delay-rule) words='restart extend' ;;
        work:--combine) words='latest first collect merge-json' ;;
        work:--max-batch) kind=text ;;
        work:--limit) kind=text ;;
        work:--burst) kind=text ;;
        work:--max-running) kind=text ;;
        work:--while-running) words='queue restart' ;;
        work:--interrupt) words='due submit' ;;
        work:--kill-after) kind=text ;;
        work:--jobs) kind=text ;;
        work:--store) kind=store ;;
        work:--namespace) kind=text ;;
        work:--patience) kind=text ;;
        work:--lease) kind=text ;;
        work:--max-attempts) kind=text ;;
        status:--format) words='openmetrics' ;;
        status:--color) words='auto always never' ;;
        status:--store) kind=store ;;
        status:--namespace) kind=text ;;
        status:--patience) kind=text ;;
        status:--fail-if) kind=text ;;
        list:--color) words='auto always never' ;;
        list:--store) kind=store ;;
        list:--namespace) kind=text ;;
        list:--patience) kind=text ;;
        list:--limit) kind=text ;;
        touch:--store) kind=store ;;
        touch:--namespace) kind=text ;;
        touch:--patience) kind=text ;;
        touch:--after) kind=text ;;
        flush:--store) kind=store ;;
        flush:--namespace) kind=text ;;
        flush:--patience) kind=text ;;
        flush:--prefix) kind=text ;;
        flush:--older-than) kind=text ;;
        flush:--error) kind=text ;;
        cancel:--store) kind=store ;;
        cancel:--namespace) kind=text ;;
        cancel:--patience) kind=text ;;
        cancel:--prefix) kind=text ;;
        cancel:--older-than) kind=text ;;
        cancel:--error) kind=text ;;
        dead:--color) words='auto always never' ;;
        dead:--store) kind=store ;;
        dead:--namespace) kind=text ;;
        dead:--patience) kind=text ;;
        dead:--prefix) kind=text ;;
        dead:--older-than) kind=text ;;
        dead:--error) kind=text ;;
        workers:--color) words='auto always never' ;;
        workers:--store) kind=store ;;
        workers:--namespace) kind=text ;;
        workers:--patience) kind=text ;;
        pause:--store) kind=store ;;
        pause:--namespace) kind=text ;;
        pause:--patience) kind=text ;;
        pause:--reason) kind=text ;;
        resume:--store) kind=store ;;
        resume:--namespace) kind=text ;;
        resume:--patience) kind=text ;;
        forget:--store) kind=store ;;
        forget:--namespace) kind=text ;;
        forget:--patience) kind=text ;;
        compact:--store) kind=store ;;
        compact:--patience) kind=text ;;
        schema:--store) kind=store ;;
        adopt:--store) kind=store ;;
        serve:--store) kind=store ;;
        serve:--patience) kind=text ;;
        serve:--namespace) kind=text ;;
        serve:--listen) kind=text ;;
        serve:--hooks) kind=file ;;
        serve:--token-file) kind=file ;;
        serve:--origin) kind=text ;;
        top:--color) words='auto always never' ;;
        top:--listen) kind=text ;;
        esac
    if [[ -z $words$kind ]]; then
        case $command in
        filter) options='--help --wait --throttle --max-wait --max-count --spacing --edges --delay-rule --combine --max-batch --limit --burst --max-running --null --key-field --key-json --delay-field --delay-json --delimiter --max-keys --strict --record --record-values --hash-keys --format --at-end --stats --store --namespace --patience --change-policy --lease --max-attempts' ;;
        run) options='--help --wait --throttle --max-wait --max-count --spacing --edges --delay-rule --combine --max-batch --limit --burst --max-running --while-running --interrupt --null --key-field --key-json --delay-field --delay-json --delimiter --max-keys --strict --record --record-values --hash-keys --kill-after --jobs --fail-fast --at-end --stats --store --namespace --patience --change-policy --lease --max-attempts' ;;
        simulate) options='--help --wait --throttle --max-wait --max-count --spacing --edges --delay-rule --combine --max-batch --limit --burst --while-running --interrupt --run-time --jobs --format --at-end --diagram --svg' ;;
        tune) options='--help --max-wait --max-count --spacing --edges --delay-rule --limit --burst --format --diagram --svg --color --waits --target-saving --target-delay --by-key' ;;
        submit) options='--help --wait --throttle --max-wait --max-count --spacing --edges --delay-rule --combine --max-batch --limit --burst --max-running --while-running --interrupt --store --namespace --patience --change-policy --after --token --context --json' ;;
        work) options='--help --wait --throttle --max-wait --max-count --spacing --edges --delay-rule --combine --max-batch --limit --burst --max-running --while-running --interrupt --null --kill-after --jobs --fail-fast --store --namespace --patience --change-policy --lease --max-attempts' ;;
        status) options='--help --format --color --store --namespace --patience --watch --json --fail-if' ;;
        list) options='--help --color --store --namespace --patience --ended --limit --watch --json' ;;
        touch) options='--help --store --namespace --patience --after --json' ;;
        flush) options='--help --store --namespace --patience --all --prefix --older-than --error --yes --json' ;;
        cancel) options='--help --store --namespace --patience --all --prefix --older-than --error --yes --json' ;;
        dead) options='--help --color --store --namespace --patience --all --prefix --older-than --error --yes --json' ;;
        workers) options='--help --color --store --namespace --patience --json' ;;
        pause) options='--help --store --namespace --patience --reason' ;;
        resume) options='--help --store --namespace --patience' ;;
        forget) options='--help --store --namespace --patience' ;;
        compact) options='--help --store --patience' ;;
        schema) options='--help --store --apply' ;;
        adopt) options='--help --store' ;;
        serve) options='--help --store --patience --namespace --listen --hooks --token-file --allow-actions --origin' ;;
        top) options='--help --color --json --page --listen' ;;
        completions) words='bash zsh fish' ;;
        man | help) words='filter run simulate tune top submit work status list touch flush cancel dead workers pause resume serve forget compact schema adopt completions man version' ;;
        esac
        if [[ $current == -* ]]; then
            words=$options
        else
            case $command in
        run) kind=command ;;
        simulate) kind=file ;;
        tune) kind=file ;;
        work) kind=command ;;
        dead) words='list retry discard' ;;
        top) kind=file ;;
            esac
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
