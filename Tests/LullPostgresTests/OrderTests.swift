import Foundation
import Lull
import LullDurable
import LullPostgres
import TestSupport
import Testing

/// Submits of one key are recorded in the order of their calls: an old value never replaces a newer one.
@Suite("The order of a key's submits", .onServer, .ownThreads)
struct OrderTests {
    private let place = SchemaPlace()

    @Test
    func `is kept while another transaction locks the key and frees it, again and again`() async throws {
        let store = try await PostgresStore(url: try place.url())
        try await store.open("n", DurableRules(.debounce(for: .seconds(3600)), combination: .collect))
        let key = Array("k".utf8)
        _ = try await store.submit(DurableSubmission(namespace: "n", key: key, value: []))
        let isDone = Guarded(false)
        let locks = Guarded(0)
        let others = Thread { [place] in
            guard let sql = try? place.session() else { return }
            while !isDone.value {
                _ = try? sql("BEGIN; SELECT FROM work FOR UPDATE")
                locks.change { $0 += 1 }
                _ = try? sql("COMMIT")
            }
        }
        others.start()
        for _ in 0..<30 {
            let batch = (0..<200).map { number in
                DurableSubmission(namespace: "n", key: key, value: Array("\(number)".utf8))
            }
            let generations = try await store.submit(batch).map { try $0.get().generation }
            #expect(generations == generations.sorted())
        }
        isDone.change { $0 = true }
        #expect(locks.value > 30)
        await store.close()
    }
}
