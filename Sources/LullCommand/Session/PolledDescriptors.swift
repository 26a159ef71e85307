internal import CLullCommand

/// The descriptors that a session polls, and the events that `poll` has returned for them.
struct PolledDescriptors {
    /// The indices of the session's own descriptors. Those of running executions follow.
    private enum Index {
        static let signals = 0
        static let alarm = 1
        static let input = 2
        static let output = 3
        static let log = 4
        static let store = 5
        static let executions = 6
    }

    private var entries: [pollfd]

    /// Polls everything that a session waits for.
    ///
    /// - Parameters:
    ///   - input: The descriptor to read, or -1. It is not polled while output or messages wait to be written.
    ///   - store: The descriptor that is readable when a store has changed, or -1.
    init(
        signals: Signals, alarm: Alarm, input: Int32, store: Int32 = -1, _ streams: StandardStreams,
        _ handler: some ExecutionHandler
    ) {
        self.init(
            signals, alarm: alarm.descriptor, input: streams.areEmpty ? input : -1, store: store, streams,
            watchesOutput: handler.writesOutput)
        handler.addInterests(to: &entries, streams)
    }

    /// Polls signals and what is left to write, after the end of everything else.
    init(signals: Signals, _ streams: StandardStreams) {
        self.init(signals, alarm: -1, input: -1, store: -1, streams, watchesOutput: false)
    }

    /// - Parameter watchesOutput: Whether to report that the reader of the output has closed its end.
    private init(
        _ signals: Signals, alarm: Int32, input: Int32, store: Int32, _ streams: StandardStreams, watchesOutput: Bool
    ) {
        let isWriting = !streams.output.isEmpty
        // In the order of the indices.
        entries = [
            pollfd(descriptor: signals.descriptor, Int32(POLLIN)),
            pollfd(descriptor: alarm, Int32(POLLIN)),
            pollfd(descriptor: input, Int32(POLLIN)),
            isWriting
                ? pollfd(descriptor: streams.output.descriptor, Int32(POLLOUT))
                : pollfd(hangUpOf: watchesOutput ? streams.output.descriptor : -1),
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

    var hasSignals: Bool { entries[Index.signals].revents != 0 }
    var alarmIsDue: Bool { entries[Index.alarm].revents != 0 }
    var hasInput: Bool { entries[Index.input].revents != 0 }
    /// The events of the output; 0 for none.
    var outputEvents: Int16 { entries[Index.output].revents }
    var storeHasChanges: Bool { entries[Index.store].revents != 0 }
    var logIsWritable: Bool { entries[Index.log].revents != 0 }
    /// The descriptors of running executions; nil if none of them has events.
    var executionEvents: ArraySlice<pollfd>? {
        let executions = entries[Index.executions...]
        return executions.contains { $0.revents != 0 } ? executions : nil
    }
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
