// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "swift-lull",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "LullEmbedded", targets: ["LullEmbedded"]),
        .library(name: "Lull", targets: ["Lull"]),
        .library(name: "LullDispatch", targets: ["LullDispatch"]),
        .library(name: "LullDurable", targets: ["LullDurable"]),
        .library(name: "LullSQLite", targets: ["LullSQLite"]),
        .library(name: "LullPostgres", targets: ["LullPostgres"]),
        .library(name: "LullRedis", targets: ["LullRedis"]),
        .library(name: "LullTesting", targets: ["LullTesting"]),
        .library(name: "LullInspection", targets: ["LullInspection"]),
        .executable(name: "lull", targets: ["LullCommand"]),
    ],
    targets: [
        .target(name: "LullCore", swiftSettings: settings),
        .target(name: "LullEngine", dependencies: ["LullCore"], swiftSettings: settings),
        .target(name: "LullEmbedded", dependencies: ["LullCore"], swiftSettings: settings),
        .target(name: "CLullSystem"),
        .target(name: "Lull", dependencies: ["LullCore", "CLullSystem"], swiftSettings: settings),
        .target(name: "LullDispatch", dependencies: ["Lull"], swiftSettings: settings),
        .target(name: "LullDurable", dependencies: ["Lull", "CLullSystem"], swiftSettings: settings),
        // Without `pkgConfig`: the module map names the library, and pkg-config could give a build for iOS the paths of
        // macOS.
        .systemLibrary(name: "CLullSQLite"),
        .target(
            name: "LullSQLite", dependencies: ["LullDurable", "CLullSQLite", "CLullSystem"], swiftSettings: settings),
        .target(name: "CLullPostgres", exclude: ["Schema"]),
        .target(name: "LullPostgres", dependencies: ["LullDurable", "CLullPostgres"], swiftSettings: settings),
        .target(name: "CLullRedis", exclude: ["Scripts"]),
        .target(name: "LullRedis", dependencies: ["LullDurable", "CLullRedis"], swiftSettings: settings),
        .target(name: "CLullHTTP", dependencies: ["CLullSystem"]),
        .target(name: "LullHTTP", dependencies: ["Lull", "CLullHTTP"], swiftSettings: settings),
        .target(name: "LullTesting", dependencies: ["Lull"], swiftSettings: settings),
        .target(name: "LullInspection", dependencies: ["Lull", "LullCore", "CLullSystem"], swiftSettings: settings),
        .target(name: "LullCharts", swiftSettings: settings),
        .target(name: "LullTuning", dependencies: ["LullCore"], swiftSettings: settings),
        .executableTarget(
            name: "LullCommand",
            dependencies: [
                "Lull", "LullCore", "LullEngine", "LullCharts", "LullDurable", "LullSQLite", "LullPostgres",
                "LullRedis", "LullHTTP", "LullInspection", "LullTuning", "CLullSystem", "CLullSQLite", "CLullPostgres",
                "CLullRedis",
            ],
            swiftSettings: settings),
        .target(
            name: "LullReference", path: "Tests/LullReference", exclude: ["README.md"],
            resources: [.copy("scenarios.json"), .copy("spacing.json")], swiftSettings: settings),
        .target(
            name: "TestSupport", dependencies: ["Lull", "LullDurable"], path: "Tests/Support", swiftSettings: settings),
        .testTarget(
            name: "LullCoreTests",
            dependencies: ["LullCore", "LullEngine", "LullEmbedded", "LullReference", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "LullTests",
            dependencies: ["Lull", "LullEngine", "LullDispatch", "LullTesting", "LullReference", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "LullDispatchTests", dependencies: ["LullDispatch", "LullTesting", "TestSupport"],
            swiftSettings: settings),
        .testTarget(name: "LullChartsTests", dependencies: ["LullCharts"], swiftSettings: settings),
        .target(
            name: "DurableConformance", dependencies: ["Lull", "LullDurable", "LullReference", "TestSupport"],
            path: "Tests/DurableConformance", swiftSettings: settings),
        .executableTarget(
            name: "DurableChild",
            dependencies: ["LullSQLite", "LullPostgres", "CLullPostgres", "LullRedis", "CLullRedis"],
            path: "Tests/DurableChild", swiftSettings: settings),
        .executableTarget(
            name: "InspectionChild", dependencies: ["Lull", "LullInspection"], path: "Tests/InspectionChild",
            swiftSettings: settings),
        .testTarget(
            name: "LullInspectionTests",
            dependencies: [
                "LullInspection", "Lull", "LullTesting", "CLullSystem", "InspectionChild", "DurableChild",
                "TestSupport",
            ],
            swiftSettings: settings),
        .target(name: "FaultVFS", dependencies: ["CLullSQLite"], path: "Tests/FaultVFS"),
        .testTarget(
            name: "LullSQLiteTests",
            dependencies: [
                "LullSQLite", "LullTesting", "CLullSQLite", "FaultVFS", "LullReference", "DurableConformance",
                "DurableChild",
                "TestSupport",
            ], swiftSettings: settings),
        .testTarget(
            name: "LullDurableTests",
            dependencies: [
                "LullDurable", "LullSQLite", "LullTesting", "LullReference", "DurableConformance", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "LullPostgresTests",
            dependencies: [
                "LullPostgres", "CLullPostgres", "LullTesting", "LullReference", "DurableConformance", "DurableChild",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "LullRedisTests",
            dependencies: [
                "LullRedis", "CLullRedis", "LullTesting", "LullReference", "DurableConformance", "DurableChild",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "LullCommandTests",
            dependencies: [
                "LullCommand", "LullCore", "LullHTTP", "LullInspection", "LullTuning", "CLullSystem", "CLullSQLite",
                "InspectionChild", "TestSupport",
            ],
            swiftSettings: settings),
    ]
)

// Only these tests are built, where not all are needed: LULL_TESTS=LullTests,LullCoreTests.
if let chosen = Context.environment["LULL_TESTS"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll { $0.type == .test && !chosen.contains($0.name) }
}
