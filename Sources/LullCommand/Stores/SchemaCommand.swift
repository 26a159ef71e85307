internal import LullDurable
internal import LullPostgres

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
