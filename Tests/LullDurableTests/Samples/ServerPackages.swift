import LullTesting
import TestSupport

// What the samples of the page on servers use of swift-service-lifecycle, swift-log and swift-metrics: the declarations
// as these packages publish them, without what the samples do not use. What stands behind them is the test's: shutting
// down by a call, and records.

// swift-service-lifecycle 2

nonisolated protocol Service: Sendable {
    func run() async throws
}

nonisolated struct UnixSignal: Hashable, Sendable {
    static let sigterm = UnixSignal()
}

actor ServiceGroup: Service {
    private let services: [any Service]
    private let shutdown = Shutdown()

    init(
        services: [any Service], gracefulShutdownSignals: [UnixSignal] = [], cancellationSignals: [UnixSignal] = [],
        logger: Logger
    ) {
        self.services = services
    }

    func run() async throws {
        try await Shutdown.$current.withValue(shutdown) { [services] in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for service in services { group.addTask { try await service.run() } }
                try await group.waitForAll()
            }
        }
    }

    func triggerGracefulShutdown() async { shutdown.trigger() }
}

nonisolated func cancelWhenGracefulShutdown<T: Sendable>(
    _ operation: @Sendable @escaping () async throws -> T
) async rethrows -> T {
    try await withThrowingTaskGroup(of: T?.self) { group in
        group.addTask { try await operation() }
        group.addTask {
            await Shutdown.current?.wait()
            return nil
        }
        var result: T?
        while let next = try await group.next() {
            if let next { result = next }
            group.cancelAll()
        }
        guard let result else { throw CancellationError() }
        return result
    }
}

nonisolated final class Shutdown: Sendable {
    @TaskLocal static var current: Shutdown?

    private let (stream, continuation) = AsyncStream<Never>.makeStream()

    func trigger() { continuation.finish() }

    func wait() async { for await _ in stream {} }
}

// swift-log 1

nonisolated struct Logger: Sendable {
    typealias Metadata = [String: MetadataValue]

    let label: String
    /// What was logged.
    let record: Record<String>

    func warning(
        _ message: @autoclosure () -> Logger.Message, metadata: @autoclosure () -> Logger.Metadata? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        add("warning", message(), metadata())
    }

    func error(
        _ message: @autoclosure () -> Logger.Message, metadata: @autoclosure () -> Logger.Metadata? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        add("error", message(), metadata())
    }

    private func add(_ level: String, _ message: Message, _ metadata: Metadata?) {
        let pairs = (metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value.text)" }
        record.add("\(level): \(message.text)\(pairs.joined())")
    }

    struct Message: ExpressibleByStringInterpolation, Sendable {
        let text: String

        init(stringLiteral value: String) { text = value }
    }

    struct MetadataValue: ExpressibleByStringInterpolation, Sendable {
        let text: String

        init(stringLiteral value: String) { text = value }
    }
}

// swift-metrics 2

nonisolated final class Counter: Sendable {
    let label: String

    init(label: String, dimensions: [(String, String)] = []) { self.label = label }

    func increment<DataType: BinaryInteger>(by amount: DataType) { Metrics.add("\(label) +\(amount)") }
}

nonisolated final class Gauge: Sendable {
    let label: String

    init(label: String, dimensions: [(String, String)] = []) { self.label = label }

    func record<DataType: BinaryInteger>(_ value: DataType) { Metrics.add("\(label) \(value)") }

    func record<DataType: BinaryFloatingPoint>(_ value: DataType) { Metrics.add("\(label) \(value)") }
}

/// What the metrics of a test have recorded.
nonisolated enum Metrics {
    @TaskLocal static var record: Record<String>?

    static func add(_ text: String) { record?.add(text) }
}
