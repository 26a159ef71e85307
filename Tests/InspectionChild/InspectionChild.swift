import Lull
import LullInspection

/// A program that can be looked into, until it is killed.
@main
enum InspectionChild {
    static func main() async throws {
        // Made before the inspector is there, as a global variable may be.
        let early = Debouncer(for: .seconds(3600)) { (_: Int) in }
        Inspector.startIfAsked()
        let save = Debouncer(for: .milliseconds(10), maxWait: .seconds(60)) { (_: Int) in }
        let levels = KeyedThrottler(every: .seconds(3600), edges: .trailing) { (_: Int, _: Int) in }
        early(1)
        for number in 1...Int.max {
            save(number)
            levels.submit(number, for: number % 3)
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
