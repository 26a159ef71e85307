import LullDurable
import TestSupport
import Testing

@testable import LullRedis

@Suite("Opening a store in Redis", .onRedis, .ownThreads)
struct RedisServerTests {
    private func message(_ url: String, shards: Int? = nil) async -> String {
        do throws(DurableError) {
            let store = try await RedisStore(url: url, shards: shards, timeLimit: .seconds(1))
            await store.close()
            return "opened"
        } catch {
            return "\(error)"
        }
    }

    @Test
    func `refuses a server that is not set up for the durability, and says how to set it up`() async throws {
        let server = try TestRedis(["save ''"])
        let withoutFile = await message(server.url(durability: nil))
        #expect(withoutFile.contains("durability is everysec") && withoutFile.contains("CONFIG SET appendonly yes"))
        #expect(await message(server.url(durability: "memory")) == "opened")
        #expect(await message(server.url(durability: "replicas:1")).contains("has 0 replicas now"))

        try server("CONFIG", "SET", "appendonly", "yes")
        #expect(await message(server.url(durability: nil)) == "opened")
        #expect(await message(server.url(durability: "always")).contains("CONFIG SET appendfsync always"))
        try server("CONFIG", "SET", "appendfsync", "always")
        #expect(await message(server.url(durability: "always")) == "opened")
        #expect(await message(server.url(durability: "everysec")) == "opened")
        try server("CONFIG", "SET", "appendfsync", "no")
        #expect(await message(server.url(durability: "everysec")).contains("appendfsync no"))
        try server("CONFIG", "SET", "appendfsync", "always", "no-appendfsync-on-rewrite", "yes")
        #expect(await message(server.url(durability: "always")).contains("no-appendfsync-on-rewrite no"))
        #expect(await message(server.url(durability: "sometimes")).contains("memory, everysec, always or replicas:N"))
    }

    @Test
    func `refuses a server that removes keys when its memory is full`() async throws {
        let server = try TestRedis(["save ''", "maxmemory 100mb", "maxmemory-policy allkeys-lru"])
        #expect(await message(server.url()).contains("CONFIG SET maxmemory-policy noeviction"))
    }

    @Test
    func `says what a server does when its memory is full, also if that is changed later`() async throws {
        let server = try TestRedis(["save ''", "maxmemory 100mb"])
        let store = try await RedisStore(url: server.url())
        #expect(try await store.health().policy == "noeviction")
        try server("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        #expect(try await store.health().policy == "allkeys-lru")
        await store.close()
    }

    @Test
    func `takes the durability at its word where the server hides its settings, and needs it named`() async throws {
        let server = try TestRedis(["save ''", "rename-command CONFIG ''"])
        #expect(await message(server.url(durability: nil)).contains("hides its settings"))
        #expect(await message(server.url(durability: "always")) == "opened")
    }

    @Test
    func `fails at once with a wrong password, and with a server that is not there`() async throws {
        let server = try TestRedis(["save ''", "requirepass secret"])
        let path = server.folder + "/socket?durability=memory"
        #expect(await message("redis+unix://:secret@\(path)") == "opened")
        #expect(await message("redis+unix://:wrong@\(path)").contains("WRONGPASS"))
        let without = await message("redis+unix://\(path)")
        #expect(without.contains("NOAUTH"), "\(without)")
        #expect(await message("redis+unix:///nowhere/socket").contains("No such file"))
        #expect(await message("redis://127.0.0.1:1").contains("refused"))
        let tls = await message("rediss://127.0.0.1:1")
        #expect(tls.contains("hiredis has no TLS") || tls.contains("refused"), "\(tls)")
        #expect(await message("redis://localhost", shards: 0).contains("1 to 1,024 shards"))
    }
}
