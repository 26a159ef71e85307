#if os(Linux)
    import Foundation
    import Testing

    private let compiler: String? = {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return path.map { $0 + "/clang" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    /// The command under libraries that intercept the system's calls, as fakechroot and libfaketime do.
    @Suite("lull under a preloaded library", .enabled(if: compiler != nil, "there is no clang"))
    struct PreloadedTests {
        /// Moves the environment away from the arguments before Swift looks for them, and hides where the stack is.
        private static let source = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            extern char **environ;
            FILE *fopen(const char *path, const char *mode) {
                if (strcmp(path, "/proc/self/maps"))
                    return ((FILE *(*)(const char *, const char *))dlsym(RTLD_NEXT, "fopen"))(path, mode);
                size_t count = 0;
                while (environ[count]) count++;
                environ = memcpy(calloc(count + 1, sizeof(char *)), environ, count * sizeof(char *));
                return NULL;
            }
            """

        @Test func `the arguments are those that the system has passed`() throws {
            let (source, library) = (try TemporaryFile(Self.source), try TemporaryFile())
            let compiling = try ToolProcess(
                ["-shared", "-fPIC", "-w", "-o", library.path, "-x", "c", source.path, "-ldl"],
                program: compiler)
            #expect(try compiling.finish().ending == 0)
            let outcome = try lull(
                "filter", "--wait", "1h", "--format", "jsonl", "--key-field", "1", input: "a\n",
                environment: ["LD_PRELOAD": library.path])
            #expect(outcome.ending == 0, "\(outcome.errors)")
            #expect(outcome.output.contains(#""key":"a""#))
        }
    }
#endif
