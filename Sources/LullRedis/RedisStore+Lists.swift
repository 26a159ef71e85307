internal import LullCore
package import LullDurable

// Lists of keys. Each shard has its own in order, and their pages are merged.

extension RedisStore {
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

    /// The keys of all shards in one order, of which some have been read.
    private struct Pages {
        /// Where a page begins.
        enum Start {
            /// With this key, in the order of their bytes.
            case key([UInt8])
            /// After this number of keys, in the order of the instants at which they wake.
            case rank(Int)
        }

        /// A page of a shard: its rows, and where the next one begins; nil if there is none.
        struct Page {
            let place: ShardPlace
            var start: Start?
            var rows: ArraySlice<(key: [UInt8], stored: StoredRow)> = []
        }

        var pages: [Page]
        let size: Int
        private let isByKey: Bool

        init(of places: [ShardPlace], from start: Start, atMost limit: Int) {
            pages = places.map { Page(place: $0, start: start) }
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

    /// Returns the next key and its row; nil if there is none.
    private func next(
        _ pages: inout Pages, _ prefix: [UInt8] = []
    ) async throws(DurableError) -> (key: [UInt8], stored: StoredRow)? {
        for shard in pages.pages.indices {
            while pages.pages[shard].rows.isEmpty, let start = pages.pages[shard].start {
                try await read(&pages.pages[shard], from: start, prefix, pages.size)
            }
        }
        return pages.popFirst()
    }

    /// Reads a page of a shard.
    private func read(
        _ page: inout Pages.Page, from start: Pages.Start, _ prefix: [UInt8], _ size: Int
    ) async throws(DurableError) {
        var arguments = Command([])
        switch start {
        case .key(let key):
            arguments.add("key")
            arguments.add(Array("[".utf8) + key)
            arguments.add(Self.end(of: prefix))
            arguments.add("0")
        case .rank(let rank): for part in ["wake", "-inf", "(+inf", "\(rank)"] { arguments.add(part) }
        }
        arguments.add("\(size)")
        let reply = try await ask([.script(.page, page.place, arguments)], in: page.place.namespace)[0]
        let keys = reply[0].list ?? []
        page.start = nil
        if keys.count == size, let last = keys.last?.bytes {
            page.start =
                switch start {
                case .key: .key(last + [0])
                case .rank(let rank): .rank(rank + size)
                }
        }
        page.rows = try Self.rows(reply)[...]
    }

    /// Returns the end of the keys with a prefix, as the server takes it.
    private static func end(of prefix: [UInt8]) -> [UInt8] {
        var end = prefix[...]
        while end.last == 0xFF { end.removeLast() }
        guard let last = end.popLast() else { return Array("+".utf8) }
        return Array("(".utf8) + end + [last + 1]
    }
}
