import Foundation
internal import Lull
internal import LullCore
package import LullDurable
import Testing

/// A store whose connections are cut, lose their answers, or fall silent.
package struct ConnectionTrial: Sendable {
    private let store: any StoreCalls
    private let proxy: Proxy
    /// The number of submits that are pending in the store.
    private let count: @Sendable () async throws -> Int

    /// Opens a namespace.
    ///
    /// - Parameters:
    ///   - store: The store, whose connections go through the proxy. It is closed with it.
    package init(
        _ store: any StoreCalls, through proxy: Proxy, count: @escaping @Sendable () async throws -> Int
    ) async throws {
        (self.store, self.proxy, self.count) = (store, proxy, count)
        try await store.open("n", DurableRules(.debounce(wait: .seconds(3600))))
    }

    private func submit(_ number: Int) async throws -> DurableReceipt { try await store.submit(.numbered(number)) }

    private func end() async {
        await store.close()
        proxy.close()
    }

    /// No submit is unknown, and none is recorded twice.
    package func losesAnswers() async throws {
        proxy.change(to: .losesSomeAnswers)
        let generations = Guarded<[[UInt8]: [Int64]]>([:])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var number = 0
                    while number < 50 || proxy.lost < 5 && number < 5000 {
                        let receipt = try await submit(task * 10_000 + number)
                        generations.change { $0[receipt.key, default: []].append(receipt.generation) }
                        number += 1
                    }
                }
            }
            try await group.waitForAll()
        }
        proxy.change(to: .forwards)
        #expect(proxy.lost >= 5)
        for numbers in generations.value.values { #expect(Set(numbers).count == numbers.count) }
        let total = generations.value.values.reduce(0) { $0 + $1.count }
        #expect(try await count() == total)
        await end()
    }

    /// Connections that are cut are made again.
    package func isCut() async throws {
        for number in 0..<20 {
            _ = try await submit(number)
            proxy.cut()
        }
        #expect(try await count() == 20)
        await end()
    }

    /// Calls end within the time limit of the store, a second, with an error that says what is known.
    package func fallsSilent() async throws {
        _ = try await submit(1)
        proxy.change(to: .isSilent)
        let start = ContinuousClock.now
        let error = await #expect(throws: DurableError.self) { try await submit(2) }
        if case .unknown = error {} else { Issue.record("\(String(describing: error))") }
        _ = await #expect(throws: DurableError.self) { try await store.status() }
        #expect(ContinuousClock.now - start < .seconds(55))
        proxy.change(to: .forwards)
        _ = try await submit(3)
        #expect([2, 3].contains(try await count()))
        await end()
    }
}

extension DurableSubmission {
    /// One of many submits to five keys.
    package static func numbered(_ number: Int) -> Self {
        DurableSubmission(namespace: "n", key: Array("\(number % 5)".utf8), value: Array("\(number)".utf8))
    }
}
