// swift-tools-version: 6.2
import PackageDescription

// The lines of Yap beside GRDB: docs/design/GRDB.md. A package of its own, so that the main one needs no other package.

/// A checkout of GRDB, or else its repository.
let checkout = Context.environment["GRDB_PATH"]
let release: Version = "7.11.1"
let grdb: Package.Dependency =
    if let checkout {
        .package(name: "GRDB.swift", path: checkout)
    } else {
        .package(url: "https://github.com/groue/GRDB.swift.git", exact: release)
    }

let package = Package(
    name: "GRDBBenchmarks",
    dependencies: [.package(name: "Yap", path: "../.."), grdb],
    targets: [
        .executableTarget(
            name: "GRDBBenchmarks",
            dependencies: [
                .product(name: "Yap", package: "Yap"), .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
