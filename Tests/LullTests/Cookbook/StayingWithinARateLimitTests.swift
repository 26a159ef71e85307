import Lull
import LullTesting
import Testing

@Suite("Staying within a rate limit")
struct StayingWithinARateLimitTests {
    let clock = ManualClock()

    nonisolated struct Contact: Hashable, Sendable {
        var id: Int
        var name: String
    }

    actor Service {
        private(set) var calls: [String] = []

        func update(_ contact: Contact) { calls.append("\(contact.id) \(contact.name)") }

        func fetch(_ page: Int) { calls.append("page \(page)") }
    }

    final class ContactSync: Sendable {
        private let push: KeyedDebouncer<Int, Contact, Void>

        init(_ service: Service, clock: any Clock<Duration> = ContinuousClock()) {
            push = KeyedDebouncer(
                for: .seconds(2),
                options: .init(maxConcurrent: 5, limit: RateLimit(40, per: .seconds(60), burst: 10)),
                clock: clock
            ) { (_: Int, contact: Contact) in
                await service.update(contact)
            }
        }

        func changed(_ contact: Contact) {
            push.submit(contact, for: contact.id)
        }
    }

    final class Importer: Sendable {
        private let service: Service
        private let limiter: Limiter

        init(_ service: Service, clock: any Clock<Duration> = ContinuousClock()) {
            self.service = service
            limiter = Limiter(RateLimit(40, per: .seconds(60), burst: 10), clock: clock)
        }

        func run(pages: Int) async throws {
            for page in 1...pages {
                try await limiter.acquire()
                await service.fetch(page)
            }
        }
    }

    @Test
    func `a hundred contacts at once are sent ten at once, and then at the rate that the service allows`() async {
        let service = Service()
        let sync = ContactSync(service, clock: clock)
        for id in 1...100 { sync.changed(Contact(id: id, name: "old")) }
        await clock.advance(by: .seconds(2))
        #expect(await service.calls.count == 10)
        sync.changed(Contact(id: 100, name: "new"))
        await clock.advance(by: .seconds(60))
        #expect(await service.calls.count == 40)
        await clock.advance(by: .seconds(120))
        #expect(await service.calls.count == 100)
        #expect(await service.calls.last == "100 new")
    }

    @Test
    func `a bucket sends ten at once, and goes on with all forty a minute`() async {
        let service = Service()
        let push = KeyedDebouncer(
            for: .seconds(2), options: .init(limit: .bucket(40, per: .seconds(60), burst: 10)), clock: clock
        ) { (_: Int, contact: Contact) in
            await service.update(contact)
        }
        for id in 1...100 { push.submit(Contact(id: id, name: "new"), for: id) }
        await clock.advance(by: .seconds(2))
        #expect(await service.calls.count == 10)
        // The fullest minute, up to and without its end.
        await clock.advance(by: .milliseconds(59_999))
        #expect(await service.calls.count == 49)
        await clock.advance(by: .seconds(60))
        #expect(await service.calls.count == 89)
    }

    @Test
    func `an import is slowed down`() async throws {
        let service = Service()
        let importer = Importer(service, clock: clock)
        let run = clock.task { try await importer.run(pages: 20) }
        await clock.advance(by: .seconds(1))
        #expect(await service.calls.count == 10)
        await clock.advance(by: .seconds(20))
        try await run.value
        #expect(await service.calls.last == "page 20")
    }
}
