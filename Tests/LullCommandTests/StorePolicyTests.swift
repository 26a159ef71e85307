import Foundation
import TestSupport
import Testing

/// All users of a namespace share one policy, which changes only by `--change-policy`.
@Suite("The policy of a namespace", .ownThreads)
struct StorePolicyTests {
    private let store: TestStore

    init() throws {
        store = try TestStore()
    }

    private func wait() throws -> Double? {
        try store.object("status --json")["wait"] as? Double
    }

    @Test func `a different policy is refused with both shown as options`() throws {
        #expect(try store.run("submit --wait 5s --max-wait 1m k v").ending == 0)
        let outcome = try store.run("submit --wait 1s k v")
        #expect(outcome.ending == 64)
        #expect(
            outcome.errors == """
                lull: the namespace default has --wait 5s --max-wait 1m, not --wait 1s --max-wait 1m: leave the policy \
                out, or change it for all users with --change-policy (see lull submit --help)

                """)
        #expect(try wait() == 5)
        #expect(try store.object("list --json")["pending"] as? Int == 1)
    }

    @Test(arguments: [
        "filter --wait 1s", "run --wait 1s -- true", "work --wait 1s -- true", "submit --wait 1s k v",
        "submit --wait 5s --max-count 3 k v", "submit --wait 5s --delay-rule extend k v", "submit --max-wait 9s k v",
    ])
    func `later users with another policy are refused`(_ command: String) throws {
        _ = try store.run("submit --wait 5s k v")
        let outcome = try store.run(command)
        #expect(outcome.ending == 64)
        #expect(outcome.errors.contains("has --wait 5s"), "\(outcome.errors)")
        #expect(outcome.errors.contains(", not --wait "), "\(outcome.errors)")
    }

    @Test(arguments: [
        "", "--wait 5s", "--wait 5000ms", "--max-wait 1m", "--max-count 9 --wait 5s", "--combine collect",
        "--wait 5s --max-wait 60s --max-count 9 --delay-rule extend --combine collect --max-batch 4 --edges trailing",
        "--change-policy --max-batch 4",
    ])
    func `missing parts come from the store`(_ options: String) throws {
        let all =
            "--wait 5s --max-wait 1m --max-count 9 --spacing 1m --delay-rule extend --combine collect --max-batch 4"
        _ = try store.run("submit \(all) k v")
        #expect(try store.run("submit \(options) k v").ending == 0)
        #expect(try store.run("submit \(all) k v").ending == 0)
    }

    @Test func `--change-policy changes the policy for all users`() throws {
        _ = try store.run("submit --wait 5s k v")
        #expect(try store.run("submit --wait 1h --max-count 9 --change-policy k v").ending == 0)
        #expect(try wait() == 3600)
        #expect(try store.run("submit --wait 1h --max-count 9 k v").ending == 0)
        #expect(try store.run("submit --wait 5s k v").ending == 64)
        // Parts that are not given stay.
        #expect(try store.run("submit --wait 2h --change-policy k v").ending == 0)
        #expect(try store.run("submit --wait 2h --max-count 9 k v").ending == 0)
        #expect(try store.run("submit --spacing 3h --change-policy k v").ending == 0)
        #expect(try store.run("submit --spacing 1h k v").ending == 64)
        #expect(try store.run("submit --wait 2h --max-count 9 --spacing 3h k v").ending == 0)
        let batch = try store.run("submit --combine collect --max-batch 3 --change-policy k v")
        #expect(batch.ending == 64)
    }

    @Test(arguments: ["--throttle 1h", "--edges leading", "--combine first"])
    func `kind, edges and combination cannot change`(_ options: String) throws {
        _ = try store.run("submit --wait 1h k v")
        for change in ["", " --change-policy"] {
            let outcome = try store.run("submit \(options)\(change) k v")
            #expect(outcome.ending == 64)
            #expect(outcome.errors.contains("has --wait 1h"), "\(outcome.errors)")
            #expect(outcome.errors.contains(options), "\(outcome.errors)")
            #expect(
                outcome.errors.contains(
                    ": its kind, edges, combination and --while-running cannot change; use another namespace (see"),
                "\(outcome.errors)")
        }
    }

    @Test func `the resulting policy must be valid`() throws {
        _ = try store.run("submit --wait 5s --max-wait 1m k v")
        let outcome = try store.run("submit --wait 2m --change-policy k v")
        #expect(outcome.ending == 64)
        #expect(outcome.errors.contains("but must be at least the --wait"), "\(outcome.errors)")
    }

    @Test func `no file is created for a wrong policy`() throws {
        for options in ["--wait 1s --max-batch 2", "--max-wait 1s", "--wait 2s --max-wait 1s", ""] {
            #expect(try store.run("submit \(options) k v").ending != 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: store.path) == [])
        }
    }
}
