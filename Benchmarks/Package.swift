// swift-tools-version: 6.2

import PackageDescription

// A separate package, like users' code, so that the benchmarks do not measure what is fast only within one package. The
// calls of stores are not public: for those rows it takes the name of the package that it measures, which is that of
// its folder.
let folder = Context.packageDirectory.split(separator: "/").dropLast().last ?? ""
let measured = String(folder.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
let package = Package(
    name: "LullBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-lull", path: "..")],
    targets: [
        .target(name: "Allocations"),
        .target(name: "UpsertFloor", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "LullBenchmarks",
            dependencies: [
                "Allocations",
                "UpsertFloor",
                .product(name: "Lull", package: "swift-lull"),
                .product(name: "LullDispatch", package: "swift-lull"),
                .product(name: "LullDurable", package: "swift-lull"),
                .product(name: "LullSQLite", package: "swift-lull"),
                .product(name: "LullPostgres", package: "swift-lull"),
                .product(name: "LullRedis", package: "swift-lull"),
            ],
            packageAccess: false,
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .unsafeFlags(["-package-name", measured]),
            ]),
    ]
)
