package import LullCore

// The rows that a table has loaded, as steps see them.

extension LoadedTable: DurableTable {
    package var sequence: Int64 {
        get { nextFence - 1 }
        set {
            // A step takes the next number by adding 1; the one after that is as far away as the shards are many.
            guard newValue == nextFence else { return }
            if fencesLeft == 0 { missing.fences = 2 * fencesReserved + 16 }
            fencesLeft -= 1
            nextFence += fenceStep
        }
    }

    package mutating func find(_ key: [UInt8], in namespace: DurableNamespace) throws(DurableError) -> DurableEntry? {
        guard let known = known(key) else {
            missing.keys.insert(key)
            throw Self.isMissing
        }
        return known.entry
    }

    package mutating func insert(
        _ row: DurableRow, wake: CoreInstant, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) {
        // The next one is born later, so that the order of births is known.
        base = max(base, row.born + 1)
        let places = ValuePlaces(next: row.born + 1)
        write(StoredRow(row: row, wake: wake, latest: instant, places: places), of: key, from: nil)
    }

    package mutating func update(
        _ new: DurableEntry, from old: DurableEntry, in namespace: DurableNamespace
    ) throws(DurableError) {
        guard let before = known(old.key)?.after else { return }
        write(
            StoredRow(row: new.row, wake: new.wake, latest: instant, places: before.places), of: old.key, from: before)
    }

    package mutating func delete(_ entry: DurableEntry, in namespace: DurableNamespace) throws(DurableError) {
        guard let known = known(entry.key) else { return }
        let generation = known.after?.row.generation ?? .min
        known.deletedGeneration = max(known.deletedGeneration ?? .min, generation)
        // The key may come again in this step.
        base = max(base, generation)
        known.after = nil
    }

    /// Replaces a row, and finds places for its values: those that the caller gives are new.
    private mutating func write(_ new: StoredRow, of key: [UInt8], from old: StoredRow?) {
        guard let known = known(key) else { return }
        var new = new
        // In the order of their submits.
        if let batch = new.row.run?.value.batch { settle(batch, in: .run, of: &new, known, from: old) }
        if let batch = new.row.ready?.batch { settle(batch, in: .ready, of: &new, known, from: old) }
        if let batch = new.row.pending?.batch { settle(batch, in: .pending, of: &new, known, from: old) }
        if let run = new.row.run, let ready = new.row.ready, run.value.batch == ready.batch {
            // What was ready has been divided.
            new.places.ready = new.places.run + valueCount(of: run.value)
        }
        // Values that are collected stay next to each other when what was pending is dropped behind what is ready.
        if collects, let old, old.row.pending != nil,
            !SlotRanges(new, true).all.contains(where: { $0.upperBound > old.places.pending })
        {
            new.places.next = min(new.places.next, old.places.pending)
        }
        if new.row.pending != nil { new.row.pending?.batch = Batch(.stored(.pending)) }
        if new.row.ready != nil { new.row.ready?.batch = Batch(.stored(.ready)) }
        if new.row.run != nil { new.row.run?.value.batch = Batch(.stored(.run)) }
        known.after = new
        known.retried = nil
    }

    /// Finds places for the values of a part of a row.
    private func settle(
        _ batch: Batch<DurablePayload>, in slot: DurablePayload.Slot, of new: inout StoredRow, _ known: LoadedKey,
        from old: StoredRow?
    ) {
        func place(_ slot: DurablePayload.Slot) -> Int64 {
            if slot == .run, old?.row.run == nil, let retried = known.retried { return retried.place }
            return old?.places[slot] ?? 0
        }
        // A newer value takes the number of the one that it replaces.
        let replaces =
            !collects && slot == .pending && old?.row.pending != nil
            && new.row.ready?.batch.value != .stored(.pending) && new.row.run?.value.batch.value != .stored(.pending)
        var first: Int64?
        func settle(_ payload: DurablePayload) {
            switch payload {
            case .stored(let other): first = first ?? place(other)
            case .bytes(let value, let generation):
                let number = replaces ? place(.pending) : new.places.next
                if !replaces { new.places.next += 1 }
                known.store(value, of: generation, at: number, collects: collects)
                first = first ?? number
            }
        }
        for payload in batch.earlier { settle(payload) }
        settle(batch.value)
        new.places[slot] = first ?? 0
    }

