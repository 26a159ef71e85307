internal import LullDurable
internal import LullPostgres
internal import LullSQLite

// The commands for a store as a whole.

/// `lull forget`: deletes a namespace that has no work.
enum ForgetCommand {
    static func run(_ options: CommandOptions) throws(Failure) -> String {
        // Names what it deletes.
        guard let namespace = options.givenNamespace else {
            throw .usage("--namespace is missing: give the one to forget", .forget)
        }
        try options.openStore(for: .forget).change(for: .forget) { try await $0.forget(namespace) }
        return "forgot \(Terminal.shown(namespace))"
    }
}

/// `lull compact`: returns a store's unused space to the file system.
enum CompactCommand {
    static func run(_ options: CommandOptions) throws(Failure) -> String {
        guard case .file(let path) = try options.storeURL(for: .compact) else {
            throw .usage("lull compact is for files: a server keeps its own data compact", .compact)
        }
        let file = try StoreURL.file(path, options.patience, .compact)
        do throws(DurableError) { return try text(file.compact()) } catch { throw Failure(error, .compact) }
    }

    private static func text(_ sizes: SQLiteFile.Sizes) -> String {
        let given = sizes.before - sizes.after
        if given <= 0 { return "nothing to reclaim: all of \(megabytes(sizes.after)) is in use" }
        let ending = sizes.isCut ? "" : ", as soon as the current readers have finished"
        return "reclaimed \(megabytes(given)) of \(megabytes(sizes.before))\(ending)"
    }
}

/// `lull adopt`: prepares a store that was restored from a copy for work.
enum AdoptCommand {
    static func run(_ options: CommandOptions) throws(Failure) -> String {
        switch try options.storeURL(for: .adopt) {
        case .file(let path):
            let file = try StoreURL.file(path, options.patience, .adopt)
            do throws(DurableError) {
                return "adopted: new runs, fences and generations of new keys are above \(try file.adopt())"
            } catch {
                throw Failure(error, .adopt)
            }
        case .postgres(let url):
            do throws(DurableError) { try PostgresSchema(url: url).adopt() } catch { throw Failure(error, .adopt) }
            return "adopted: workers can use this store"
        case .redis: throw .usage("lull adopt is for files and PostgreSQL databases: Redis needs no such step", .adopt)
        }
    }
}

/// `lull schema`: prepares a PostgreSQL database.
enum SchemaCommand {
    static func run(_ options: CommandOptions) throws(Failure) -> String {
        if options.store == nil {
            throw .usage("--store is missing: give it as postgres://USER@HOST/DATABASE", .schema)
        }
        guard case .postgres(let url) = try options.storeURL(for: .schema) else {
            throw .usage("--store must be a PostgreSQL database, postgres://…: other stores need no schema", .schema)
        }
        do throws(DurableError) {
            let schema = try PostgresSchema(url: url)
            guard options.applies else { return try schema.script() }
            return try schema.apply() ? "applied" : "nothing to apply: the schema is that of this version"
        } catch {
            throw Failure(error, .schema)
        }
    }
}
