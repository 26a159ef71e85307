import TestSupport
import Testing

@Suite("lull touch", .ownThreads)
struct StoreTouchTests {
    private let store: TestStore

    init() throws {
        store = try TestStore()
    }

    @Test
    func `postpones what is pending under the given keys, and nothing else`() throws {
        _ = try store.run("submit --wait 1h a 1")
        let touched = try store.run("touch a --after 5h")
        #expect(touched.ending == 0 && touched.output == "touched 1 key\n")
        let listed = try store.run("list").lines
        #expect(listed.last?.contains("5h") == true || listed.last?.contains("4h") == true, "\(listed)")
    }

    @Test
    func `says which key had no burst under way, and touches the others`() throws {
        _ = try store.run("submit --wait 1h a 1")
        let touched = try store.run("touch b a --json")
        #expect(touched.ending == 1)
        #expect(touched.output == "{\"touched\":1}\n")
        #expect(touched.errors == "lull: the key b has nothing to touch\n")
    }

    @Test
    func `needs a key`() throws {
        let outcome = try store.run("touch")
        #expect(outcome.ending == 64)
        #expect(outcome.errors == "lull: KEY is missing (see lull touch --help)\n")
    }
}
