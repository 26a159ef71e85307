import Foundation
import Lull
import LullTesting
import TestSupport
import Testing

// The picture of each rule for running handlers in the article "While a handler runs": drawn by debouncers on a manual
// clock, a second in three columns.

@Suite("The picture of the rules for running handlers")
struct RunningTimelines {
    static let rules: [(name: String, rule: OverlapPolicy, collects: Bool)] = [
        (".queue", .queue, false), (".cancelRunning", .cancelRunning, false), (".restart", .restart, true),
        ("  whenSubmitted", .restart(interrupting: .whenSubmitted), true), (".concurrent", .concurrent, false),
        (".skip", .skip, false),
    ]
    static let submits = [0: "a", 2: "b", 5: "c"]
    static let length = 14

    /// An execution: its values, and when it started and ended.
    struct Run {
        let values: String
        let start: Int
        var end = 0
        var isCancelled = false
    }

    /// Submits the values to a debouncer with a wait of one second and a handler that takes four.
    private func runs(_ rule: OverlapPolicy, collects: Bool) async -> [Run] {
        let clock = ManualClock()
        let runs = Guarded<[Run]>([])
        let now = { @Sendable in Int(ManualClock.Instant.zero.duration(to: clock.now).components.seconds) }
        let handle = { @Sendable (values: [String]) async throws in
            let index = runs.change { runs in
                runs.append(Run(values: values.joined(), start: now()))
                return runs.count - 1
            }
            defer { runs.change { $0[index].end = now() } }
            do { try await clock.sleep(for: .seconds(4)) } catch {
                runs.change { $0[index].isCancelled = true }
                throw error
            }
        }
        let it =
            collects
            ? Debouncer(collectingFor: .seconds(1), whileRunning: rule, clock: clock) { try await handle($0) }
            : nil
        let one =
            collects ? nil : Debouncer(for: .seconds(1), whileRunning: rule, clock: clock) { try await handle([$0]) }
        for second in 0...Self.length {
            if let value = Self.submits[second] {
                it?.submit(value)
                one?.submit(value)
            }
            await clock.advance(by: .seconds(1))
        }
        return runs.value
    }

    /// Draws executions in as few lines as do not overlap.
    private func draw(_ runs: [Run], name: String) -> [String] {
        var lines: [[Run]] = []
        for run in runs {
            if let free = lines.firstIndex(where: { ($0.last?.end ?? 0) <= run.start }) {
                lines[free].append(run)
            } else {
                lines.append([run])
            }
        }
        return lines.enumerated().map { index, runs in
            runs.reduce(into: pad(index == 0 ? name : "", to: 16)) { line, run in
                line = pad(line, to: 16 + 3 * run.start) + "[" + run.values
                line = pad(line, to: 16 + 3 * run.end - 1) + (run.isCancelled ? "x" : "]")
            }
        }
    }

    private func pad(_ text: String, to length: Int) -> String {
        text + String(repeating: " ", count: max(0, length - text.count))
    }

    private func picture() async -> String {
        var lines = [pad("time", to: 16), pad("submitted", to: 16)]
        for second in 0..<Self.length {
            lines[0] = pad(lines[0], to: 16 + 3 * second) + "\(second)"
            guard let value = Self.submits[second] else { continue }
            lines[1] = pad(lines[1], to: 16 + 3 * second) + value
        }
        for (name, rule, collects) in Self.rules { lines += draw(await runs(rule, collects: collects), name: name) }
        return lines.joined(separator: "\n")
    }

    @Test
    func `is what debouncers do`() async throws {
        let path = ArticleCode.root.appending(path: "Sources/Lull/Lull.docc/WhileAHandlerRuns.md")
        let article = try String(contentsOf: path, encoding: .utf8)
        let picture = await picture()
        #expect(article.contains("```text\n\(picture)\n```"), "the picture is:\n\(picture)")
    }
}
