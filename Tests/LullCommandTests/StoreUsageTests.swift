import CLullCommand
import Foundation
import TestSupport
import Testing

/// Options that exclude each other, and files that are no store.
@Suite("Usage of a store", .ownThreads)
struct StoreUsageTests {
    private let store: TestStore

    init() throws {
        store = try TestStore()
    }

    @Test(arguments: [
        ("submit k v", 64, "the namespace default does not exist yet: its first use must give the policy"),
        ("filter --key-field 1", 64, "the namespace default does not exist yet: its first use must give the policy"),
        ("submit --edges leading k v", 64, "a new namespace needs --wait or --throttle"),
        ("submit --max-batch 2 k v", 64, "a new namespace needs --wait or --throttle"),
        ("submit --wait 1s", 64, "KEY is missing"),
        ("work --jobs 1", 64, "COMMAND is missing"),
        ("dead", 64, "the action is missing: list, retry or discard"),
        ("dead retry", 64, "RUN is missing: give the numbers that lull dead list shows, or --all (see"),
        ("dead retry x", 64, "RUN must be a number, not \"x\""),
        ("filter --wait 1s --max-keys 3", 64, "--max-keys has no meaning with --store"),
        ("run --wait 1s --while-running skip -- true", 64, "--while-running must be queue or restart with --store"),
        ("status --format json", 64, "--format must be openmetrics, not \"json\"; for objects use --json"),
        ("status --watch --format openmetrics", 64, "--watch shows a table, or objects with --json"),
        ("submit --change-policy k v", 64, "--change-policy needs the new policy"),
        ("list --format jsonl", 64, "lull list has no option --format; use --json"),
        ("status k", 64, "unexpected argument k"),
        ("run --wait 1s --lease 1ms -- true", 64, "--lease must be at least 1s, not 1ms"),
    ])
    func `wrong usage is explained`(arguments: String, status: Int32, message: String) throws {
        // An existing store without the namespace.
        _ = try store.run("submit --namespace other --wait 1s k v")
        let outcome = try store.run(arguments)
        #expect(outcome.ending == status)
        #expect(outcome.errorLines.count == 1)
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    /// A key of the same length for every store, in the form of messages for one submit and for records that are
    /// skipped.
    @Test func `a key that is too long is refused`() throws {
        let key = String(repeating: "k", count: 1025)
        let submit = try store.run("submit --wait 1h \(key) v")
        #expect(submit.ending == 65)
        #expect(submit.errors == "lull: the key has 1025 bytes, but 1024 are the most that is taken\n")
        let filter = try store.run(
            "filter --key-field 1 --at-end flush", input: "a 1\n\(key) 2\nb 3\n")
        #expect(filter.ending == 65)
        #expect(filter.lines == ["a 1", "b 3"])
        #expect(filter.errors.contains("line 2"), "\(filter.errors)")
    }

    /// Whatever is mistyped, its scheme, its option or a character of the password.
    @Test(arguments: [
        "status --store postgre://app:secret@db/shop", "status --store postgres:app:secret@db/shop",
        "status --store app:secret@db/shop", "status --store host=db password=secret",
        "status --store sqlite:postgres://app:secret@db/shop", "status postgres://app:secret@db/shop",
        "status --stroe=postgres://app:secret@db/shop", "--stroe=postgres://app:secret@db/shop",
        "postgres://app:secret@db/shop", "run --wait 1s -- postgres://app:secret@db/shop",
        "status --store redis://app:more/secret@db/0", "status --store redis://app:more@secret@db:6379",
        "status --store redis://app:more?secret@db:6379", "status --store redis://app:secret%zz@db",
        "status --store redis://app:secret/0", "status --store postgres://app:more/secret@db/shop",
        "status --store postgres://app:more@secret@db/shop", "status --store postgres://app:secret/shop",
        "status --store postgres://app:more?secret@db/shop", "status --store postgres://app:more%secret@db/shop",
    ])
    func `no message shows a password`(_ arguments: String) throws {
        let outcome = try lull(arguments.split(separator: " ").map(String.init), input: [])
        #expect(outcome.ending != 0)
        #expect(outcome.errors.hasPrefix("lull: "))
        #expect(!outcome.errors.contains("secret"), "\(outcome.errors)")
    }

    /// Without a store they would look as if pending values survived.
    @Test(arguments: [
        "--namespace n", "--lease 3s", "--attempts 3", "--change-policy", "--at-end keep",
    ])
    func `options that need a store are refused without one`(_ option: String) throws {
        for command in ["filter", "run"] {
            let options = "\(command) --wait 1s \(option)".split(separator: " ").map(String.init)
            let outcome = try lull(options + (command == "run" ? ["--", "true"] : []), input: [])
            #expect(outcome.ending == 64)
            let name = option == "--at-end keep" ? option : String(option.prefix { $0 != " " })
            #expect(outcome.errors == "lull: \(name) needs --store (see lull \(command) --help)\n")
        }
        #expect(try lull("simulate", "--wait", "1s", "--at-end", "keep", "-").ending == 64)
    }

    @Test func `a file that is no store is not changed`() throws {
        let file = try TemporaryFile("not a database, but long enough to be looked at as one\n")
        for (store, message) in [
            ("sqlite:\(file.path)", "is not a database of SQLite"),
            ("sqlite:/nowhere/store.db", "there is no directory"),
        ] {
            let outcome = try lull(["submit", "--store", store, "--wait", "1s", "k", "v"], input: [])
            #expect(outcome.ending == 74)
            #expect(outcome.errorLines.count == 1)
            #expect(outcome.errors.contains(message), "\(outcome.errors)")
        }
        #expect(file.text.hasPrefix("not a database"))
        for store in ["store.db", "sqlite:", "postgres:x"] {
            #expect(try lull(["status", "--store", store], input: []).ending == 64)
        }
        #expect(try lull(["status", "--store", "sqlite:\(file.path)-not-there"], input: []).ending == 74)
    }
}
