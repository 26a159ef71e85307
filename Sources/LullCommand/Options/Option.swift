/// An option, which belongs to some of the subcommands.
enum Option: Int32, CaseIterable {
    // The raw values are getopt_long's codes: they must differ from characters, which are the codes of short options.
    case help = 256
    case wait, throttle, maxWait, maxCount, spacing, edges, delayRule, combine, maxBatch
    case null, keyField, keyJSON, delayField, delayJSON, delimiter, strict, maxKeys
    case format, atEnd, stats
    case whileRunning, killAfter, jobs, failFast
    case waits, targetSaving, targetDelay, byKey
    case svg, diagram
    case record, recordValues, hashKeys
    case store, namespace, patience, changePolicy, lease, maxAttempts, after, token, json, watch, failIf, limit, ended,
        all,
        apply

    /// The name without the dashes.
    var name: StaticString {
        switch self {
        case .help: "help"
        case .wait: "wait"
        case .throttle: "throttle"
        case .maxWait: "max-wait"
        case .maxCount: "max-count"
        case .spacing: "spacing"
        case .edges: "edges"
        case .delayRule: "delay-rule"
        case .combine: "combine"
        case .maxBatch: "max-batch"
        case .null: "null"
        case .keyField: "key-field"
        case .keyJSON: "key-json"
        case .delayField: "delay-field"
        case .delayJSON: "delay-json"
        case .delimiter: "delimiter"
        case .strict: "strict"
        case .maxKeys: "max-keys"
        case .format: "format"
        case .atEnd: "at-end"
        case .stats: "stats"
        case .whileRunning: "while-running"
        case .killAfter: "kill-after"
        case .jobs: "jobs"
        case .failFast: "fail-fast"
        case .waits: "waits"
        case .targetSaving: "target-saving"
        case .targetDelay: "target-delay"
        case .byKey: "by-key"
        case .svg: "svg"
        case .diagram: "diagram"
        case .record: "record"
        case .recordValues: "record-values"
        case .hashKeys: "hash-keys"
        case .store: "store"
        case .namespace: "namespace"
        case .patience: "patience"
        case .changePolicy: "change-policy"
        case .lease: "lease"
        case .maxAttempts: "max-attempts"
        case .after: "after"
        case .token: "token"
        case .json: "json"
        case .watch: "watch"
        case .failIf: "fail-if"
        case .limit: "limit"
        case .ended: "ended"
        case .all: "all"
        case .apply: "apply"
        }
    }

    var takesValue: Bool {
        switch self {
        case .help, .null, .strict, .stats, .failFast, .byKey, .diagram, .recordValues, .hashKeys, .changePolicy, .json,
            .watch, .ended, .all, .apply:
            false
        default: true
        }
    }

    /// Returns whether a subcommand has this option.
    func belongs(to subcommand: Subcommand) -> Bool {
        switch self {
        case .help: true
        case .maxWait, .maxCount, .spacing, .edges, .delayRule:
            Self.policy.contains(subcommand) || subcommand == .tune
        case .wait, .throttle, .combine, .maxBatch: Self.policy.contains(subcommand)
        case .atEnd: [.filter, .run, .simulate].contains(subcommand)
        case .null: [.filter, .run, .work].contains(subcommand)
        case .keyField, .keyJSON, .delayField, .delayJSON, .delimiter, .strict, .maxKeys, .stats, .record,
            .recordValues, .hashKeys:
            subcommand == .filter || subcommand == .run
        case .format: [.filter, .simulate, .tune, .status].contains(subcommand)
        case .whileRunning: subcommand == .run
        case .killAfter, .jobs, .failFast: subcommand == .run || subcommand == .work
        case .waits, .targetSaving, .targetDelay, .byKey: subcommand == .tune
        case .svg, .diagram: subcommand == .simulate || subcommand == .tune
        case .store: ![.simulate, .tune].contains(subcommand)
        case .namespace: ![.simulate, .tune, .compact, .schema, .adopt].contains(subcommand)
        case .patience: ![.simulate, .tune, .schema, .adopt].contains(subcommand)
        case .changePolicy: [.filter, .run, .submit, .work].contains(subcommand)
        case .lease, .maxAttempts: [.filter, .run, .work].contains(subcommand)
        case .after, .token: subcommand == .submit
        case .json: [.submit, .status, .list, .flush, .cancel, .dead, .workers].contains(subcommand)
        case .failIf: subcommand == .status
        case .watch: subcommand == .status || subcommand == .list
        case .limit, .ended: subcommand == .list
        case .all: subcommand == .dead
        case .apply: subcommand == .schema
        }
    }

    /// The subcommands with a policy.
    private static let policy: [Subcommand] = [.filter, .run, .simulate, .submit, .work]

    /// Whether it has a meaning only with a store.
    var needsStore: Bool {
        switch self {
        case .namespace, .patience, .changePolicy, .lease, .maxAttempts: true
        default: false
        }
    }
}
