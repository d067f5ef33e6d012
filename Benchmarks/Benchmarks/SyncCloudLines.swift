import CloudKit
import Foundation
import System
import Yap
import YapCloudKit

/// The first sync of a device, as a process of its own, over HTTP; against C that moves the same records one request
/// after the other.
final class FirstRun: LineRun {
    static let recordsCount = 100_000
    /// Flat: the second half of the records takes at most so many times the memory that the first half took.
    private static let growthMax = 1.15

    private let folder: URL
    private let direction: FirstSync.Direction
    private var filled: (cloud: CloudProcess, requests: LoadRequests)?
    private var round = 0
    private var resident: [[Int]] = []
    private var seconds: [Double] = []

    init(in folder: URL, _ direction: FirstSync.Direction) throws {
        self.folder = folder
        self.direction = direction
        guard direction == .fetch else { return }
        let cloud = try newCloud("filled")
        do {
            _ = try cloud.fill(Self.recordsCount, ServiceRequests(seed: 1))
            filled = (cloud, LoadRequests(try cloud.pages(countMax: .max).requests))
        } catch {
            cloud.end()
            throw error
        }
    }

    private func newCloud(_ name: String) throws -> CloudProcess {
        let cloud = try CloudProcess(storePath: folder.appendingPathComponent("\(name).sqlite").path)
        try cloud.exchange(ServiceRequests.makeZone)
        return cloud
    }

    func ours() throws -> Double {
        round += 1
        let cloud = try filled?.cloud ?? newCloud("ours \(round)")
        defer { if filled == nil { cloud.end() } }
        let device = folder.appendingPathComponent("device \(round)")
        try FileManager.default.createDirectory(at: device, withIntermediateDirectories: true)
        let child = try ChildProcess(
            ChildProcess.ownPath,
            [ChildMode.syncDevice, direction.rawValue, device.path, "\(cloud.port)", "\(Self.recordsCount)"])
        defer { child.end() }
        var resident: [Int] = []
        while true {
            let words = child.readLine().split(separator: " ")
            guard words.count == 2, let value = Double(words[1]) else {
                throw BenchError("the device ended without a word")
            }
            if words[0] == "resident" { resident.append(Int(value)) }
            guard words[0] == "seconds" else { continue }
            self.resident.append(resident)
            seconds.append(value)
            return Double(Self.recordsCount) / value
        }
    }

    func reference() throws -> Double {
        if let (cloud, requests) = filled {
            let count = requests.requests.count
            let result = try Load.run(requests, port: cloud.port, connections: 1, total: count)
            return Double(Self.recordsCount) / result.seconds
        }
        let cloud = try newCloud("reference \(round)")
        defer { cloud.end() }
        let source = ServiceRequests(seed: 3)
        let batches = (0..<Self.recordsCount / 200).map { _ in source.save(source.names(200)) }
        let result = try Load.run(
            LoadRequests(batches), port: cloud.port, connections: 1, total: batches.count,
            forbidding: ServiceLoad.refused)
        return Double(Self.recordsCount) / result.seconds
    }

    func remarks() -> [LineRemark] {
        let last = resident.last ?? []
        let texts = zip(FirstSync.marks, last).map { mark, bytes in
            String(format: "%d %% %.1f MB", mark, Double(bytes) / 1e6)
        }
        let growth = last.count > 2 ? Double(last[last.count - 1]) / Double(last[last.count - 2]) : .infinity
        let text = String(
            format: "%d records in %.1f s; resident at %@; its second half grows it %.2f times (bar %.2f)",
            Self.recordsCount, LineResult.median(seconds), texts.joined(separator: ", "), growth,
            Self.growthMax)
        return [LineRemark(text: text, passes: growth <= Self.growthMax)]
    }

    func close() { filled?.cloud.end() }
}

/// The device of such a sync.
enum FirstSync {
    enum Direction: String { case fetch, upload }

    /// At how many percent of the records the resident set is told.
    static let marks = [0, 10, 50, 100]

    static func run(_ direction: Direction, folder: URL, port: Int, count: Int) async throws {
        let database = try Ours.database(in: folder)
        if direction == .upload { try fill(database, count) }
        var mark = Marks(count: count)
        try mark.passed(0)
        let commits = database.commits.makeAsyncIterator()
        let start = ContinuousClock.now
        let sync = try await CloudSync(
            database, container: SyncDevice.container(port: port, device: "first"),
            models: [.model(Note.self, collection: Workload.collection)], zone: SyncDevice.zoneName)
        switch direction {
        case .fetch:
            var commits = commits
            var here = 0
            while here < count, let commit = await commits.next() {
                guard commit.missedCommits == 0 else { throw BenchError("commits were missed") }
                here += commit.insertedKeys(inCollection: Workload.collection).count
                try mark.passed(here)
            }
        case .upload:
            // What waits before the walk of the rows was counted is nothing.
            var hasBegun = false
            for await status in sync.status {
                guard status.state == .syncing else {
                    if hasBegun, status.state == .idle { break }
                    if status.state == .needsAttention { throw BenchError("\(status.problems)") }
                    continue
                }
                let pending = status.pendingCount
                hasBegun = hasBegun || pending > 0
                if hasBegun { try mark.passed(count - pending) }
            }
            try mark.passed(count)
        }
        say("seconds \((ContinuousClock.now - start) / .seconds(1))")
    }

