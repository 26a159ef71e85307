internal import CLullPostgres
internal import CLullRedis
internal import CLullSQLite
internal import LullHTTP

/// `lull --help` and `lull help`.
enum Help {
    static let version = "0.1.0"

    /// The pages of all commands, in the order of lists.
    static let all = [
        filter, run, simulate, tune, top, submit, work, status, list, touch, flush, cancel, dead, workers, pause,
        resume,
        serve, forget, compact, schema, adopt, completions, manual, versions,
        HelpPage("help", "[COMMAND]", "explains a command", []),
    ]
    /// All names that the first argument can have.
    static let commands = all.map(\.name)
    static let pages = all.filter { !$0.blocks.isEmpty }.map(\.name)
    /// What `lull help` explains that is no command.
    static let topic = "store"

    private static let purpose =
        "lull: runs work in the lull after a burst (debounce), or at a limited rate (throttle)."

    private static let examples = [
        "tail -F app.log | lull filter --wait 500ms",
        "inotifywait -mre close_write src | lull run --wait 300ms -- make", "lull tune trace.jsonl",
    ]

    /// What fits a screen: the commands of every day.
    static let everyDay: [HelpPage.Block] = [
        .paragraph(purpose), .heading("Usage"), .literal([filter, run, simulate, tune, top].map(\.line)),
        .heading("Examples"), .literal(examples),
        .paragraph("Store commands: lull help store. All about a command: lull COMMAND --help."),
        .paragraph("Also: lull version, lull completions SHELL, lull man [COMMAND]."),
    ]

    /// Returns the text of `lull help`: the overview, or the page of a command.
    static func make(_ arguments: [String]) throws(Failure) -> String {
        var words = arguments
        let style = Terminal.Colour.take(from: &words).style
        // The page of a command also explains its keywords.
        let isPair = words.count == 2 && Subcommand(rawValue: words[0])?.takes(keyword: words[1]) == true
        guard words.count <= 1 || isPair else { throw .usage("unexpected argument \(words[1])") }
        guard let name = words.first, !["--help", "-h", "help"].contains(name) else {
            return HelpPage.text(of: everyDay, style: style)
        }
        return try name == topic ? HelpPage.text(of: stores, style: style) : page(named: name).text(style)
    }

    static func page(named name: String) throws(Failure) -> HelpPage {
        guard let page = all.first(where: { $0.name == name && !$0.blocks.isEmpty }) else { throw .unknown(name) }
        return page
    }

    static func summary(of name: String) -> String { all.first { $0.name == name }?.summary ?? "" }

    /// The commands that work on a store, for `lull help store`.
    private static let stores: [HelpPage.Block] =
        [.heading("Store commands"), .literal(all.filter { isForStores($0.name) }.map(\.line)), .paragraph(store)]
        + [
            .paragraph("lull filter and lull run keep pending work in a store, too, with --store."),
            .heading("Examples"),
            .literal([
                "lull submit --store sqlite:hooks.db --wait 5s repo-7 '{\"n\":1}'",
                "lull work --store sqlite:hooks.db -- ./rebuild {key}", "lull status --store sqlite:hooks.db",
            ]),
        ]

    private static func isForStores(_ name: String) -> Bool {
        Subcommand(rawValue: name).map { !$0.canDoWithoutStore } ?? false
    }

    private static let store = """
        A store keeps pending work: in a file, sqlite:PATH, or for many machines in a PostgreSQL database, \
        postgres://USER@HOST/DATABASE, or in a Redis or Valkey server, redis://HOST/DATABASE.
        """

    /// The page of the manual about all commands.
    static let whole = HelpPage(
        "lull", "", String(purpose.dropFirst("lull: ".count).dropLast()),
        [
            .literal(
                all.map(\.line) + ["lull COMMAND --help".padded(to: 41) + "does the same"]
                    + ["lull --version".padded(to: 41) + "prints the version"]),
            .text(store), .examples(examples),
        ])
}

/// `lull version`: the versions of the command, and of the libraries with which it opens stores.
enum Versions {
    static func make(_ arguments: [String]) throws(Failure) -> String {
        if let first = arguments.first { throw .usage("unexpected argument \(first)") }
        return ["lull \(Help.version)", "SQLite \(String(cString: sqlite3_libversion()))", postgres, redis, http]
            .map { "\($0)\n" }.joined()
    }

    /// The version of libmicrohttpd, or why it cannot be loaded.
    private static var http: String { HTTPLibrary.load() ?? "libmicrohttpd \(HTTPLibrary.version)" }

    /// libpq's version, or why it cannot be loaded.
    private static var postgres: String {
        if let why = lull_pq_load() { return String(cString: why) }
        let number = lull_PQlibVersion()
        // Before 10, a version had three parts.
        return number < 100_000
            ? "libpq \(number / 10_000).\(number / 100 % 100).\(number % 100)"
            : "libpq \(number / 10_000).\(number % 10_000)"
    }

    /// The version of hiredis, or why it cannot be loaded. hiredis tells it in the name of its file, if anywhere.
    private static var redis: String {
        if let why = lull_redis_load() { return String(cString: why) }
        let name = String(cString: lull_redis_library_name())
        let version = name.split(separator: ".so.").dropFirst().last
        return "hiredis \(version.map(String.init) ?? "(\(name))")"
    }
}
