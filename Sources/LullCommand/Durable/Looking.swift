internal import LullDurable
internal import LullSQLite

extension SQLiteReader {
    /// Asks a store something. A namespace that is not there is answered with those that are.
    func look<Answer>(
        for subcommand: Subcommand, _ body: (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) throws(Failure) -> Answer {
        do throws(DurableError) {
            return try read(body)
        } catch {
            let names = try? read { transaction throws(DurableError) in try transaction.names() }
            throw Failure(error, namespaces: names ?? [], subcommand)
        }
    }
}
