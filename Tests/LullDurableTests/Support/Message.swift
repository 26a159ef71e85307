import Testing

// Exit tests do not exist on the simulators of devices.
#if os(macOS) || os(Linux)
    /// Returns what a program wrote to standard error before it ended.
    func message(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }
#endif
