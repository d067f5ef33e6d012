import Testing

/// The rules of the house (docs/ARCHITECTURE.md) that a machine can check.
@Suite struct TidyTests {
    /// The files that stand between the world and the rest, and those where Apple's own API says that the time of the
    /// call is taken: only they read a clock or draw a random number.
    static let adapters: Set = [
        "Sources/System/RandomSource.swift", "Sources/System/TimeSource.swift",
        "Sources/CloudKit/Networking/Connection/DispatchTimerSource.swift",
        "Sources/CoreLocation/CLLocation.swift",
        "Sources/Yap/Shell/WallTimerSource.swift",
        "Sources/YapCloudKit/Adapter/SyncProcessLock.swift",
        "Sources/YapCloudKit/Adapter/ThreadScheduler.swift",
    ]

    /// The parts that are plain synchronous code, so that one thread can run them in a chosen order.
    static let synchronousParts = [
        "Sources/System", "Sources/SQLite", "Sources/CloudWire", "Sources/CloudStore", "Sources/CloudService",
        "Sources/Yap/Core", "Sources/Yap/Transactions", "Sources/Yap/Serialization", "Sources/Yap/Extensions",
        "Sources/YapCloudKit/Engine", "Sources/YapCloudKit/Extension",
    ]

    /// What Apple declares `null_resettable`: nil may be written, to have the default again, and is never read. Swift
    /// says so with `!` only, and without it code with `operation.configuration?` doesn't compile.
    static let nullResettable = [
        "Sources/CloudKit/Operations/CKOperation.swift": "public var configuration: Configuration! {",
        "Sources/CloudKit/Operations/CKOperationGroup.swift":
            "public var defaultConfiguration: CKOperation.Configuration! {",
    ]

    static let sources = Repository.swiftFiles(in: ["Sources"])
    static let everything = Repository.swiftFiles(in: ["Sources", "Tests", "Examples", "Benchmarks"])

    @Test func clocksAndRandomnessAreReadInAdaptersOnly() {
        let patterns = [
            /\bDate\(\)/, /\bUUID\(\)/, /\bTask\.sleep\b/, /\.random\(/, /\bURLSession\b/, /\.now\b/,
        ]
        let places = Self.sources.filter { !Self.adapters.contains($0.path) }.flatMap { file in
            patterns.flatMap(file.places)
        }
        expectNone(places)
    }

    @Test func nothingInSourcesTrapsOnWhatAUserAFileOrTheNetworkCanCause() {
        let places = Self.sources.flatMap { file in
            file.places(of: /\btry!/) + file.places(of: /\bfatalError\(/) + file.places(of: /\bas!/)
                + file.places(of: /[A-Za-z0-9_)\]]!(?![=A-Za-z0-9_])/)
        }
        let (allowed, others) = places.reduce(into: ([String](), [String]())) { sorted, place in
            let isAllowed = Self.nullResettable.contains {
                place.hasPrefix($0.key + ":") && place.hasSuffix(": " + $0.value)
            }
            if isAllowed { sorted.0.append(place) } else { sorted.1.append(place) }
        }
        expectNone(others)
        #expect(allowed.count == Self.nullResettable.count)
    }

    @Test func synchronousPartsDoNotWait() {
        expectNone(Self.synchronousParts.filter { Repository.swiftFiles(in: [$0]).isEmpty })
        let places = Repository.swiftFiles(in: Self.synchronousParts).flatMap {
            $0.places(of: /\b(?:async|await|Task)\b/)
        }
        expectNone(places)
    }

    @Test func filesLinesAndFunctionsAreShort() {
        expectNone(
            Self.everything.filter { $0.lines.count > 600 }.map { "\($0.path): \($0.lines.count) lines" })
        // The formatter keeps code within 110 columns; it doesn't wrap comments, which may have a few more.
        expectNone(
            Self.everything.flatMap { file in
                file.lines.indices.filter { file.lines[$0].count > 120 }.map(file.place)
            })
        expectNone(Self.everything.flatMap { $0.functionsLonger(than: 70) })
    }

    /// Swift Testing counts the time in which a test waits for its turn, and can't end one that keeps its thread. The
    /// test runner does both.
    @Test func noTimeLimitOnATest() {
        expectNone(Repository.swiftFiles(in: ["Tests"]).flatMap { $0.places(of: /\btimeLimit\b/) })
    }

    /// Elsewhere SQLite's WAL-reset bug would come back.
    @Test func checkpointsAreMadeInOnePlaceOnly() {
        let owner = "Sources/SQLite/ConnectionCheckpoint.swift"
        let places = Self.sources.flatMap { $0.places(of: /\bsqlite3_wal_(?:auto)?checkpoint/) }
        #expect(places.count == 1 && places.allSatisfy { $0.hasPrefix(owner) }, "\(places)")
        // As a PRAGMA, in a text.
        let texts = Self.sources.flatMap { file in
            file.lines.indices.filter { file.lines[$0].contains(/PRAGMA wal_/) }.map(file.place)
        }
        expectNone(texts)
    }

    @Test func theMapNamesEveryRoom() throws {
        let map = try #require(Repository.text(of: "docs/ARCHITECTURE.md"))
        let unnamed = Repository.folders(in: "Sources").filter { !map.contains("`\($0)`") }
        expectNone(unnamed)
    }

    @Test func everyPromiseNamesATestThatExists() throws {
        guard let promises = Repository.text(of: "docs/GUARANTEES.md") else { return }
        let tests = Set(
            Repository.swiftFiles(in: ["Tests"]).flatMap { file in
                file.code.flatMap { $0.matches(of: /\bfunc (\w+)/).map { String($0.output.1) } }
            })
        // A test's name is a lower camel case word of three humps or more in code marks, with or without its suite.
        let named = promises.matches(of: /`(?:\w+[.\/])*([a-z]+(?:[A-Z][A-Za-z0-9]*){2,})(?:\(\))?`/)
            .map { String($0.output.1) }
        #expect(!named.isEmpty)
        expectNone(named.filter { !tests.contains($0) })
    }

    @Test func theRulesSeeWhatBreaksThem() {
        let text = """
            let a = b!
            let url = "c! // Date()" // d! Date()
            if a != b, !c { x.y()! }
            """
        let file = SourceFile(path: "x.swift", text: text)
        #expect(file.places(of: /[A-Za-z0-9_)\]]!(?![=A-Za-z0-9_])/).count == 2)
        #expect(file.places(of: /\bDate\(\)/).isEmpty)
        let limited = SourceFile(path: "x.swift", text: "@Suite(.timeLimit(.minutes(1))) struct X {}")
        #expect(limited.places(of: /\btimeLimit\b/).count == 1)
        let body = Array(repeating: "        x()", count: 69).joined(separator: "\n")
        let function = SourceFile(
            path: "x.swift", text: "    func long() {\n\(body)\n    }\n    func short() {}")
        #expect(function.functionsLonger(than: 70) == ["x.swift:1: func long() {"])
        #expect(function.functionsLonger(than: 71) == [])
    }

    private func expectNone(_ places: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(places.isEmpty, "\n\(places.joined(separator: "\n"))", sourceLocation: sourceLocation)
    }
}
