// swift-tools-version: 6.2
import PackageDescription

// The rooms and which may import which: docs/ARCHITECTURE.md. System libraries are listed in
// system-packages.txt, which `make setup` installs; there are no outside Swift packages.

/// The library that is SQLite, by its name in pkg-config: `YAP_SQLITE=sqlcipher` takes one that encrypts
/// (docs/guide/ENCRYPTION.md).
let sqlite = Context.environment["YAP_SQLITE"] ?? "sqlite3"

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func room(_ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
}

/// In the optimized build (Scripts/flags) only what the tests test is optimized: it is what they compute with, and
/// their own code would take minutes longer to build.
let notOptimized = SwiftSetting.unsafeFlags(["-Onone"], .when(configuration: .release))

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, resources: resources,
        swiftSettings: settings + [notOptimized])
}

/// Tests that are written as an app is: without the package's own symbols, in either language mode, and free to call
/// what is deprecated. That stays a warning also where `-warnings-as-errors` is on the command line, which is read
/// after the settings; what is handed to the frontend is read after both.
func appTests(
    _ name: String, _ dependencies: [Target.Dependency], mode: SwiftLanguageMode,
    frontendFlags: [String] = ["-Wwarning", "DeprecatedDeclaration"]
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, packageAccess: false,
        swiftSettings: [
            .swiftLanguageMode(mode), .unsafeFlags(frontendFlags.flatMap { ["-Xfrontend", $0] }),
            notOptimized,
        ])
}