    private static func fill(_ database: YapDatabase, _ count: Int) throws {
        let workload = try Workload(rowsCount: 1_000)
        for start in stride(from: 0, to: count, by: 1_000) {
            try database.newConnection().blocking.readWrite { transaction in
                for index in 0..<1_000 {
                    try transaction.setObject(
                        workload.notes[index], forKey: "note-\(start + index)",
                        inCollection: Workload.collection)
                }
            }
        }
    }

    private struct Marks {
        let count: Int
        var told = 0

        /// Tells the resident set at each mark that was reached.
        mutating func passed(_ done: Int) throws {
            while told < marks.count, done * 100 >= count * marks[told] {
                say("resident \(try ChildProcess.residentBytes(of: getpid()))")
                told += 1
            }
        }
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}

/// From a commit on one device to the commit on the other, over push; against one sync of the disk.
final class LatencyRun: LineRun {
    private static let commitsCount = 100

    private let folder: URL
    private let cloud: CloudProcess
    private let phone: YapDatabase
    private let laptop: YapDatabase
    private let syncs: [CloudSync]
    private let workload: Workload
    private var written = 0
    private var latencies: [UInt32] = []
    private var diskSyncs: [SyncTimes] = []

    init(in folder: URL) async throws {
        self.folder = folder
        workload = try Workload(rowsCount: Self.commitsCount * 8)
        cloud = try CloudProcess(storePath: folder.appendingPathComponent("cloud.sqlite").path)
        do {
            phone = try Self.database("phone", in: folder)
            laptop = try Self.database("laptop", in: folder)
            syncs = [
                try await Self.sync(phone, port: cloud.port, "phone"),
                try await Self.sync(laptop, port: cloud.port, "laptop"),
            ]
            for sync in syncs { _ = await sync.syncNow() }
            // The couriers wait by the time that a change has gone each way.
            _ = try await send(from: phone, to: laptop)
            _ = try await send(from: laptop, to: phone)
        } catch {
            cloud.end()
            throw error
        }
    }

    private static func database(_ name: String, in folder: URL) throws -> YapDatabase {
        let own = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        return try Ours.database(in: own)
    }

    private static func sync(_ database: YapDatabase, port: Int, _ name: String) async throws -> CloudSync {
        try await CloudSync(
            database, container: SyncDevice.container(port: port, device: name),
            models: [.model(Note.self, collection: Workload.collection)], zone: SyncDevice.zoneName)
    }

    func ours() async throws -> Double {
        var times: [UInt32] = []
        for _ in 0..<Self.commitsCount { times.append(try await send(from: phone, to: laptop)) }
        latencies += times
        return percentile(0.5, of: times)
    }

    /// One commit, in nanoseconds from its end to the end of the other device's.
    private func send(from maker: YapDatabase, to other: YapDatabase) async throws -> UInt32 {
        let key = workload.keys[written % workload.keys.count]
        let note = workload.notes[written % workload.notes.count]
        written += 1
        let arrived = Lock<ContinuousClock.Instant?>(nil)
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let observer = other.addCommitObserver { commit in
            guard commit.hasChange(forKey: key, inCollection: Workload.collection) else { return }
            arrived.withLock { $0 = .now }
            continuation.finish()
        }
        defer { other.removeCommitObserver(observer) }
        try await maker.newConnection().readWrite {
            try $0.setObject(note, forKey: key, inCollection: Workload.collection)
        }
        let start = ContinuousClock.now
        for await _ in stream {}
        guard let end = arrived.withLock({ $0 }) else { throw BenchError("the change never arrived") }
        return UInt32(clamping: Int64((end - start) / .nanoseconds(1)))
    }

    func reference() throws -> Double {
        let sync = try SyncTimes(in: folder, count: 200)
        diskSyncs.append(sync)
        return sync.p50Microseconds
    }

    func remarks() -> [LineRemark] {
        let text = String(
            format: "commit to commit p50 %.1f ms, p99 %.1f ms; a sync of the disk p50 %.0f us",
            percentile(0.5, of: latencies) / 1e3, percentile(0.99, of: latencies) / 1e3,
            LineResult.median(diskSyncs.map(\.p50Microseconds)))
        return [LineRemark(text: text)]
    }

    func close() {
        try? phone.blocking.close()
        try? laptop.blocking.close()
        cloud.end()
    }
}
