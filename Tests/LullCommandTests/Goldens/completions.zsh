#compdef lull
# Completions of lull for zsh; written by "lull completions zsh".
_lull() {
    local curcontext="$curcontext" state state_descr line
    typeset -A opt_args
    _arguments -C '(- *)--help[explain lull]' '(- *)--version[print the version]' \
        '1:command:_lull_commands' '*::argument:->arguments'
    [[ $state == arguments ]] || return
    case $words[1] in
    filter)
        _arguments -S \
            '--help[explain this command]' \
            '--wait=[debounce\: execute when no value has come for D]:value: ' \
            '--throttle=[throttle\: execute at most once every D]:value: ' \
            '--max-wait=[with --wait\: no value waits longer than D]:value: ' \
            '--max-count=[execute at once when N values are pending]:value: ' \
            '--spacing=[with --wait\: values of a key are due at least D apart]:value: ' \
            '--edges=[execute at the leading edge of a burst, the trailing edge, …]:edges:(leading trailing both)' \
            '--delay-rule=[whether a shorter delay replaces a longer one (restart, the…]:delay-rule:(restart extend)' \
            '--combine=[what an execution gets of the values of a burst]:combine:(latest first collect merge-json)' \
            '--max-batch=[at most N values for one execution]:value: ' \
            '--limit=[at most N executions start in any time of D, of all keys to…]:value: ' \
            '--burst=[with --limit]:value: ' \
            '--max-running=[with --store]:value: ' \
            '--null[records end in a NUL byte, not in a newline]' \
            '--key-field=[the key is the N-th field, from 1]:value: ' \
            '--key-json=[records are JSON, and the key is the value at a JSON pointe…]:value: ' \
            '--delay-field=[the N-th field is the delay of this record alone, such as 5…]:value: ' \
            '--delay-json=[the same for JSON records\: a string such as "500ms"]:value: ' \
            '--delimiter=[C separates fields, not blanks (\\t is a tab)]:value: ' \
            '--max-keys=[skip records that would open more than N keys]:value: ' \
            '--strict[end with status 65 at a bad record]' \
            '--record=[write a trace of the input, for lull simulate and lull tune]:file:_files' \
            '--record-values[with --record\: write the values too]' \
            '--hash-keys[with --record\: replace each key by a number]' \
            '--format=[lines (default), or jsonl\: a JSON object per execution]:format:(lines jsonl)' \
            '--at-end=[what happens to pending values at the end of the input]:at-end:(flush drop wait keep)' \
            '--stats[print counters at the end]' \
            '--store=[keep pending values in a file, sqlite\:PATH, created if miss…]:store:_lull_stores' \
            '--namespace=[the namespace of the keys (default\: default)]:value: ' \
            '--patience=[how long a call waits for other writers of a file (default …]:value: ' \
            '--change-policy[change the policy of the namespace for all its users]' \
            '--lease=[another process takes over the runs of this one after D wit…]:value: ' \
            '--max-attempts=[a run is dead after N failed attempts (default 20)]:value: '
        ;;
    run)
        _arguments -S \
            '--help[explain this command]' \
            '--wait=[debounce\: execute when no value has come for D]:value: ' \
            '--throttle=[throttle\: execute at most once every D]:value: ' \
            '--max-wait=[with --wait\: no value waits longer than D]:value: ' \
            '--max-count=[execute at once when N values are pending]:value: ' \
            '--spacing=[with --wait\: values of a key are due at least D apart]:value: ' \
            '--edges=[execute at the leading edge of a burst, the trailing edge, …]:edges:(leading trailing both)' \
            '--delay-rule=[whether a shorter delay replaces a longer one (restart, the…]:delay-rule:(restart extend)' \
            '--combine=[what an execution gets of the values of a burst]:combine:(latest first collect merge-json)' \
            '--max-batch=[at most N values for one execution]:value: ' \
            '--limit=[at most N executions start in any time of D, of all keys to…]:value: ' \
            '--burst=[with --limit]:value: ' \
            '--max-running=[with --store]:value: ' \
            '--while-running=[what happens to a value that falls due while a command of i…]:while-running:(queue cancel restart concurrent skip)' \
            '--interrupt=[with --while-running cancel or restart]:interrupt:(due submit)' \
            '--null[records end in a NUL byte, not in a newline]' \
            '--key-field=[the key is the N-th field, from 1]:value: ' \
            '--key-json=[records are JSON, and the key is the value at a JSON pointe…]:value: ' \
            '--delay-field=[the N-th field is the delay of this record alone, such as 5…]:value: ' \
            '--delay-json=[the same for JSON records\: a string such as "500ms"]:value: ' \
            '--delimiter=[C separates fields, not blanks (\\t is a tab)]:value: ' \
            '--max-keys=[skip records that would open more than N keys]:value: ' \
            '--strict[end with status 65 at a bad record]' \
            '--record=[write a trace of the input, for lull simulate and lull tune]:file:_files' \
            '--record-values[with --record\: write the values too]' \
            '--hash-keys[with --record\: replace each key by a number]' \
            '--kill-after=[how long after SIGTERM a cancelled command gets SIGKILL (de…]:value: ' \
            '--jobs=[run at most N commands at once (default\: one per core)]:value: ' \
            '--fail-fast[start no more commands after one has failed]' \
            '--at-end=[what happens to pending values at the end of the input]:at-end:(flush drop wait keep)' \
            '--stats[print counters at the end]' \
            '--store=[keep pending values in a file, sqlite\:PATH, created if miss…]:store:_lull_stores' \
            '--namespace=[the namespace of the keys (default\: default)]:value: ' \
            '--patience=[how long a call waits for other writers of a file (default …]:value: ' \
            '--change-policy[change the policy of the namespace for all its users]' \
            '--lease=[another process takes over the runs of this one after D wit…]:value: ' \
            '--max-attempts=[a run is dead after N failed attempts (default 20)]:value: ' \
            '*::command: _normal'
        ;;
    simulate)
        _arguments -S \
            '--help[explain this command]' \
            '--wait=[debounce\: execute when no value has come for D]:value: ' \
            '--throttle=[throttle\: execute at most once every D]:value: ' \
            '--max-wait=[with --wait\: no value waits longer than D]:value: ' \
            '--max-count=[execute at once when N values are pending]:value: ' \
            '--spacing=[with --wait\: values of a key are due at least D apart]:value: ' \
            '--edges=[execute at the leading edge of a burst, the trailing edge, …]:edges:(leading trailing both)' \
            '--delay-rule=[whether a shorter delay replaces a longer one (restart, the…]:delay-rule:(restart extend)' \
            '--combine=[what an execution gets of the values of a burst]:combine:(latest first collect merge-json)' \
            '--max-batch=[at most N values for one execution]:value: ' \
            '--limit=[at most N executions start in any time of D, of all keys to…]:value: ' \
            '--burst=[with --limit]:value: ' \
            '--while-running=[what happens to a value that falls due while an execution o…]:while-running:(queue cancel restart concurrent skip)' \
            '--interrupt=[with --while-running cancel or restart]:interrupt:(due submit)' \
            '--run-time=[each execution takes D]:value: ' \
            '--jobs=[at most N executions run at once (default\: no limit)]:value: ' \
            '--format=[summary (default), json (the summary as one object), or jso…]:format:(summary jsonl json)' \
            '--at-end=[what happens to pending values after the last record]:at-end:(flush drop wait)' \
            '--diagram[add a marble diagram of a part of the trace, in text]' \
            '--svg=[draw the same as a picture]:file:_files' \
            '1:trace:_files'
        ;;
    tune)
        _arguments -S \
            '--help[explain this command]' \
            '--max-wait=[with --wait\: no value waits longer than D]:value: ' \
            '--max-count=[execute at once when N values are pending]:value: ' \
            '--spacing=[with --wait\: values of a key are due at least D apart]:value: ' \
            '--edges=[execute at the leading edge of a burst, the trailing edge, …]:edges:(leading trailing both)' \
            '--delay-rule=[whether a shorter delay replaces a longer one (restart, the…]:delay-rule:(restart extend)' \
            '--limit=[at most N executions start in any time of D, of all keys to…]:value: ' \
            '--burst=[with --limit]:value: ' \
            '--format=[summary (default), or json]:format:(summary json)' \
            '--diagram[add a marble diagram of a part of the trace, in text, under…]' \
            '--svg=[draw the same, and saving over delay, as a picture]:file:_files' \
            '--color=[bold and coloured output\: auto (default]:color:(auto always never)' \
            '--waits=[the waits to try]:value: ' \
            '--target-saving=[suggest the shortest wait that saves P, such as 90%]:value: ' \
            '--target-delay=[suggest the wait that saves most, of those with nine of ten…]:value: ' \
            '--by-key[name the keys that would save more with a wait of their own…]' \
            '1:trace:_files'
        ;;
    submit)
        _arguments -S \
            '--help[explain this command]' \
            '--wait=[debounce\: execute when no value has come for D]:value: ' \
            '--throttle=[throttle\: execute at most once every D]:value: ' \
            '--max-wait=[with --wait\: no value waits longer than D]:value: ' \
            '--max-count=[execute at once when N values are pending]:value: ' \
            '--spacing=[with --wait\: values of a key are due at least D apart]:value: ' \
            '--edges=[execute at the leading edge of a burst, the trailing edge, …]:edges:(leading trailing both)' \
            '--delay-rule=[whether a shorter delay replaces a longer one (restart, the…]:delay-rule:(restart extend)' \
            '--combine=[what an execution gets of the values of a burst]:combine:(latest first collect merge-json)' \
            '--max-batch=[at most N values for one execution]:value: ' \
            '--limit=[at most N executions start in any time of D, of all keys to…]:value: ' \
            '--burst=[with --limit]:value: ' \
            '--max-running=[with --store]:value: ' \
            '--while-running=[what happens to a value that falls due while a command of i…]:while-running:(queue restart)' \
            '--interrupt=[with --while-running restart]:interrupt:(due submit)' \
            '--store=[sqlite\:PATH, a file]:store:_lull_stores' \
            '--namespace=[which of its namespaces (default\: default)]:value: ' \
            '--patience=[how long a call waits for other writers of a file (default …]:value: ' \
            '--change-policy[change the policy for all users, from the next submit on]' \
            '--after=[the delay of this call alone]:value: ' \
            '--token=[submits with the same token count once]:value: ' \
            '--context=[LULL_CONTEXT for COMMAND, such as a traceparent]:value: ' \
            '--json[print the receipt]'
        ;;
    work)
        _arguments -S \
            '--help[explain this command]' \
            '--wait=[debounce\: execute when no value has come for D]:value: ' \
            '--throttle=[throttle\: execute at most once every D]:value: ' \
            '--max-wait=[with --wait\: no value waits longer than D]:value: ' \
            '--max-count=[execute at once when N values are pending]:value: ' \
            '--spacing=[with --wait\: values of a key are due at least D apart]:value: ' \
            '--edges=[execute at the leading edge of a burst, the trailing edge, …]:edges:(leading trailing both)' \
            '--delay-rule=[whether a shorter delay replaces a longer one (restart, the…]:delay-rule:(restart extend)' \
            '--combine=[what an execution gets of the values of a burst]:combine:(latest first collect merge-json)' \
            '--max-batch=[at most N values for one execution]:value: ' \
            '--limit=[at most N executions start in any time of D, of all keys to…]:value: ' \
            '--burst=[with --limit]:value: ' \
            '--max-running=[with --store]:value: ' \
            '--while-running=[what happens to a value that falls due while a command of i…]:while-running:(queue restart)' \
            '--interrupt=[with --while-running restart]:interrupt:(due submit)' \
            '--null[records for COMMAND end in a NUL byte]' \
            '--kill-after=[how long after SIGTERM a command that is stopped gets SIGKI…]:value: ' \
            '--jobs=[run at most N commands at once (default\: one per core)]:value: ' \
            '--fail-fast[end when a command has failed]' \
            '--store=[sqlite\:PATH, a file, created if a policy is given]:store:_lull_stores' \
            '--namespace=[the namespace to work on (default\: default)]:value: ' \
            '--patience=[how long a call waits for other writers of a file (default …]:value: ' \
            '--change-policy[change the policy for all users, from the next submit on]' \
            '--lease=[another process takes over the runs of this one after D wit…]:value: ' \
            '--max-attempts=[a run is dead after N failed attempts (default 20)]:value: ' \
            '*::command: _normal'
        ;;
    status)
        _arguments -S \
            '--help[explain this command]' \
            '--format=[openmetrics\: print metrics in the OpenMetrics text format]:format:(openmetrics)' \
            '--color=[bold and coloured output\: auto (default]:color:(auto always never)' \
            '--store=[sqlite\:PATH, a file]:store:_lull_stores' \
            '--namespace=[only this one of its namespaces]:value: ' \
            '--patience=[how long a call waits for other writers of a file (default …]:value: ' \
            '--watch[print the status every second]' \
            '--json[print a JSON object for each namespace, one a line]' \
            '--fail-if=[exit with status 1 if a namespace exceeds one of these limi…]:value: '
        ;;
    list)
        _arguments -S \
            '--help[explain this command]' \
            '--color=[bold and coloured output\: auto (default]:color:(auto always never)' \
            '--store=[sqlite\:PATH, a file]:store:_lull_stores' \
            '--namespace=[which of its namespaces (default\: default)]:value: ' \
            '--patience=[how long a call waits for other writers of a file (default …]:value: ' \
            '--ended[list what has ended\: the newest 100, or --limit]' \
            '--limit=[list the first N only]:value: ' \
            '--watch[print the first keys every second]' \
            '--json[print a JSON object for each, one a line]'
        ;;
    touch)
        _arguments -S \
            '--help[explain this command]' \
            '--store=[sqlite\:PATH, a file]:store:_lull_stores' \
            '--namespace=[which of its namespaces (default\: default)]:value: ' \
            '--patience=[how long a call waits for other writers of a file (default …]:value: ' \
            '--after=[the delay of this call alone]:value: ' \
            '--json[print the number in a JSON object]'
        ;;
    flush)
        _arguments -S \
            '--help[explain this command]' \
            '--store=[sqlite\:PATH, a file]:store:_lull_stores' \
            '--namespace=[which of its namespaces (default\: default)]:value: ' \
            '--patience=[how long a call waits for other writers of a file (default …]:value: ' \
            '--all[all keys of the namespace, as without a KEY]' \
            '--prefix=[the keys that begin with TEXT]:value: ' \
            '--older-than=[the keys whose oldest value that no worker has was submitte…]:value: ' \
            '--error=[the keys that wait for another attempt after an error with …]:value: ' \
            '--yes[do not ask]' \
            '--json[print the number in a JSON object]'
        ;;
    cancel)
        _arguments -S \
            '--help[explain this command]' \
            '--store=[sqlite\:PATH, a file]:store:_lull_stores' \
            '--namespace=[which of its namespaces (default\: default)]:value: ' \
            '--patience=[how long a call waits for other writers of a file (default …]:value: ' \
            '--all[all keys of the namespace, as without a KEY]' \
            '--prefix=[the keys that begin with TEXT]:value: ' \
            '--older-than=[the keys whose oldest value that no worker has was submitte…]:value: ' \
            '--error=[the keys that wait for another attempt after an error with …]:value: ' \
            '--yes[do not ask]' \
            '--json[print the number in a JSON object]'
        ;;
    dead)
        _arguments -S \
            '--help[explain this command]' \
            '--color=[bold and coloured output\: auto (default]:color:(auto always never)' \
            '--store=[sqlite\:PATH, a file]:store:_lull_stores' \
            '--namespace=[which of its namespaces (default\: default)]:value: ' \
            '--patience=[how long a call waits for other writers of a file (default …]:value: ' \
            '--all[retry or discard all dead runs of the namespace]' \
            '--prefix=[retry or discard those whose key begins with TEXT]:value: ' \
            '--older-than=[those that died at least D ago]:value: ' \
            '--error=[those with TEXT in their error]:value: ' \
            '--yes[do not ask]' \
            '--json[with list\: print a JSON object for each, with its values]' \
            '1:action:(list retry discard)'
        ;;
    workers)
        _arguments -S \
            '--help[explain this command]' \
            '--color=[bold and coloured output\: auto (default]:color:(auto always never)' \
            '--store=[sqlite\:PATH, a file]:store:_lull_stores' \
            '--namespace=[which of its namespaces (default\: default)]:value: ' \
            '--patience=[how long a call waits for other writers of a file (default …]:value: ' \
            '--json[print a JSON object for each, one a line]'
        ;;
    pause)
        _arguments -S \
            '--help[explain this command]' \
            '--store=[sqlite\:PATH, a file]:store:_lull_stores' \
            '--namespace=[which of its namespaces (default\: default)]:value: ' \
            '--patience=[how long a call waits for other writers of a file (default …]:value: ' \
            '--reason=[why, for those who look at lull status]:value: '
        ;;
    resume)
        _arguments -S \
            '--help[explain this command]' \
            '--store=[sqlite\:PATH, a file]:store:_lull_stores' \
            '--namespace=[which of its namespaces (default\: default)]:value: ' \
            '--patience=[how long a call waits for other writers of a file (default …]:value: '
        ;;
    forget)
        _arguments -S \
            '--help[explain this command]' \
            '--store=[sqlite\:PATH, a file]:store:_lull_stores' \
            '--namespace=[which of its namespaces]:value: ' \
            '--patience=[how long a call waits for other writers of a file (default …]:value: '
        ;;
    compact)
        _arguments -S \
            '--help[explain this command]' \
            '--store=[sqlite\:PATH, a file]:store:_lull_stores' \
            '--patience=[how long it waits for other writers (default 5s)]:value: '
        ;;
    schema)
        _arguments -S \
            '--help[explain this command]' \
            '--store=[postgres\://USER@HOST/DATABASE]:store:_lull_stores' \
            '--apply[run the SQL, in one transaction]'
        ;;
    adopt)
        _arguments -S \
            '--help[explain this command]' \
            '--store=[sqlite\:PATH, a file, or postgres\://USER@HOST/DATABASE]:store:_lull_stores'
        ;;
    serve)
        _arguments -S \
            '--help[explain this command]' \
            '--store=[sqlite\:PATH, a file]:store:_lull_stores' \
            '--patience=[how long a call waits for other writers of a file (default …]:value: ' \
            '--namespace=[only this one of its namespaces]:value: ' \
            '--listen=[where it listens]:value: ' \
            '--hooks=[a JSON file of paths at which services deliver events, and …]:file:_files' \
            '--token-file=[a file with a line ROLE TOKEN \[NAME\] for each who may come …]:file:_files' \
            '--allow-actions[the page can flush, cancel, retry, discard, touch, pause, r…]' \
            '--origin=[the address at which a proxy shows it, such as https\://lull…]:value: '
        ;;
    top)
        _arguments -S \
            '--help[explain this command]' \
            '--color=[bold and coloured output\: auto (default]:color:(auto always never)' \
            '--json[print what the program sends]' \
            '--page[serve a page with the same, and a time line, to a browser o…]' \
            '--listen=[where the page listens]:value: ' \
            '1:trace:_files'
        ;;
    completions) _arguments '1:shell:(bash zsh fish)' ;;
    man|help) _arguments '1:command:(filter run simulate tune top submit work status list touch flush cancel dead workers pause resume serve forget compact schema adopt completions man version)' ;;
    esac
}
_lull_commands() {
    local -a commands
    commands=(
        'filter:passes on the last record of a burst'
        'run:runs COMMAND when a burst is over'
        'simulate:tries a policy on a recorded trace'
        'tune:suggests a wait for a recorded trace'
        'top:looks into a running program'
        'submit:submits a value to a store'
        'work:runs COMMAND for values that are due'
        'status:counts the work in a store'
        'list:lists keys, or what has ended'
        'touch:postpones pending values\: still busy'
        'flush:makes pending values due now'
        'cancel:drops values not yet claimed'
        'dead:handles runs that failed for good'
        'workers:lists the processes that work'
        'pause:lets workers begin nothing new'
        'resume:ends a pause'
        'serve:HTTP\: submits, a page and metrics'
        'forget:deletes a namespace without work'
        'compact:returns unused space to the system'
        'schema:prepares a database for LullPostgres'
        'adopt:prepares a store that was restored from a copy'
        'completions:prints completions for a shell'
        'man:prints a page of the manual'
        'version:prints versions, also of libraries'
        'help:explains a command'
    )
    _describe command commands
}
_lull_stores() {
    if compset -P 'sqlite:'; then _files; else compadd -S '' sqlite: postgres:// redis://; fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _lull "$@"; else compdef _lull lull; fi
