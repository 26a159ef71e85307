import Testing

/// Returns what a program wrote to standard error before it ended.
func message(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
}
