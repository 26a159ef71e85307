// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "OrderServer",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-lull", path: "../..")],
    targets: [
        .executableTarget(name: "OrderServer", dependencies: [.product(name: "LullPostgres", package: "swift-lull")])
    ]
)