    // MARK: - Many rows

    package mutating func earliest(
        in namespace: DurableNamespace, through now: CoreInstant, limit: Int
    ) throws(DurableError) -> [DurableEntry] {
        let isComplete = nextUnloaded > now
        let found = entries { $0.wake <= now && (isComplete || $0.wake <= nextUnloaded) }
        if found.count < limit, !isComplete {
            missing.due += limit - found.count
            throw Self.isMissing
        }
        return Array(found.sorted { ($0.wake, $0.row.born) < ($1.wake, $1.row.born) }.prefix(limit))
    }

    package mutating func nextWake(in namespace: DurableNamespace, besides claim: DurableClaim?) -> CoreInstant? {
        let next = entries { claim?.isHanging($0.row.run) != true }.reduce(nextUnloaded) { min($0, $1.wake) }
        return next < .farFuture ? next : nil
    }

    package mutating func held(
        by owner: Int64, in namespace: DurableNamespace
    ) throws(DurableError) -> [DurableEntry] {
        guard holders.contains(owner) else {
            missing.holders.insert(owner)
            throw Self.isMissing
        }
        return entries { $0.row.run.map { !$0.isInBackoff && $0.owner == owner } ?? false }
    }

    package mutating func leases(
        in namespace: DurableNamespace
    ) throws(DurableError) -> [(place: [UInt8], until: CoreInstant)] {
        guard leaseCount != nil else {
            missing.needsLeases = true
            throw Self.isMissing
        }
        return entries { $0.row.run.map { !$0.isInBackoff } ?? false }.map {
            ($0.key, $0.row.run?.state.end ?? .farPast)
        }
    }

    package mutating func places(
        matching selection: DurableSelection, in namespace: DurableNamespace
    ) -> [[UInt8]] { selected.map { [$0] } ?? [] }

    package mutating func entry(
        at place: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> DurableEntry? { try find(place, in: namespace) }

    package mutating func keys(submittedBy submitter: Int64, in namespace: DurableNamespace) -> [[UInt8]] {
        selected.map { [$0] } ?? []
    }

    /// The rows that satisfy a condition, in the order in which they were loaded.
    private func entries(where isIncluded: (DurableEntry) -> Bool) -> [DurableEntry] {
        order.compactMap(\.entry).filter(isIncluded)
    }

    // MARK: - Values

    /// Returns nothing: who claims asks the server for them, when the claim has been written.
    package mutating func values(ofRunIn entry: DurableEntry, in namespace: DurableNamespace) -> [[UInt8]] { [] }

    package mutating func generation(
        ofValue index: Int, in ready: DurableRow.Ready, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> Int64? {
        guard let known = known(key), let row = known.after else { return nil }
        let first = if case .stored(let slot) = ready.batch.values[0] { row.places[slot] } else { row.places.ready }
        let number = first + Int64(index)
        if let bytes = known.values.first(where: { $0.number == number })?.bytes {
            return bytes.prefix(8).reduce(0) { $0 << 8 | Int64($1) }
        }
        let id = SubmitID(key: key, number: number)
        guard let origin = origins[id] else {
            missing.values.insert(id)
            throw Self.isMissing
        }
        return origin
    }

    /// Does nothing: what the row does not need any more is not kept.
    package mutating func dropValues(
        of submits: ClosedRange<Int64>, of key: [UInt8], in namespace: DurableNamespace
    ) {}

    // MARK: - Limits, which the store counts over all shards

    package mutating func arrival(in namespace: DurableNamespace) -> CoreInstant { .farPast }
    package mutating func setArrival(_ arrival: CoreInstant, in namespace: DurableNamespace) {}
}
