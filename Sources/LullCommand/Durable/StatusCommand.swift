internal import CLullSystem
internal import LullCore
internal import LullDurable
internal import LullSQLite

/// `lull status`: how much there is to do in a store.
enum StatusCommand {
    static func run(_ operands: [Argument], _ settings: Settings) throws(Failure) -> Int32 {
        if let stranger = operands.first {
            throw .usage("unexpected argument \(String(cString: stranger))", .status)
        }
        let file = try settings.store(creates: false, for: .status)
        var all: [DurableStatus]
        do throws(DurableError) {
            all = try file.read { transaction throws(DurableError) in try transaction.status() }
        } catch {
            throw Failure(error, .status)
        }
        if let namespace = settings.givenNamespace { all.removeAll { $0.namespace != namespace } }
        var output = Outlet(STDOUT_FILENO)
        if settings.format == .json {
            for status in all { status.appendJSON(to: &output.text) }
        } else {
            DurableStatus.appendTable(all, to: &output.text)
        }
        _ = try output.drain()
        return ExitStatus.success
    }
}

extension DurableStatus {
    private static let columns = ["namespace", "pending", "ready", "running", "retrying", "dead", "oldest"]

    fileprivate static func appendTable(_ all: [DurableStatus], to text: inout [UInt8]) {
        let rows =
            [columns]
            + all.map { status in
                [
                    status.namespace, "\(status.pending)", "\(status.ready)", "\(status.running)",
                    "\(status.retrying)", "\(status.dead)",
                    status.oldestDue.map { DurationText.rounded(nanoseconds($0)) } ?? "-",
                ]
            }
        let widths = columns.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        for row in rows {
            var line = ""
            for (column, cell) in row.enumerated() {
                let blanks = String(repeating: " ", count: widths[column] - cell.count)
                line += column == 0 ? cell + blanks : "  " + blanks + cell
            }
            text.append(string: line + "\n")
        }
    }

    /// One JSON object in a line.
    fileprivate func appendJSON(to text: inout [UInt8]) {
        text.append("{\"namespace\":")
        JSONText.append(Array(namespace.utf8), to: &text)
        let kind = rules.policy.kind == .debounce ? "wait" : "interval"
        text.append(string: ",\"\(kind)\":")
        DecimalSeconds.append(rules.policy.wait.nanoseconds, to: &text)
        text.append(string: ",\"pending\":\(pending),\"ready\":\(ready),\"running\":\(running)")
        text.append(string: ",\"retrying\":\(retrying),\"dead\":\(dead),\"oldestDue\":")
        if let oldestDue {
            DecimalSeconds.append(nanoseconds(oldestDue), to: &text)
        } else {
            text.append("null")
        }
        text.append("}\n")
    }

    /// The counts in one line, for a session's statistics.
    var line: String {
        "pending \(pending), ready \(ready), running \(running), retrying \(retrying), dead \(dead)"
    }
}
