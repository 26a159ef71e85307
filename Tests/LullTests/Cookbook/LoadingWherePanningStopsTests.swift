import Lull
import LullTesting
import Testing

@Suite("Loading where panning stops")
@MainActor
struct LoadingWherePanningStopsTests {
    let clock = ManualClock()

    actor TileServer {
        private(set) var asked: [Int] = []
        private let clock: ManualClock

        init(clock: ManualClock) { self.clock = clock }

        func tiles(for region: Int) async throws -> [String] {
            asked.append(region)
            try await clock.sleep(for: .seconds(1))
            return ["tile \(region)"]
        }
    }

    @MainActor
    final class MapModel {
        private(set) var tiles: [String] = []
        private let server: TileServer
        private let clock: any Clock<Duration>

        private lazy var load = Debouncer(for: .milliseconds(250), whileRunning: .cancelRunning, clock: clock) {
            @MainActor [weak self] (region: Int) in
            guard let self else { return }
            tiles = try await server.tiles(for: region)
        }

        init(server: TileServer, clock: any Clock<Duration> = ContinuousClock()) {
            self.server = server
            self.clock = clock
        }

        func panningBegan() {
            load.cancel(includingRunning: true)
        }

        func panned(to region: Int) {
            load(region)
        }
    }

    @Test
    func `tiles are loaded where panning stops for good`() async {
        let server = TileServer(clock: clock)
        let map = MapModel(server: server, clock: clock)
        map.panningBegan()
        map.panned(to: 1)
        await clock.advance(by: .milliseconds(200))  // held for a moment
        map.panned(to: 2)
        await clock.advance(by: .milliseconds(500))  // stopped: tiles are being loaded
        map.panningBegan()  // taken up again
        map.panned(to: 3)
        await clock.advance(by: .seconds(10))
        #expect(map.tiles == ["tile 3"])
        #expect(await server.asked == [2, 3])
        #expect(map.counters.cancelled == 1)
        #expect(map.counters.failed == 0)
    }

    @Test
    func `panning that begins unnoticed ends the old request when the next place is due`() async {
        let server = TileServer(clock: clock)
        let map = MapModel(server: server, clock: clock)
        map.panned(to: 1)
        await clock.advance(by: .milliseconds(500))
        map.panned(to: 2)
        await clock.advance(by: .seconds(10))
        #expect(map.tiles == ["tile 2"])
        #expect(await server.asked == [1, 2])
        #expect(map.counters.superseded == 1)
    }

    @Test
    func `a map that is touched and held loads nothing`() async {
        let server = TileServer(clock: clock)
        let map = MapModel(server: server, clock: clock)
        map.panned(to: 1)
        await clock.advance(by: .milliseconds(249))
        map.panningBegan()
        await clock.advance(by: .seconds(10))
        #expect(await server.asked == [])
    }
}

extension LoadingWherePanningStopsTests.MapModel {
    fileprivate var counters: Counters { load.counters }
}
