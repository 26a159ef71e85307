internal import Lull

#if canImport(Testing)
    internal import Testing
#endif

/// Reports to Swift Testing, if a test of it runs and the module has been compiled with that library.
///
/// Where that is not so, for example under XCTest, a warning is a line in standard error, and a failure stops the
/// program.
enum TestReport {
    /// Whether the caller is in a test of Swift Testing.
    static var isInTest: Bool {
        #if canImport(Testing)
            Test.current != nil
        #else
            false
        #endif
    }

    /// Reports what may be wrong at a place in the program, and fails no test.
    static func warn(_ message: String, at site: SourceSite, inTest isInTest: Bool) {
        // Earlier versions know no issue that fails no test.
        #if canImport(Testing) && compiler(>=6.3)
            if isInTest {
                Issue.record("\(message)", severity: .warning, sourceLocation: location(of: site))
                return
            }
        #endif
        writeToStandardError("Lull: \(message)")
    }

    /// Fails the test at a place in it, and goes on; or else stops the program.
    static func fail(_ message: String, at site: SourceSite, inTest isInTest: Bool) {
        #if canImport(Testing)
            if isInTest {
                Issue.record("\(message)", sourceLocation: location(of: site))
                return
            }
        #endif
        refuse(message, at: site)
    }

    #if canImport(Testing)
        private static func location(of site: SourceSite) -> SourceLocation {
            let fileID = "\(site.fileID)"
            // Where the file is, is not known.
            return SourceLocation(fileID: fileID, filePath: fileID, line: Int(site.line), column: 1)
        }
    #endif
}
