import Lull
import LullDurable
import LullPostgres
import LullReference
import TestSupport
import Testing

/// The server ends at once, again and again, while producers submit and a worker works.
///
/// `LULL_CRASHES` sets how often.
@Suite("Crashes of the server", .onServer, .ownThreads)
struct CrashTests {
    @Test
    func `lose nothing that was acknowledged, and every submit is in one range`() async throws {
        let crashes = environment("LULL_CRASHES", default: 2)
        let server = try TestServer()
        try PostgresSchema(url: server.url()).apply()
        let store = try await PostgresStore(url: server.url())
        let load = try await ServerLoad(on: store)
        for _ in 0..<crashes {
            let before = load.count
            try await waitUntil { load.count >= before + 300 }
            server.crash()
            try server.start()
        }
        try await waitUntil { load.count >= 200 }
        await load.end()
        await store.close()

        print("\(crashes) crashes, \(load.count) submits acknowledged, \(load.unanswered) not")
        // The server was never away longer than the time limit.
        #expect(load.unanswered == 0)
        #expect(try load.lost(on: server) == 0)
    }

    /// `LULL_PROMOTIONS` sets how often.
    @Test(.longForm)
    func `after which a replica is promoted lose nothing if it is synchronous`() async throws {
        var acknowledged = 0
        for _ in 0..<environment("LULL_PROMOTIONS", default: 3) {
            let (load, replica) = try await promotion(synchronous: true)
            #expect(load.unanswered == 0)
            #expect(try load.lost(on: replica) == 0)
            acknowledged += load.count
        }
        print("\(acknowledged) submits acknowledged, none lost")
    }

    @Test(.longForm)
    func `after which a replica is promoted that is not synchronous lose the last moments, and repeat no number`()
        async throws
    {
        let (load, replica) = try await promotion(synchronous: false)
        let lost = try load.lost(on: replica)
        print("\(load.count) submits acknowledged, \(lost) lost")
        #expect(lost < load.count / 2)
    }

    /// Lets a server crash under load, promotes its replica, and goes on there.
    private func promotion(synchronous: Bool) async throws -> (ServerLoad, TestServer) {
        let server = try TestServer()
        let replica = try TestServer(replicaOf: server)
        try PostgresSchema(url: server.url()).apply()
        let primary = try SQL(server)
        if synchronous {
            try primary("ALTER SYSTEM SET synchronous_standby_names = '*'")
            try primary("SELECT pg_reload_conf()")
        }
        try await waitUntil {
            try primary.value("SELECT max(sync_state) FROM pg_stat_replication") == (synchronous ? "sync" : "async")
        }
        let store = try await PostgresStore(
            url: "postgres://lull@/postgres?host=\(server.folder),\(replica.folder)")
        let load = try await ServerLoad(on: store)
        try await waitUntil { load.count >= 300 }
        server.crash()
        let before = load.count
        let standby = try SQL(replica)
        if synchronous { try standby("ALTER SYSTEM SET synchronous_standby_names = ''") }
        #expect(try standby.value("SELECT pg_promote()") == "t")
        try await waitUntil { load.count >= before + 300 }
        await load.end()
        await store.close()
        return (load, replica)
    }
}
