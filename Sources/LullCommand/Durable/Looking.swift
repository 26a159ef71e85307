internal import LullDurable
internal import LullSQLite

extension SQLiteReader {
    /// Asks a store something. A namespace that is not there is answered with those that are.
    func look<Answer>(
        for subcommand: Subcommand, _ body: (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) throws(Failure) -> Answer {
        do throws(DurableError) {
            return try read(body)
        } catch .noPolicy(let namespace) {
            let names = (try? read { transaction throws(DurableError) in try transaction.names() }) ?? []
            throw .usage("there is no namespace \(namespace)\(Self.hint(names))", subcommand)
        } catch {
            throw Failure(error, subcommand)
        }
    }

    /// As many as can be read at a glance.
    private static func hint(_ names: [String]) -> String {
        switch names.count {
        case 0: ": nothing has been submitted to the store yet"
        case 1: "; there is \(names[0])"
        case 2...8: "; there are \(names.joined(separator: ", "))"
        default: "; there are \(names.count), which lull status lists"
        }
    }
}
