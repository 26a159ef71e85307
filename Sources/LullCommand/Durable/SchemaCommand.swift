internal import LullDurable
internal import LullPostgres

/// `lull schema` and `lull adopt`: prepare a PostgreSQL database.
enum SchemaCommand {
    static func run(_ subcommand: Subcommand, _ options: CommandOptions) throws(Failure) -> Int32 {
        if options.store == nil {
            throw .usage("--store is missing: give it as postgres://USER@HOST/DATABASE", subcommand)
        }
        guard case .postgres(let url) = try options.storeURL(for: subcommand) else {
            throw .usage("--store must be a PostgreSQL database, postgres://…: other stores need no schema", subcommand)
        }
        let output: String
        do throws(DurableError) {
            let schema = try PostgresSchema(url: url)
            if subcommand == .adopt {
                try schema.adopt()
                output = "adopted: workers can use this database\n"
            } else if options.applies {
                output = try schema.apply() ? "applied\n" : "nothing to apply: the schema is that of this version\n"
            } else {
                output = try schema.script()
            }
        } catch {
            throw Failure(error, subcommand)
        }
        try OutputBuffer.print(output)
        return ExitStatus.success
    }
}
