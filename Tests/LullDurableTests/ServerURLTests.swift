import LullDurable
import Testing

@Suite struct ServerURLTests {
    @Test(
        arguments: [
            ("postgres://app@db/shop", "postgres://app@db/shop"),
            ("postgres://app:secret@db:5433/shop", "postgres://app@db:5433/shop"),
            ("postgresql://app:s%40:x@a,b/shop?schema=q", "postgresql://app@a,b/shop?schema=q"),
            ("postgres:///shop?host=/run&password=secret", "postgres:///shop?host=/run"),
            ("rediss://app:secret@a,b:7000/2", "rediss://app@a,b:7000/2"),
            ("redis+unix://:secret@/run/redis?db=1", "redis+unix:///run/redis?db=1"),
            ("postgres://db/shop?password=secret", "postgres://db/shop"), ("sqlite:hooks.db", "sqlite:hooks.db"),
            ("sqlite:/a:b@c.db", "sqlite:/a:b@c.db"), ("postgre://app:secret@db/shop", "postgre://app@db/shop"),
            ("postgres://app:s/e?c@db:1/shop?schema=q", "postgres://app@db:1/shop?schema=q"),
            ("redis://app:secret@db?cacert=/a@b", "redis://app@db?cacert=/a@b"),
            ("redis://db:6379/0?cacert=/a@b", "redis://db:6379/0?cacert=/a@b"), ("app:secret@db", "app@db"),
            ("host=db password=secret", "host=db password=…"),
        ])
    func `a password is not shown`(_ url: String, _ shown: String) {
        #expect(ServerURL.withoutPassword(url) == shown)
    }

    @Test(arguments: [
        "postgres://app:a/b@db/shop", "postgres://app:a@b@db/shop", "redis://app:a?b@db", "redis://app:a@b/c@db/0",
        "redis+unix://:a/b@/run/redis",
    ])
    func `a password without its escapes is refused`(_ url: String) {
        let error = #expect(throws: DurableError.self) { try ServerURL.checkCredentials(url) }
        #expect(error?.description.contains("%40 %2F %3F") == true)
    }

    @Test(arguments: [
        "postgres://app:a%2Fb@db:1,db:2/shop?application_name=me@host", "redis://:a:b@db/0", "redis://",
        "postgres:///shop",
    ])
    func `other URLs are accepted`(_ url: String) throws { try ServerURL.checkCredentials(url) }
}
