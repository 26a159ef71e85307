import LullCore
import LullDurable
import TestSupport

@testable import LullRedis

/// A connection that blocks, with the scripts, and looks at what they have stored.
final class Session {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let connection: Connection
    private var hashes: [Script: String] = [:]
    private var replies: [Reply] = []

    init(_ server: TestRedis, _ database: Int = 0) throws {
        try Client.loadLibrary()
        connection = try Connection(to: .socket(server.folder + "/socket"))
        try self(Command("SELECT", "\(database)"))
        try self(Command("FLUSHDB"))
    }

    /// Sends a command, and waits for its reply.
    @discardableResult
    func callAsFunction(_ command: Command) throws -> Reply {
        try connection.append(command)
        while try connection.flush() {}
        while replies.isEmpty { replies += try connection.receive() }
        let reply = replies.removeFirst()
        if case .error(let error) = reply { throw Failure(description: error) }
        return reply
    }

    func run(_ script: Script, in namespace: String, _ arguments: Command) throws -> Reply {
        if hashes[script] == nil { hashes[script] = try self(Command("SCRIPT", "LOAD", script.text)).text }
        let keys = Scripts.keys(namespace, 0)
        var command = Command(["EVALSHA", hashes[script] ?? "", "\(keys.count)"] + keys)
        command.add(arguments)
        return try self(command)
    }

    private func key(_ structure: String, _ namespace: String) -> String { Scripts.prefix(namespace, 0) + structure }

    func row(_ name: String, in namespace: String) throws -> [UInt8]? {
        try self(Command("HGET", key("rows", namespace), name)).bytes
    }

    func wake(_ name: String, in namespace: String) throws -> Int64? {
        try self(Command("ZSCORE", key("due", namespace), name)).text.flatMap { Double($0) }.map { Int64($0) }
    }

    func ends(of name: String, in namespace: String) throws -> [StoredEnd] {
        StoredEnd.list(try self(Command("HGET", key("past", namespace), "e" + name)).bytes)
    }

    func dead(_ run: Int64, in namespace: String) throws -> DurableRow.Run? {
        Packed(try self(Command("HGET", key("past", namespace), "d\(run)")).bytes).map { DurableRow.Run($0[2]) }
    }

    /// The values in a slot of a row, as text; nil if the slot is empty.
    func values(
        of stored: StoredRow, in slot: DurablePayload.Slot, _ name: String, _ rules: DurableRules, _ namespace: String
    ) throws -> [String]? {
        guard let index = stored.values[slot] else { return nil }
        let count =
            switch slot {
            case .pending: stored.row.gate.count
            case .ready: stored.row.ready?.count ?? 0
            case .run: stored.row.run?.value.count ?? 0
            }
        let collects = rules.combination == .collect
        return try (0..<(collects ? count : 1)).map { place in
            let field = "\(index + Int64(place)):\(name)"
            let bytes = try self(Command("HGET", key("values", namespace), field)).bytes ?? Array("(none)".utf8)
            return String(decoding: bytes.dropFirst(collects ? 8 : 0), as: UTF8.self)
        }
    }

    /// The number of fields of a structure, without its sentinel.
    func count(of structure: String, in namespace: String) throws -> Int {
        Int(try self(Command("HLEN", key(structure, namespace))).number ?? 0) - 1
    }
}
