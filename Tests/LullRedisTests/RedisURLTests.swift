import LullDurable
import Testing

@testable import LullRedis

@Suite("URLs of Redis servers")
struct RedisURLTests {
    @Test
    func `name a host, a port, a database and credentials`() throws {
        let url = try RedisURL("redis://user:p%40ss:word@example.org:7000/3?durability=always")
        #expect(url.addresses == [.host("example.org", port: 7000)])
        #expect(url.user == "user")
        #expect(url.password == "p@ss:word")
        #expect(url.database == 3)
        #expect(url.durability == .always)
        #expect(!url.usesTLS)
    }

    @Test
    func `have defaults for all but the scheme`() throws {
        let url = try RedisURL("redis://")
        #expect(url.addresses == [.host("127.0.0.1", port: 6379)])
        #expect(url.database == 0 && url.user == nil && url.password == nil && url.durability == nil)
        #expect(try RedisURL("redis://:secret@localhost").password == "secret")
    }

    @Test
    func `name several hosts, addresses of version 6, sockets and TLS`() throws {
        #expect(try RedisURL("redis://a,b:7001").addresses == [.host("a", port: 6379), .host("b", port: 7001)])
        #expect(try RedisURL("redis://[::1]:7001").addresses == [.host("::1", port: 7001)])
        let socket = try RedisURL("redis+unix://:secret@/run/redis%20a.sock?db=2&durability=replicas:2")
        #expect(socket.addresses == [.socket("/run/redis a.sock")])
        #expect(socket.database == 2 && socket.durability == .replicas(2) && socket.password == "secret")
        let tls = try RedisURL("rediss://example.org?cacert=/etc/ca.pem")
        #expect(tls.usesTLS && tls.authorities == "/etc/ca.pem")
    }

    @Test(arguments: [
        ("http://localhost", "redis://USER:PASSWORD@HOST:PORT/DATABASE"),
        ("redis://localhost:port", "the port"),
        ("redis://localhost:70000", "the port"),
        ("redis://localhost/zero", "must be a number, not \"zero\""),
        ("redis://localhost/-1", "must be a number"),
        ("redis://localhost?durable=always", "unknown parameter: durable"),
        ("redis://localhost?durability=often", "not \"often\""),
        ("redis://localhost?durability=replicas:0", "replicas:N"),
        ("redis+unix://localhost/path", "redis+unix:///PATH"),
        ("redis+unix://", "redis+unix:///PATH"),
        ("redis://a%zz@localhost", "a % that no two hexadecimal digits follow"),
        ("redis://a%00@localhost", "%00"),
    ])
    func `that are none say what is wrong`(_ url: String, _ why: String) {
        let error = #expect(throws: DurableError.self) { try RedisURL(url) }
        #expect("\(String(describing: error))".contains(why))
    }

    /// As the servers' documentation gives them.
    @Test
    func `of clusters lead to slots, of the part of a key in braces`() {
        #expect(Slot.of("123456789") == 0x31C3)
        #expect(Slot.of("foo{hash}bar") == Slot.of("hash"))
        #expect(Slot.of("foo{}bar") != Slot.of(""))
        #expect(Slot.of("{lull:n:0}rows") == Slot.of("lull:n:0"))
    }

    @Test
    func `of namespaces with shards lead to the one of a key's CRC-32`() {
        #expect(Shard.of(Array("123456789".utf8), among: 1 << 32) == 0xCBF4_3926)
        #expect(Shard.of(Array("anything".utf8), among: 1) == 0)
    }
}
