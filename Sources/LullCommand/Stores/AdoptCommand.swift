internal import LullDurable
internal import LullPostgres
internal import LullSQLite

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
