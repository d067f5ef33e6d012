import Foundation
import Testing

/// A test waits for an event, and its promise on cost is held by a count.
@Suite struct WaitingTests {
    /// Ways to let time pass or to spin until something happens.
    private static let waits = [
        "Task.sleep", "Thread.sleep", "usleep(", "nanosleep(", " sleep(", "poll(nil", "select(0",
        "sched_yield",
        "Task.yield", "asyncAfter",
    ]
    /// Ways to measure how long something takes.
    private static let clocks = [
        "ContinuousClock", "SuspendingClock", "clock_gettime", "DispatchTime.now()", "uptimeNanoseconds",
        "systemUptime", "Date().timeInterval", "Date() <", "Date() >",
    ]

    /// The files that may, each with the reason.
    private static let exceptions = [
        "Tests/Support/Waiting/Polling.swift": "the one helper for states that report no event",
        "Tests/ConvergenceTests/OnThreads/HastyScheduler.swift":
            "the timers of the sync, as an app's queue has them",
        "Tests/HTTPClientTests/CancelTests.swift":
            "yields vary the moment of a cancellation; nothing is waited for",
        "Tests/DocumentationTests/CloudExamples.swift":
            "a block of a comment: a test that waits for a person",
        "Tests/GuideTests/VectorsTests.swift": "a block of the guide: an app's deadline for a query",
        "Tests/Support/Abuse/Client/ClientLoop.swift": "measures latencies, which the abuse reports",
        "Tests/Support/TestRunner/Clock.swift": "the runner ends tests that hang",
    ]

    @Test func noTestSleepsSpinsOrMeasuresTime() {
        let places = Repository.swiftFiles(in: ["Tests"])
            .filter { Self.exceptions[$0.path] == nil }
            .flatMap(Self.places)
        #expect(places.isEmpty, "\n\(places.joined(separator: "\n"))")
    }

    /// `polling.py` is what `Polling` is here. `picture_data.py` makes pictures and is no test.
    @Test func noTestInTheBrowserSleeps() throws {
        let folder = Repository.root.appending(path: "Tests/Dashboard")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".py") && !["polling.py", "picture_data.py"].contains($0) }
        #expect(names.count > 10)
        for name in names {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            #expect(!text.contains("time.sleep"), "\(name)")
            #expect(!text.contains("wait_for_timeout"), "\(name)")
        }
    }

    @Test func everyExceptionIsStillNeeded() {
        let needed = Repository.swiftFiles(in: ["Tests"]).filter { !Self.places($0).isEmpty }.map(\.path)
        #expect(Set(Self.exceptions.keys).subtracting(needed).isEmpty)
    }

    @Test func eachWayIsSeenInCodeAlone() {
        for way in Self.waits + Self.clocks {
            let file = SourceFile(
                path: "x.swift",
                text: "let x = \(way)1)\n// \(way)1)\nlet y = \"\(way)1)\"\npoll(&polled, 2, -1)")
            #expect(Self.places(file).count == 1, "\(way)")
        }
    }

    private static func places(_ file: SourceFile) -> [String] {
        file.code.indices.filter { index in
            (waits + clocks).contains { file.code[index].contains($0) }
        }.map(file.place)
    }
}
