internal import CLullCommand

/// The descriptors that a session polls, and the events that `poll` has returned for them.
struct PolledDescriptors {
    /// The session's own descriptors, in their order. Those of running executions follow.
    enum Place: Int, CaseIterable {
        case signals, alarm, input, output, log, store
    }

    var entries: [pollfd]

    /// - Parameters:
    ///   - input: The descriptor to read, or -1. It is not polled while output or messages wait to be written.
    ///   - store: The descriptor that is readable when a store has changed, or -1.
    ///   - watchesOutput: Whether to report that the reader of the output has closed its end.
    init(
        signals: Signals, alarm: Int32 = -1, input: Int32 = -1, store: Int32 = -1, _ streams: StandardStreams,
        watchesOutput: Bool = false
    ) {
        entries = [
            pollfd(descriptor: signals.descriptor, Int32(POLLIN)),
            pollfd(descriptor: alarm, Int32(POLLIN)),
            pollfd(descriptor: streams.areEmpty ? input : -1, Int32(POLLIN)),
            streams.output.isEmpty
                ? pollfd(hangUpOf: watchesOutput ? streams.output.descriptor : -1)
                : pollfd(descriptor: streams.output.descriptor, Int32(POLLOUT)),
            pollfd(descriptor: streams.log.isEmpty ? -1 : streams.log.descriptor, Int32(POLLOUT)),
            pollfd(descriptor: store, Int32(POLLIN)),
        ]
    }

    /// Waits for events.
    ///
    /// - Parameter timeout: In milliseconds; -1 for none.
    /// - Returns: False if a signal has interrupted the wait.
    mutating func wait(timeout: Int32) -> Bool {
        poll(&entries, nfds_t(entries.count), timeout) >= 0
    }

    /// Returns the events of one of the session's own descriptors; 0 for none.
    func events(_ place: Place) -> Int16 { entries[place.rawValue].revents }

    func has(_ place: Place) -> Bool { events(place) != 0 }

    /// The descriptors of running executions.
    var executions: ArraySlice<pollfd> { entries[Place.allCases.count...] }
}

extension pollfd {
    /// Creates an entry that polls a descriptor for events.
    init(descriptor: Int32, _ events: Int32) {
        self.init(fd: descriptor, events: Int16(events), revents: 0)
    }

    /// Creates an entry that only reports that the reader of a descriptor has gone.
    ///
    /// Linux reports that of every descriptor, whatever is asked for. Apple's systems do so only if it is asked for, and then they also
    /// wake up for what could be read: on a terminal, always, when somebody has typed. So they are asked for pipes only, whose
    /// writing ends have nothing to read.
    init(hangUpOf descriptor: Int32) {
        #if canImport(Darwin)
            let isWatched = lull_is_pipe(descriptor) != 0
        #else
            let isWatched = true
        #endif
        self.init(descriptor: isWatched ? descriptor : -1, Int32(POLLHUP))
    }
}
