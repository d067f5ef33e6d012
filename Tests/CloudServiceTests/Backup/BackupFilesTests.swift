import CloudService
import CloudStore
import CloudWire
import Foundation
import SQLiteTestSupport
import StoreAudit
import System
import Testing
import Waiting

/// Backups of what is more than rows: files of records, their collection beside it, indexes; and what a backup that was
/// killed leaves.
@Suite struct BackupFilesTests {
    private let folder: TemporaryFolder
    private let data: DataFolder

    init() throws {
        folder = try TemporaryFolder()
        data = DataFolder(path: folder.file("data"))
        try data.make()
    }

    private static let container = TestService.container

    private func service(_ data: DataFolder, clock: ManualTimeSource) throws -> (
        TestService, SQLiteCloudStore, String
    ) {
        let (identifier, environment) = (Self.container.identifier, Self.container.environment)
        let path = try data.storePath(container: identifier, environment: environment, makesFolders: true)
        let store = try SQLiteCloudStore(path: path)
        let files = DiskAssetStore(
            path: try data.assetsPath(container: identifier, environment: environment), clock: clock,
            gate: { try data.holdForCollection() })
        let service = CloudService(
            store: store, clock: clock, random: SystemRandomSource(), container: Self.container,
            users: ["ada": TestService.ada], assetFiles: files)
        return (TestService(service: service, clock: clock), store, path)
    }

    /// Gives a record a new file, a new field and a new number, by an upload as clients send it.
    private func save(_ number: Int, _ cloud: TestService) throws {
        let name = "r\(number % 7)"
        var request = AssetsUploadRequest(tokens: [.init(fieldName: "file", recordName: name)])
        request.zoneID = TestService.zone
        let url = try cloud.ask("assets/upload", request, as: AssetsUploadResponse.self).tokens[0].url
        let upload = try cloud.service.beginUpload(ticket: String(url.split(separator: "?t=").last ?? ""))
        try upload.write(Self.content(number))
        let fields = [
            "n": Field(.int64(Int64(number))), "file": Field(.asset(try upload.finish().singleFile)),
            "extra\(number % 30)": Field(.string("word\(number)")),
        ]
        let result = try cloud.modify([operation(.forceReplace, name, fields)])[0]
        if let error = result.error { throw error }
    }

    private static func content(_ number: Int) -> [UInt8] { Array("the file of \(number)".utf8) }

    @Test func aBackupHasEachFileOfItsRecordsAndEachIndexWhileOthersAreCollected()
        async throws
    {
        let clock = ManualTimeSource()
        let (cloud, store, _) = try service(data, clock: clock)
        try cloud.zones(.create)
        let savedCount = WatchedValue(0)
        let isOver = Lock(false)
        let (data, folder) = (data, folder)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await onAThread {
                    var number = 0
                    while !isOver.withLock({ $0 }) {
                        number += 1
                        try save(number, cloud)
                        // What the record held before is as old as what nobody can save any more.
                        clock.advance(bySeconds: 2 * 86_400)
                        let saved = number
                        savedCount.change { $0 = saved }
                    }
                }
            }
            group.addTask {
                try await onAThread {
                    while !isOver.withLock({ $0 }) { _ = try cloud.service.collectUnusedFiles() }
                }
            }
            group.addTask {
                try await onAThread {
                    defer { isOver.withLock { $0 = true } }
                    for round in 0..<4 {
                        try savedCount.wait { $0 >= 30 * (round + 1) }
                        let before = savedCount.value
                        let archive = folder.file("\(round).tar")
                        _ = try data.backUp(to: archive)
                        let restored = DataFolder(path: folder.file("restored-\(round)"))
                        _ = try restored.restore(from: archive)
                        try expectWhole(restored, atLeast: before)
                    }
                }
            }
            try await group.waitForAll()
        }
        store.close()
    }

    private func expectWhole(_ restored: DataFolder, atLeast number: Int) throws {
        // A clock of its own: the writer's runs on, and addresses would run out.
        let (again, store, path) = try service(restored, clock: ManualTimeSource())
        defer { store.close() }
        #expect(try StoreAudit.findings(path: path) == [])
        let records = try again.changes(resultsLimit: 400).records.compactMap(\.record)
        #expect(records.count == 7)
        var newest = 0
        for record in records {
            guard case .int64(let found)? = record.fields["n"]?.value else { continue }
            newest = max(newest, Int(found))
            #expect(
                try again.file(record.fields["file"]) == Self.content(Int(found)),
                "\(record.recordName ?? "")")
            let filter = RecordFilter(comparator: "EQUALS", fieldName: "n", fieldValue: Field(.int64(found)))
            let query = RecordsQueryRequest(
                query: RecordQuery(recordType: "todo", filterBy: [filter]), zoneID: TestService.zone)
            let hits = try again.ask("records/query", query, as: RecordsQueryResponse.self).records
            #expect(hits.compactMap(\.recordName) == [record.recordName])
        }
        #expect(newest >= number, "what was acknowledged before the backup is in it")
    }

    // MARK: Killed backups

    @Test func theNextBackupRemovesWhatAKilledOneLeftAndNothingElse() throws {
        // A number that no process has, and this one's own, as in a container where each has the same.
        let dead = Int32.max - 1
        let header = try FileHandle(forReadingFrom: archiveURL()).read(upToCount: 4096) ?? Data()
        let left = [
            "old.tar.part-\(dead)", "numbered.tar.part-\(dead).1", "b.tar.part-\(getpid())",
            "empty.tar.part-\(dead)", "empty.tar.part-\(dead).12",
        ]
        let foreign = ["mine.part-\(dead)", "mine.part-\(dead).1", "b.tar.part-x", "b.tar.sums"]
        // It begins as an archive does, but isn't named like a draft.
        let archive = "b.tar.part-\(dead).old"
        for name in left { try (name.hasPrefix("empty") ? Data() : header).write(to: url(name)) }
        for name in left.prefix(3) {
            for ending in [".sums", ".sqlite", ".sqlite-wal"] { try Data([1]).write(to: url(name + ending)) }
        }
        for name in foreign { try Data("not ours".utf8).write(to: url(name)) }
        try header.write(to: url(archive))
        // One that is being written by a process that lives.
        let held = "live.tar.part-\(dead)"
        try header.write(to: url(held))
        let descriptor = open(folder.file(held), O_RDONLY)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX) == 0)
        _ = try data.backUp(to: folder.file("b.tar"))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == (foreign + [archive, held, "b.tar", "data", "whole.tar"]).sorted())
    }

    private func url(_ name: String) -> URL { URL(filePath: folder.file(name)) }

    private func archiveURL() throws -> URL {
        _ = try data.backUp(to: folder.file("whole.tar"))
        return url("whole.tar")
    }
}
