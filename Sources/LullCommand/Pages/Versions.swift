internal import CLullPostgres
internal import CLullRedis
internal import CLullSQLite

/// `lull version`: the versions of the command, and of the libraries with which it opens stores.
enum Versions {
    static func make(_ arguments: [String]) throws(Failure) -> String {
        if let first = arguments.first { throw .usage("unexpected argument \(first)") }
        return ["lull \(Help.version)", "SQLite \(String(cString: sqlite3_libversion()))", postgres, redis]
            .map { "\($0)\n" }.joined()
    }

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
