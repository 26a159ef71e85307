import TestSupport
import Lull

// The services that the samples of the documentation call. A type that is not an actor says that it is not isolated,
// for the mode in which types belong to the main actor unless they say otherwise.

nonisolated struct Draft: Equatable, Sendable {
    var text: String

    init(_ text: String) { self.text = text }
}

actor Store {
    private(set) var drafts: [Draft] = []

    @discardableResult
    func save(_ draft: Draft) throws -> Int {
        if draft.text.isEmpty { throw Refusal() }
        drafts.append(draft)
        return drafts.count
    }
}

/// Records every call as a line.
actor Service {
    private(set) var told: [String] = []

    func set(_ level: Int, on device: String) throws { told.append("\(device)=\(level)") }
    func set(_ level: Double) { told.append("\(level)") }
    func add(_ clicks: Int) { told.append("+\(clicks)") }
    func reload() { told.append("reload") }
    func report(_ position: Int) throws { told.append("at \(position)") }
    func sync(_ account: Int) throws { told.append("sync \(account)") }
    func send(_ text: String, to room: String) { told.append("\(room): \(text)") }
    func sync(_ category: Category) throws { told.append("sync \(category)") }
    func upload(_ events: [String]) throws { told.append(events.joined(separator: "+")) }
    func update(_ document: Int, to revision: Int) throws {
        if revision < 0 { throw Refusal() }
        told.append("\(document) to \(revision)")
    }
    func show(_ hits: [String], for query: String) { told.append("\(query): \(hits.count)") }
    func show(_ message: String) { told.append(message) }
    func preview(_ text: String) { told.append(text) }
    func page(_ number: Int) throws -> String? { number <= 3 ? "page \(number)" : nil }
}

nonisolated enum Category: Sendable {
    case steps
}

/// An index that takes its time, on the clock of the test, and more of it for short queries.
nonisolated struct Index: Sendable {
    var clock: (any Clock<Duration>)?

    func find(_ query: String) async throws -> [String] {
        try await clock?.sleep(for: .seconds(10 - query.count))
        return [query]
    }
}

/// The same, which does not react to cancellation.
nonisolated struct Legacy: Sendable {
    let index: Index

    func find(_ query: String) async -> [String] {
        await Task { (try? await index.find(query)) ?? [] }.value
    }
}

nonisolated struct Log: Sendable {
    let lines = Record<String>()

    func error(_ line: String) { lines.add(line) }
}

nonisolated struct File: Sendable {
    let texts = Record<String>()

    func write(_ text: String) throws { texts.add(text) }
}
