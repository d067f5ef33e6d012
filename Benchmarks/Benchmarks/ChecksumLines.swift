import CloudKit
import CloudService
import CloudStore
import CloudWire
import Foundation
import Yap
import YapCloudKit

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What the checksums of zones cost, each by turns with and without them, in processor time: the disk's syncs would
/// hide it.
func checksumLines() -> [Line] {
    let bar = 0.97
    return [
        Line(name: "service.checksum", unit: "records/s", bar: bar) { SaveChecksumRun(in: $0) },
        Line(name: "sync.checksum", unit: "records/s", bar: bar, roundsCount: 5) { _ in try ApplyChecksumRun()
        },
    ]
}

/// Saves of fifty new records a request in one process. Ours counts each record once more than the service does, so
/// that the ratio says what counting costs; what eighteen bytes more in a row cost is in neither.
private final class SaveChecksumRun: LineRun {
    private static let requestsCount = 60
    private static let recordsARequest = 50

    private let folder: URL
    private let requests = ServiceRequests(seed: 5)

    init(in folder: URL) {
        self.folder = folder
    }

    func ours() throws -> Double { try run(counts: true) }
    func reference() throws -> Double { try run(counts: false) }

    private func run(counts: Bool) throws -> Double {
        let inner = try TemporaryFolder()
        defer { inner.remove() }
        let store = try SQLiteCloudStore(path: inner.url.appendingPathComponent("store.sqlite").path)
        let service = benchService(store)
        try Recording.makeZone(service)
        let fields = FieldsBinary.encode(Self.fields)
        let batches = (0..<Self.requestsCount).map { _ in requests.names(Self.recordsARequest) }
        let messages = batches.map { Recording.wireRequest("records/modify", ServiceRequests.saveBody($0)) }
        var sum = ZoneChecksum()
        let begin = processorSeconds()
        for (names, message) in zip(batches, messages) {
            guard service.respond(to: message).status == 200 else {
                throw BenchError("the service saves nothing")
            }
            guard counts else { continue }
            for (number, name) in names.enumerated() {
                sum += ZoneChecksum(
                    recordName: name, recordType: "Note",
                    changeTag: ChangeTag(epoch: 0x1234_5678_9ABC, counter: Int64(number)).text,
                    content: ZoneChecksum.content(recordName: name, fieldBytes: fields))
            }
        }
        let seconds = processorSeconds() - begin
        guard !counts || sum != ZoneChecksum() else { throw BenchError("nothing was counted") }
        return Double(Self.requestsCount * Self.recordsARequest) / seconds
    }

    /// As large as those of the requests.
    private static let fields: [String: Field] = [
        "title": Field(.string("Note number 12")),
        "body": Field(.string("Two dozen eggs from the farm, and the bill of the 12th.")),
        "isDone": Field(.int64(1)), "priority": Field(.int64(3)), "estimateHours": Field(.double(2.25)),
        "created": Field(.timestamp(milliseconds: 1_700_000_000_000)), "project": Field(.string("household")),
        "tags": Field(.list(.stringList, [.string("home"), .string("food")])),
    ]
}

/// Pages of new records: counted by the framework and applied by a device that compares, and applied by one that
/// doesn't.
private final class ApplyChecksumRun: LineRun {
    private static let recordsCount = 20_000
    private static let recordsAPage = 200

    private let workload: Workload

    init() throws {
        workload = try Workload(rowsCount: Self.recordsCount)
    }

    func ours() throws -> Double { try run(verifies: true) }
    func reference() throws -> Double { try run(verifies: false) }

    private func run(verifies: Bool) throws -> Double {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let database = try Ours.database(in: folder.url)
        let sync = try SyncDevice.idleSync(on: database, verifiesZones: verifies)
        let connection = database.newConnection()
        var seconds = 0.0
        for start in stride(from: 0, to: Self.recordsCount, by: Self.recordsAPage) {
            var page = SyncPage(zoneID: SyncDevice.zoneID)
            let fetched = (start..<start + Self.recordsAPage).map { ApplyRun.record($0, workload) }
            let fields = try fetched.map { try $0.allFields() }
            page.token = CKServerChangeToken(token: "\(start)")
            page.moreComing = true
            let begin = processorSeconds()
            for (record, fields) in zip(fetched, fields) where verifies {
                let content = ZoneChecksum.content(recordName: record.recordID.recordName, fields: fields)
                record.withState { $0.contentChecksum = content }
            }
            page.changed = fetched
            try connection.blocking.readWrite { try sync.apply(page, in: $0) }
            seconds += processorSeconds() - begin
        }
        try database.blocking.close()
        return Double(Self.recordsCount) / seconds
    }
}

/// The processor time that this process has used.
private func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
