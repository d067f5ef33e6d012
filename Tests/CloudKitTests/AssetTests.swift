import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import System
import Testing

@Suite struct AssetTests {
    /// A folder of the test's own; goes with it.
    private final class Folder: Sendable {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "AssetTests-" + SystemRandomSource().nextUUID())

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(at: url) }

        func file(_ name: String, _ bytes: Data) throws -> URL {
            let file = url.appendingPathComponent(name)
            try bytes.write(to: file)
            return file
        }
    }

    private let folder: Folder
    private let photo: Data

    init() throws {
        folder = try Folder()
        var random = SeededRandomSource(seed: 7)
        photo = Data((0..<200_000).map { _ in UInt8(truncatingIfNeeded: Self.next(&random)) })
    }

    private static func next(_ random: inout SeededRandomSource) -> UInt64 {
        UInt64(random.nextUnitInterval() * 256)
    }

    private func contents(_ record: CKRecord, _ key: String = "photo") throws -> Data? {
        let asset: CKAsset? = record[key]
        return try asset?.fileURL.map { try Data(contentsOf: $0) }
    }

    @Test(arguments: Cloud.allCases) func anotherDeviceGetsTheFilesBytes(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let record = devices.record("1", title: "holiday")
        record["photo"] = CKAsset(fileURL: try folder.file("a", photo))
        record["small"] = CKAsset(fileURL: try folder.file("b", Data()))
        record["list"] = [
            CKAsset(fileURL: try folder.file("c", Data("one".utf8))),
            CKAsset(fileURL: try folder.file("d", Data("two".utf8))),
        ]
        try await devices.phone.save(record)

        let fetched = try await devices.laptop.record(for: record.recordID)
        #expect(try contents(fetched) == photo && contents(fetched, "small") == Data())
        let list: [CKAsset] = try #require(fetched["list"])
        #expect(
            try list.map { try Data(contentsOf: #require($0.fileURL)) } == [
                Data("one".utf8), Data("two".utf8),
            ])

        let changes = try await devices.laptop.recordZoneChanges(inZoneWith: devices.zoneID, since: nil)
        let changed = try #require(try changes.modificationResultsByID[record.recordID]?.get().record)
        #expect(try contents(changed) == photo)
        let query = CKQuery(recordType: "todo", predicate: NSPredicate(format: "title == 'holiday'"))
        let found = try await devices.laptop.records(matching: query).matchResults.first?.1.get()
        #expect(try contents(#require(found)) == photo)
        // Fetched once: the file that is there is taken.
        #expect(devices.cloud.requestCount(.downloadAsset) == 4)
    }

    @Test func aRecordIsFetchedWithoutAnUnrequestedFile() async throws {
        let devices = try await TwoDevices()
        let record = devices.record("1", title: "holiday")
        record["photo"] = CKAsset(fileURL: try folder.file("a", photo))
        try await devices.phone.save(record)
        let fetched = try await devices.laptop.records(for: [record.recordID], desiredKeys: ["title"])
        #expect(try fetched[record.recordID]?.get().allKeys() == ["title"])
        #expect(devices.cloud.requestCount(.downloadAsset) == 0)
    }

    @Test(arguments: Cloud.allCases) func aFetchedFileIsNotSentAgainWithItsOwnField(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let record = devices.record("1", title: "holiday")
        record["photo"] = CKAsset(fileURL: try folder.file("a", photo))
        try await devices.phone.save(record)
        let fetched = try await devices.laptop.record(for: record.recordID)
        fetched["title"] = "work"
        let saved = try await devices.laptop.modifyRecords(
            saving: [fetched], deleting: [], savePolicy: .allKeys)
        #expect(saved.saveResults[record.recordID]?.isSuccess == true)
        #expect(devices.cloud.requestCount(.uploadAsset) == 1)

        // In another record it is another file, and its bytes are at hand.
        let copy = devices.record("2")
        copy["photo"] = fetched["photo"] as CKAsset?
        try await devices.laptop.save(copy)
        #expect(devices.cloud.requestCount(.uploadAsset) == 2)
        #expect(try contents(try await devices.phone.record(for: copy.recordID)) == photo)
    }

    /// After a conflict an app puts all its own values into the server's record and saves that.
    @Test(arguments: Cloud.allCases) func anOlderFileOfTheSameFieldCanBePutBack(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let record = devices.record("1", title: "holiday")
        record["photo"] = CKAsset(fileURL: try folder.file("a", photo))
        record["pages"] = [CKAsset(fileURL: try folder.file("p", Data([1])))]
        try await devices.phone.save(record)
        let mine = try await devices.laptop.record(for: record.recordID)
        record["photo"] = CKAsset(fileURL: try folder.file("b", Data([1, 2, 3])))
        record["pages"] = [CKAsset(fileURL: try folder.file("q", Data([2])))]
        try await devices.phone.save(record)

        mine["title"] = "mine"
        do {
            try await devices.laptop.save(mine)
            Issue.record("no conflict")
        } catch let error as CKError {
            let server = try #require(error.serverRecord)
            for key in mine.allKeys() { server[key] = mine[key] }
            try await devices.laptop.save(server)
        }
        let merged = try await devices.phone.record(for: record.recordID)
        #expect(merged["title"] as? String == "mine")
        #expect(try contents(merged) == photo)
        let page = try #require((merged["pages"] as? [CKAsset])?.first?.fileURL)
        #expect(try Data(contentsOf: page) == Data([1]))
    }

    @Test func oneAssetInTwoRecordsAndTwoFieldsIsAFileOfEach() async throws {
        let devices = try await TwoDevices()
        let (one, two) = (devices.record("1"), devices.record("2"))
        let asset = CKAsset(fileURL: try folder.file("a", photo))
        one["photo"] = asset
        one["other"] = asset
        two["photo"] = asset
        let results = try await devices.phone.modifyRecords(saving: [one, two], deleting: [])
        #expect(results.saveResults.values.filter { $0.isSuccess }.count == 2)
        for (name, key) in [("1", "photo"), ("1", "other"), ("2", "photo")] {
            let fetched = try await devices.laptop.record(for: devices.id(name))
            #expect(try contents(fetched, key) == photo)
        }
    }

    @Test func equalAssetsAreEqualToTheSame() async throws {
        let devices = try await TwoDevices()
        let url = try folder.file("a", photo)
        let record = devices.record("1")
        record["photo"] = CKAsset(fileURL: url)
        try await devices.phone.save(record)
        let fetched = try await devices.laptop.record(for: record.recordID)
        let again = try await devices.laptop.record(for: record.recordID)
        let all = [
            CKAsset(fileURL: url), CKAsset(fileURL: url),
            try #require(fetched["photo"] as? CKAsset), try #require(again["photo"] as? CKAsset),
            CKAsset(fileURL: try #require((fetched["photo"] as? CKAsset)?.fileURL)),
        ]
        for a in all {
            for b in all where a == b {
                #expect(a.hash == b.hash && b == a)
                for c in all where b == c { #expect(a == c) }
            }
        }
        #expect(all[0] == all[1] && all[2] == all[3])
    }

    /// The file was written anew and set again while its first bytes were on their way.
    @Test func aFileSetAgainDuringASaveStaysAChange() async throws {
        let devices = try await TwoDevices()
        let url = try folder.file("a", photo)
        let record = devices.record("1")
        record["photo"] = CKAsset(fileURL: url)
        let save = CKModifyRecordsOperation(recordsToSave: [record])
        let path = url.path
        save.perRecordProgressBlock = { record, _ in
            guard record.recordChangeTag == nil else { return }
            try? Data([7]).write(to: URL(fileURLWithPath: path + ".new"))
            rename(path + ".new", path)
            record["photo"] = CKAsset(fileURL: URL(fileURLWithPath: path))
        }
        devices.phone.add(save)
        #expect(record.recordChangeTag != nil && record.changedKeys() == ["photo"])
        try await devices.phone.save(record)
        #expect(record.changedKeys().isEmpty)
        #expect(try contents(try await devices.laptop.record(for: record.recordID)) == Data([7]))
    }

    @Test func aFileThatIsNotThereFailsItsRecordOnly() async throws {
        let devices = try await TwoDevices()
        let bad = CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: "bad"))
        bad["photo"] = CKAsset(fileURL: folder.url.appendingPathComponent("none"))
        let directory = CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: "directory"))
        directory["photo"] = CKAsset(fileURL: folder.url)
        let good = CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: "good"))
        good["photo"] = CKAsset(fileURL: try folder.file("a", photo))
        let results = try await devices.phone.modifyRecords(saving: [bad, directory, good], deleting: [])
        #expect(results.saveResults[bad.recordID]?.code == .assetFileNotFound)
        #expect(results.saveResults[directory.recordID]?.code == .assetFileNotFound)
        #expect(results.saveResults[good.recordID]?.isSuccess == true)

        // In an atomic zone the others aren't saved either.
        let lone = devices.record("lone")
        let broken = devices.record("broken")
        broken["photo"] = CKAsset(fileURL: folder.url.appendingPathComponent("none"))
        let atomic = try await devices.phone.modifyRecords(saving: [lone, broken], deleting: [])
        #expect(atomic.saveResults[lone.recordID]?.code == .batchRequestFailed)
        #expect(atomic.saveResults[broken.recordID]?.code == .assetFileNotFound)
    }

    @Test func aFileThatIsSetAgainDuringItsSaveStaysAChange() async throws {
        let devices = try await TwoDevices()
        let record = devices.record("1")
        let url = try folder.file("a", photo)
        record["photo"] = CKAsset(fileURL: url)
        devices.cloud.networkFault = { request in
            guard request.path.hasSuffix("records/modify") else { return .none }
            try? Data("new".utf8).write(to: url)
            record["photo"] = CKAsset(fileURL: url)
            return .none
        }
        try await devices.phone.save(record)
        devices.cloud.networkFault = nil
        #expect(record.changedKeys() == ["photo"])
        try await devices.phone.save(record)
        #expect(try contents(try await devices.laptop.record(for: record.recordID)) == Data("new".utf8))
    }

    @Test(arguments: [RequestKind.uploadAsset, .downloadAsset, .prepareUpload])
    func networkErrorsOfAFileHaveTheirCodes(kind: RequestKind) async throws {
        let devices = try await TwoDevices()
        let record = devices.record("1")
        record["photo"] = CKAsset(fileURL: try folder.file("a", photo))
        devices.cloud.fail(kind, with: .networkFailure)
        if kind == .downloadAsset {
            try await devices.phone.save(record)
            #expect(
                await codeThrown { try await devices.laptop.record(for: record.recordID) } == .networkFailure)
        } else {
            #expect(await codeThrown { try await devices.phone.save(record) } == .networkFailure)
            #expect(record.recordChangeTag == nil && record.changedKeys() == ["photo"])
            try await devices.phone.save(record)
        }
        #expect(try contents(try await devices.laptop.record(for: record.recordID)) == photo)
    }

    @Test func aFileDeletedInTheMeantimeIsAnErrorOfItsRecord() async throws {
        let devices = try await TwoDevices()
        let record = devices.record("1")
        record["photo"] = CKAsset(fileURL: try folder.file("a", photo))
        try await devices.phone.save(record)
        devices.cloud.fail(.downloadAsset, with: .unknownItem)
        #expect(
            await codeThrown { try await devices.laptop.record(for: record.recordID) } == .assetNotAvailable)
    }

    @Test func anInterruptedDownloadContinuesWhereItEnded() async throws {
        let cache = AssetCache(folder: folder.url.appendingPathComponent("cache"))
        let bytes = photo
        let transport = CuttingTransport(bytes: bytes, cutAt: 150_000)
        var connection = CloudConnection(transport: transport, execution: .inline, webAuthToken: "t")
        connection.assetCache = cache
        let database = CKContainer(identifier: "iCloud.test", connection: connection).privateCloudDatabase
        #expect(
            await codeThrown { try await database.record(for: CKRecord.ID(recordName: "1")) }
                == .networkFailure)
        let record = try await database.record(for: CKRecord.ID(recordName: "1"))
        #expect(try contents(record) == bytes)
        #expect(transport.ranges.all == ["", "bytes=150000-"])
    }

    @Test func aFileThatIsNotTheOneOfTheRecordIsRefusedAndFetchedAnew() async throws {
        let cache = AssetCache(folder: folder.url.appendingPathComponent("cache"))
        let transport = CuttingTransport(bytes: photo, cutAt: nil)
        transport.damages.withLock { $0 = 1 }
        var connection = CloudConnection(transport: transport, execution: .inline, webAuthToken: "t")
        connection.assetCache = cache
        let database = CKContainer(identifier: "iCloud.test", connection: connection).privateCloudDatabase
        #expect(
            await codeThrown { try await database.record(for: CKRecord.ID(recordName: "1")) }
                == .assetNotAvailable)
        #expect(try contents(try await database.record(for: CKRecord.ID(recordName: "1"))) == photo)
        #expect(transport.ranges.all == ["", ""])
    }

    @Test func theFolderOfFetchedFilesIsBounded() async throws {
        let devices = try await TwoDevices()
        let cacheURL = folder.url.appendingPathComponent("cache")
        try FileManager.default.createDirectory(at: cacheURL, withIntermediateDirectories: true)
        let old = cacheURL.appendingPathComponent("old")
        try photo.write(to: old)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: old.path)
        let laptop = devices.cloud.device(
            user: "ada", assetCache: AssetCache(folder: cacheURL, bytesMax: 300_000))
        let record = devices.record("1")
        record["photo"] = CKAsset(fileURL: try folder.file("a", photo))
        try await devices.phone.save(record)
        let fetched = try await laptop.container.privateCloudDatabase.record(for: record.recordID)
        #expect(try contents(fetched) == photo)
        #expect(!FileManager.default.fileExists(atPath: old.path))
        #expect(try FileManager.default.contentsOfDirectory(atPath: cacheURL.path).count == 1)
    }
}
