import Lull
import TestSupport

/// A sequence of numbers that counts what is asked of it, and does not react to cancellation; every iterator begins
/// with the first.
struct Numbers: AsyncSequence, Sendable {
    let asked = Record<Int>()
    var count = 1000
    /// The error that is thrown after the last number, if any.
    var error: Refusal?
    /// Where the numbers wait before they come, if anywhere, but for the first of them.
    var door: Door?
    var first = 0
    /// Opened when the iterator is released.
    let end = Door()

    /// Opens a door when it is released.
    private final class Key: Sendable {
        let door: Door
        init(to door: Door) { self.door = door }
        deinit { door.open() }
    }

    struct Iterator: AsyncIteratorProtocol {
        let numbers: Numbers
        private let key: Key
        var last = 0

        init(_ numbers: Numbers) {
            self.numbers = numbers
            key = Key(to: numbers.end)
        }

        mutating func next() async throws(Refusal) -> Int? {
            last += 1
            numbers.asked.add(last)
            if last > numbers.first { await numbers.door?.pass() }
            if last <= numbers.count { return last }
            if let error = numbers.error { throw error }
            return nil
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> Int? { try await next() }
    }

    func makeAsyncIterator() -> Iterator { Iterator(self) }
}

/// Objects that are counted while they live, and at most that many.
struct Tokens: AsyncSequence, Sendable {
    final class Census: Sendable {
        private let counts = Guarded((living: 0, most: 0))

        func born() {
            counts.change { counts in
                counts.living += 1
                counts.most = Swift.max(counts.most, counts.living)
            }
        }

        func died() { counts.change { $0.living -= 1 } }

        var living: Int { counts.value.living }
        var most: Int { counts.value.most }
    }

    final class Token: Sendable {
        let number: Int
        let census: Census

        init(_ number: Int, _ census: Census) {
            self.number = number
            self.census = census
            census.born()
        }

        deinit { census.died() }
    }

    let census = Census()
    let count: Int

    struct Iterator: AsyncIteratorProtocol {
        let tokens: Tokens
        var last = 0

        mutating func next() async -> Token? {
            last += 1
            // Other tests want to get on as well.
            if last % 500 == 0 { await Task.yield() }
            return last <= tokens.count ? Token(last, tokens.census) : nil
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> Token? { await next() }
    }

    func makeAsyncIterator() -> Iterator { Iterator(tokens: self) }
}