let package = Package(
    name: "Yap",
    products: [
        .library(name: "Yap", targets: ["Yap"]),
        .library(name: "YapCloudKit", targets: ["YapCloudKit"]),
        .library(name: "CloudKit", targets: ["CloudKit"]),
        .library(name: "CoreLocation", targets: ["CoreLocation"]),
        .library(name: "CloudKitTesting", targets: ["CloudKitTesting"]),
        .library(name: "CloudService", targets: ["CloudService"]),
        .library(name: "CloudKitAdditions", targets: ["CloudKitAdditions"]),
        .library(name: "CloudServer", targets: ["CloudServer"]),
        .library(name: "HTTPServer", targets: ["HTTPServer"]),
        .executable(name: "yap", targets: ["YapCommand"]),
        .executable(name: "todo", targets: ["TodoCommand"]),
        .executable(name: "notes", targets: ["NotesCommand"]),
    ],
    targets: [
        // 0: system libraries, and what is injected everywhere
        .systemLibrary(name: "CSQLite", pkgConfig: sqlite),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl"),
        .systemLibrary(name: "CLinux"),
        .target(name: "COpenSSLExit", linkerSettings: [.linkedLibrary("crypto")]),
        room("System"),
        // The dashboard's page: its files lie in the binary.
        .target(
            name: "DashboardPage",
            exclude: [
                "css", "js", "index.html", "root.html", "device.html", "icons.svg", "land.svg", "mark.svg",
            ]),

        // 1
        room("SQLite", ["CSQLite", "System"]),
        room("CloudWire", ["System"]),
        room("CoreLocation"),
        room("Crypto", ["COpenSSL", "COpenSSLExit", "System"]),
        room("HTTPClient", ["CCurl", "COpenSSLExit", "System"]),
        room("HTTPServer", ["CLinux", "COpenSSL", "COpenSSLExit", "System"]),

        // 2
        room("CloudStore", ["SQLite", "Crypto", "System"]),
        .target(name: "CArchiveNames"),
        room("CloudKit", ["CArchiveNames", "CloudWire", "CoreLocation", "Crypto", "HTTPClient", "System"]),
        room("Yap", ["SQLite", "System"]),

        // 3
        room("CloudService", ["CloudStore", "CloudWire", "Crypto", "System"]),
        room("CloudKitAdditions", ["CloudKit", "CloudWire", "System"]),
        room("YapCloudKit", ["Yap", "CloudKit", "CloudWire", "CoreLocation", "Crypto", "SQLite", "System"]),

        // 4
        room(
            "CloudKitTesting",
            ["CloudKit", "CloudServer", "CloudService", "CloudStore", "CloudWire", "HTTPServer", "System"]),

        room(
            "CloudServer",
            [
                "CloudService", "CloudStore", "CloudWire", "Crypto", "DashboardPage", "HTTPClient",
                "HTTPServer", "SQLite", "System",
            ]),

        // 5
        .executableTarget(
            name: "YapCommand",
            dependencies: [
                "CLinux", "CloudServer", "CloudService", "CloudStore", "CloudWire", "Crypto", "HTTPClient",
                "HTTPServer", "CloudKit", "CloudKitAdditions", "SQLite", "System", "Yap", "YapCloudKit",
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "TodoCommand",
            dependencies: [
                "TodoKit", "Yap", "YapCloudKit", "CloudKit", "CloudKitAdditions", "HTTPClient", "System",
            ],
            path: "Examples/Todo/TodoCommand", swiftSettings: settings),
        room("TodoKit", ["Yap", "YapCloudKit", "CloudKit", "System"], path: "Examples/Todo/TodoKit"),
        .executableTarget(
            name: "TodoDemo",
            dependencies: [
                "TodoKit", "FaultProxy", "ProcessSupport", "CloudKit", "CloudKitAdditions", "System",
            ],
            path: "Examples/Todo/TodoDemo", swiftSettings: settings),
        // The tutorial's program: its files are the blocks of docs/TUTORIAL.md.
        .executableTarget(
            name: "groceries", dependencies: ["Yap", "YapCloudKit", "CloudKit"], path: "Examples/Groceries",
            swiftSettings: settings),
        // A list with sections in a terminal: its files are the blocks of docs/LISTS.md.
        .executableTarget(
            name: "agenda", dependencies: ["Yap"], path: "Examples/Agenda", packageAccess: false,
            swiftSettings: settings),
        // The extension of docs/guide/EXTENSIONS.md, written as in a package of its own: without the package's symbols.
        .target(
            name: "WordCount", dependencies: ["Yap"], path: "Examples/WordCount", packageAccess: false,
            swiftSettings: settings),
        // One note: what the app does needs Apple's symbols only, so it is built without the package's own.
        .target(
            name: "NotesKit", dependencies: ["CloudKit"], path: "Examples/Notes/NotesKit",
            packageAccess: false,
            swiftSettings: settings),
        .executableTarget(
            name: "NotesCommand", dependencies: ["NotesKit", "CloudKit", "CloudKitAdditions"],
            path: "Examples/Notes/NotesCommand", packageAccess: false, swiftSettings: settings),
        .target(
            name: "CBenchmarks", dependencies: ["CCurl", "CSQLite"], path: "Benchmarks/CBenchmarks",
            cSettings: [.define("_GNU_SOURCE")]),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "Abuse", "Yap", "CBenchmarks", "CloudKit", "CloudKitAdditions", "CloudKitTesting",
                "CloudServer",
                "CloudService",
                "CloudStore", "CloudWire", "COpenSSL", "Crypto",
                "HTTPServer", "SQLite", "System", "YapCloudKit",
            ],
            path: "Benchmarks/Benchmarks", swiftSettings: settings),

        // Test support: not products
        .target(name: "CTestVFS", dependencies: ["CSQLite"], path: "Tests/Support/CTestVFS"),
        room(
            "SQLiteTestSupport", ["CTestVFS", "SQLite", "System"],
            path: "Tests/Support/SQLiteTestSupport"),
        // The seed of tests that draw their inputs.
        room("TestSeed", path: "Tests/Support/TestSeed"),
        // All kinds of extensions beside a plain model of the rows, and the child that writes with them and is killed.
        room("ExtensionModel", ["Yap", "System"], path: "Tests/Support/ExtensionModel"),
        .executableTarget(
            name: "ExtensionChild", dependencies: ["ExtensionModel", "SQLiteTestSupport", "System", "Yap"],
            path: "Tests/Support/ExtensionChild", swiftSettings: settings),
        // Runs the tests in several processes and ends a hung one; `Scripts/test` runs it.
        room("TestRun", path: "Tests/Support/TestRun"),
        .executableTarget(
            name: "TestRunner", dependencies: ["TestRun"], path: "Tests/Support/TestRunner",
            swiftSettings: settings),
        // Values that tests wait for.
        room("Waiting", ["System"], path: "Tests/Support/Waiting"),
        // Reads the blocks of code in pages and comments.
        room("CodeBlocks", path: "Tests/Support/CodeBlocks"),
        // Threads for tests that compute for long.
        room("OwnThreads", ["System"], path: "Tests/Support/OwnThreads"),
        // What one thread uses of memory and of SQLite.
        .target(name: "CUseCounter", dependencies: ["CSQLite"], path: "Tests/Support/CUseCounter"),
        room("UseCounter", ["CUseCounter"], path: "Tests/Support/UseCounter"),
        // Recounts what a store's file says twice.
        room(
            "StoreAudit", ["CloudService", "CloudStore", "CloudWire", "SQLite"],
            path: "Tests/Support/StoreAudit"),
        // Right requests for every endpoint with hostile values in them; `RequestFuzzer` runs them.
        room(
            "RequestFuzz",
            [
                "CloudService", "CloudStore", "CloudWire", "Crypto", "SQLiteTestSupport", "System",
                "StoreAudit",
            ],
            path: "Tests/Support/RequestFuzz"),
        .executableTarget(
            name: "RequestFuzzer", dependencies: ["RequestFuzz"], path: "Tests/Support/RequestFuzzer",
            swiftSettings: settings),
        // Readers of foreign bytes, for the fuzzer (Scripts/fuzz) and for its corpus as tests.
        room(
            "FuzzTargets", ["CloudService", "CloudStore", "CloudWire", "Crypto", "HTTPServer", "System"],
            path: "Fuzz/Targets"),
        .executableTarget(
            name: "CrashChild", dependencies: ["Yap"], path: "Tests/Support/CrashChild",
            swiftSettings: settings),

        // A proxy between real processes that loses, delays, duplicates and cuts.
        room("FaultProxy", ["System"], path: "Tests/Support/FaultProxy"),
        // The programs `yap` and `todo` as processes, for the demo and for tests.
        room("ProcessSupport", ["FaultProxy", "TodoKit", "System"], path: "Tests/Support/ProcessSupport"),

        // Devices for the tests of the sync, and the child that lives one life of one and is killed.
        room(
            "SyncDevices",
            [
                "Yap", "YapCloudKit", "CloudKit", "CloudStore", "CloudWire", "HTTPClient",
                "SQLite", "SQLiteTestSupport", "System",
            ], path: "Tests/Support/SyncDevices"),
        // Devices, the network and the service, one event at a time, in simulated time; `swift run Simulator` runs it.
        room(
            "Simulation",
            [
                "YapCloudKit", "Yap", "CloudKit", "CloudService", "CloudStore", "CloudWire", "Crypto",
                "SQLite",
                "SQLiteTestSupport", "SyncDevices", "System",
            ], path: "Tests/Support/Simulation"),
        .executableTarget(
            name: "Simulator", dependencies: ["Simulation", "SQLite", "System"],
            path: "Tests/Support/Simulator", swiftSettings: settings),
        // An abuser among ninety-nine users of a real server; `Scripts/abuse` runs it.
        room(
            "Abuse", ["CloudStore", "CloudWire", "Crypto", "CLinux", "System"], path: "Tests/Support/Abuse"),
        .executableTarget(
            name: "Abuser", dependencies: ["Abuse"], path: "Tests/Support/Abuser", swiftSettings: settings),
        .executableTarget(
            name: "SyncKillChild", dependencies: ["SyncDevices", "System"],
            path: "Tests/Support/SyncKillChild", swiftSettings: settings),

        // Three versions of an app, a life at a time.
        .executableTarget(
            name: "VersionsApp", dependencies: ["CloudKit", "System", "Yap", "YapCloudKit"],
            path: "Tests/Support/VersionsApp", swiftSettings: settings),

        // Removes a container, and is killed at a step of that.
        .executableTarget(
            name: "RemovalChild", dependencies: ["CloudStore", "System"], path: "Tests/Support/RemovalChild",
            swiftSettings: settings),

        // An app that is killed with a long-lived operation under way.
        .executableTarget(
            name: "LongLivedChild", dependencies: ["CloudKit", "Waiting"],
            path: "Tests/Support/LongLivedChild",
            swiftSettings: settings),

        // A test that waits, with the dashboard of its cloud.
        .executableTarget(
            name: "TestCloudChild", dependencies: ["CloudKit", "CloudKitTesting"],
            path: "Tests/Support/TestCloudChild", swiftSettings: settings),

        tests(
            "FuzzTests", ["TestSeed", "CloudService", "CloudWire", "FuzzTargets", "RequestFuzz", "System"]),
        tests("FaultProxyTests", ["FaultProxy", "System"]),
        tests("SystemTests", ["System"]),
        tests("CryptoTests", ["Crypto", "System"]),
        tests("HTTPClientTests", ["TestSeed", "HTTPClient", "HTTPServer", "COpenSSL", "System", "Waiting"]),
        .executableTarget(
            name: "ServerChild", dependencies: ["HTTPServer", "CLinux", "System"],
            path: "Tests/Support/ServerChild", swiftSettings: settings),
        tests(
            "HTTPServerTests",
            ["HTTPServer", "ServerChild", "CLinux", "COpenSSL", "System", "SQLiteTestSupport", "Waiting"]),
        tests(
            "CloudServerTests",
            [
                "TestSeed",
                "CloudServer", "CloudService", "CloudStore", "CloudWire", "Crypto", "HTTPServer",
                "HTTPClient",
                "CLinux", "RequestFuzz", "SQLite", "System", "SQLiteTestSupport", "StoreAudit", "UseCounter",
                "Waiting",
            ]),
        tests(
            "CommandTests",
            [
                "YapCommand", "CloudServer", "CloudService", "CloudStore", "CloudWire", "Crypto",
                "HTTPClient", "HTTPServer", "System",
                "SQLite", "SQLiteTestSupport", "CloudKit", "CloudKitTesting", "Waiting", "Yap", "YapCloudKit",
            ], resources: [.copy("help.golden")]),
        tests(
            "EndToEndTests",
            [
                "TestSeed",
                "YapCommand", "TodoCommand", "NotesCommand", "agenda", "groceries", "VersionsApp", "TodoKit",
                "YapCloudKit", "Yap", "CloudKit", "CloudKitAdditions",
                "FaultProxy", "ProcessSupport", "HTTPClient", "SQLiteTestSupport", "System",
            ]),
        tests("SQLiteTests", ["SQLite", "SQLiteTestSupport", "System"]),
        tests("CloudWireTests", ["TestSeed", "CloudWire", "System"], resources: [.copy("Fixtures")]),
        tests(
            "YapTests",
            ["TestSeed", "ExtensionModel", "Yap", "SQLite", "SQLiteTestSupport", "System", "Waiting"]),
        tests(
            "DurabilityTests",
            [
                "TestSeed",
                "OwnThreads", "Yap", "CloudServer", "CloudService", "CloudStore", "CloudWire", "SQLite",
                "SQLiteTestSupport", "SyncDevices", "System", "CrashChild", "SyncKillChild", "ExtensionModel",
                "ExtensionChild",
            ]),
        tests(
            "CloudStoreTests",
            ["TestSeed", "CloudStore", "Crypto", "RemovalChild", "System", "SQLite", "SQLiteTestSupport"]),
        tests(
            "CloudServiceTests",
            [
                "TestSeed",
                "OwnThreads", "CloudService", "CloudStore", "CloudWire", "SQLite", "SQLiteTestSupport",
                "System", "StoreAudit", "UseCounter", "Waiting",
            ]),
        tests(
            "CloudKitTests",
            [
                "TestSeed",
                "CloudKit", "CloudKitAdditions", "CloudKitTesting", "CloudService", "CloudWire",
                "CoreLocation", "Crypto", "HTTPClient", "HTTPServer", "LongLivedChild", "System",
                "TestCloudChild", "Waiting",
            ]),
        tests(
            "YapCloudKitTests",
            [
                "TestSeed",
                "YapCloudKit", "Yap", "CloudKit", "CloudKitTesting", "CloudService", "CloudWire",
                "CoreLocation", "SQLite",
                "SQLiteTestSupport",
                "System",
            ]),
        tests(
            "ConvergenceTests",
            [
                "OwnThreads", "TestSeed", "YapCloudKit", "Yap", "CloudKit", "CloudKitTesting", "CloudServer",
                "CloudService",
                "CloudStore",
                "CloudWire", "FaultProxy", "HTTPClient", "HTTPServer", "SQLite", "Simulation", "SyncDevices",
                "System",
            ]),
        tests(
            "SimulationTests",
            ["OwnThreads", "Simulation", "System", "CloudKit", "CloudWire", "YapCloudKit"],
            resources: [.copy("Kept")]),
        // One program, in both language modes: the second folder is a link to the first.
        appTests("GuideApp", ["CloudKit", "CloudKitAdditions", "CloudKitTesting"], mode: .v5),
        appTests("GuideAppSwift6", ["CloudKit", "CloudKitAdditions", "CloudKitTesting"], mode: .v6),
        // As apps of three times were written, before the compiler asked about threads. Syntax of those times that is
        // deprecated is in no group of warnings that could be named.
        appTests(
            "OlderApps", ["CloudKit", "CloudKitAdditions", "CloudKitTesting"], mode: .v5,
            frontendFlags: ["-no-warnings-as-errors"]),
        // The blocks of the pages in docs/guide.
        appTests(
            "GuideTests", ["CodeBlocks", "Yap", "YapCloudKit", "CloudKit", "CloudKitTesting", "WordCount"],
            mode: .v6),
        // The blocks in the documentation comments of the libraries.
        appTests(
            "DocumentationTests",
            [
                "CodeBlocks", "Yap", "YapCloudKit", "CloudKit", "CloudKitAdditions", "CloudKitTesting",
                "CloudServer", "CloudService",
            ], mode: .v6),
        appTests("NotesTests", ["NotesKit", "CloudKit", "CloudKitAdditions", "CloudKitTesting"], mode: .v6),
        tests("TodoTests", ["TodoKit", "CloudKit", "CloudKitTesting", "System", "Yap", "YapCloudKit"]),
        tests("TestRunnerTests", ["TestRun"]),
        tests("TidyTests", []),
    ],
    swiftLanguageModes: [.v6]
)
