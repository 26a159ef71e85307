internal import LullCore

// Lists of keys. Each shard has its own in order, and their pages are merged.

/// Where a page of rows begins.
package enum RowStart: Sendable {
    /// With this key, in the order of their bytes.
    case key([UInt8])
    /// After this number of keys, in the order of the instants at which they wake.
    case rank(Int)
}

/// Rows of a shard in an order, and where the next ones begin; nil if there are none.
package struct RowPage: Sendable {
    package var rows: ArraySlice<(key: [UInt8], stored: StoredRow)> = []
    package var next: RowStart?

    package init() {}
}

extension ShardedStore {
    package func list(
        in namespace: String, prefix: [UInt8], from start: [UInt8], limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>] {
        let first = try await meta(of: ShardPlace(namespace, 0))
        var pages = Pages(
            of: try await places(of: namespace), from: .key(start.isEmpty ? prefix : start), atMost: limit)
        var listings: [DurableListing<[UInt8]>] = []
        while listings.count < limit, let (key, stored) = try await next(&pages, prefix) {
            guard stored.row.isListed(at: first.now, by: first.rules) else { continue }
            listings.append(DurableListing(key: key, row: stored.row, rules: first.rules, at: first.now))
        }
        return listings
    }

    package func upcoming(
        in namespace: String, limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>] {
        let first = try await meta(of: ShardPlace(namespace, 0))
        var pages = Pages(of: try await places(of: namespace), from: .rank(0), atMost: limit)
        var listings: [DurableListing<[UInt8]>] = []
        var rest = DurableListing<[UInt8]>.mostRows(for: limit)
        // A key that wakes later than before may be found twice.
        var seen: Set<[UInt8]> = []
        while listings.count < limit, rest > 0, let (key, stored) = try await next(&pages) {
            rest -= 1
            let listing = DurableListing(key: key, row: stored.row, rules: first.rules, at: first.now)
            if listing.hasWork, seen.insert(key).inserted { listings.append(listing) }
        }
        return listings.sortedByChange()
    }

    /// Returns the next key and its row; nil if there is none.
    private func next(
        _ pages: inout Pages, _ prefix: [UInt8] = []
    ) async throws(DurableError) -> (key: [UInt8], stored: StoredRow)? {
        for shard in pages.pages.indices {
            while pages.pages[shard].rows.isEmpty, let start = pages.pages[shard].next {
                pages.pages[shard] = try await page(of: pages.places[shard], from: start, prefix, atMost: pages.size)
            }
        }
        return pages.popFirst()
    }
}

/// The keys of all shards in one order, of which some have been read.
private struct Pages {
    let places: [ShardPlace]
    var pages: [RowPage]
    let size: Int
    private let isByKey: Bool

    init(of places: [ShardPlace], from start: RowStart, atMost limit: Int) {
        self.places = places
        var page = RowPage()
        page.next = start
        pages = Array(repeating: page, count: places.count)
        // A little more than the share of a shard: one page is enough of most.
        size = min(1000, max(0, limit) / max(1, places.count) + 20)
        isByKey = if case .key = start { true } else { false }
    }

    /// Removes and returns the first row. Each shard that has more must have a page.
    mutating func popFirst() -> (key: [UInt8], stored: StoredRow)? {
        var first: Int?
        for (shard, page) in pages.enumerated() {
            guard let row = page.rows.first else { continue }
            if let other = first.flatMap({ pages[$0].rows.first }) {
                let isFirst =
                    isByKey ? row.key.lexicographicallyPrecedes(other.key) : row.stored.wake < other.stored.wake
                if !isFirst { continue }
            }
            first = shard
        }
        return first.flatMap { pages[$0].rows.popFirst() }
    }
}
