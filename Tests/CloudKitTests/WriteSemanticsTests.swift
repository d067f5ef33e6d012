import CloudKit
import CloudKitTesting
import CoreLocation
import Foundation
import Testing

/// What a save and a deletion do to what the server has, beyond what `SaveTests` holds.
@Suite struct WriteSemanticsTests {
    private typealias Policy = CKModifyRecordsOperation.RecordSavePolicy
    private let folder: Folder

    init() throws { folder = try Folder() }

    /// How a record is fetched without its other fields.
    enum Fetch: CaseIterable {
        case lookup, changes, query

        func one(_ id: CKRecord.ID, keys: [String], from database: CKDatabase) async throws -> CKRecord {
            switch self {
            case .lookup:
                return try #require(try await database.records(for: [id], desiredKeys: keys)[id]).get()
            case .changes:
                let page = try await database.recordZoneChanges(
                    inZoneWith: id.zoneID, since: nil, desiredKeys: keys)
                return try #require(page.modificationResultsByID[id]).get().record
            case .query:
                let query = CKQuery(recordType: "todo", predicate: NSPredicate(format: "title == 'eggs'"))
                let found = try await database.records(matching: query, desiredKeys: keys)
                return try #require(found.matchResults.first { $0.0 == id }).1.get()
            }
        }
    }

    private func contents(_ record: CKRecord) throws -> Data {
        let photo: CKAsset? = record["photo"]
        return try Data(contentsOf: #require(photo?.fileURL))
    }

    private func fullRecord(_ devices: TwoDevices) throws -> CKRecord {
        let record = devices.record("1", title: "eggs")
        record["count"] = 1
        record["price"] = 0.1
        record["when"] = Date(timeIntervalSince1970: 1_000)
        record["raw"] = Data([1, 2])
        record["tags"] = ["a", "b"]
        record["place"] = CLLocation(latitude: 1, longitude: 2)
        record["friend"] = CKRecord.Reference(recordID: devices.id("parent"), action: .none)
        try folder.write("photo", "picture")
        record["photo"] = CKAsset(fileURL: URL(fileURLWithPath: folder.path + "/photo"))
        record.encryptedValues["secret"] = "word"
        record.setParent(devices.id("parent"))
        return record
    }

    @Test(arguments: Cloud.allCases, [0, 1, 2])
    func aRecordFetchedInPartLosesNoFieldUnderAnyPolicy(way: Cloud, policy: Int) async throws {
        let policy = try #require(Policy(rawValue: policy))
        for fetch in Fetch.allCases {
            for keys in [["count"], []] {
                let devices = try await TwoDevices(way)
                let full = try fullRecord(devices)
                let results = try await devices.phone.modifyRecords(
                    saving: [full, devices.record("parent")], deleting: [])
                _ = try #require(results.saveResults[full.recordID]).get()

                let part = try await fetch.one(full.recordID, keys: keys, from: devices.laptop)
                #expect(part.allKeys() == keys && part.recordChangeTag == full.recordChangeTag)
                part["count"] = 2
                part["new"] = "n"
                let saved = try await devices.laptop.modifyRecords(
                    saving: [part], deleting: [], savePolicy: policy)
                _ = try #require(saved.saveResults[part.recordID]).get()

                let now = try await devices.phone.record(for: full.recordID)
                #expect(now.allKeys() == (full.allKeys() + ["new"]).sorted())
                #expect(now["count"] as? Int == 2 && now["title"] as? String == "eggs")
                #expect(now["tags"] as? [String] == ["a", "b"] && now["raw"] as? Data == Data([1, 2]))
                #expect(now.encryptedValues["secret"] as? String == "word")
                #expect(now.parent?.recordID == devices.id("parent"))
                #expect(try contents(now) == Data("picture".utf8))
            }
        }
    }

    @Test(arguments: Cloud.allCases) func aKeySetToNilIsTakenAwayUnderEachPolicy(way: Cloud) async throws {
        for policy in [Policy.ifServerRecordUnchanged, .changedKeys, .allKeys] {
            let devices = try await TwoDevices(way)
            let record = devices.record("1", title: "eggs")
            record["count"] = 1
            try await devices.phone.save(record)
            record["count"] = nil
            try await devices.phone.modifyRecords(saving: [record], deleting: [], savePolicy: policy)
            let fetched = try await devices.laptop.record(for: record.recordID)
            #expect(fetched.allKeys() == ["title"] && record.changedKeys().isEmpty)
        }
    }

    @Test(arguments: Cloud.allCases) func theOtherPoliciesMakeARecordThatIsNotThere(way: Cloud) async throws {
        for policy in [Policy.changedKeys, .allKeys] {
            let devices = try await TwoDevices(way)
            let record = devices.record("1", title: "eggs")
            try await devices.phone.save(record)
            try await devices.laptop.deleteRecord(withID: record.recordID)
            record["title"] = "milk"
            let results = try await devices.phone.modifyRecords(
                saving: [record, devices.record("2", title: "new")], deleting: [], savePolicy: policy)
            #expect(!results.saveResults.values.contains { !$0.isSuccess })
            #expect(try await devices.laptop.record(for: record.recordID)["title"] as? String == "milk")
        }
    }

    @Test(arguments: Cloud.allCases) func oneFailureStopsItsOwnZoneAndNoOther(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let other = CKRecordZone(zoneName: "other")
        try await devices.phone.save(other)
        try await devices.phone.save(devices.record("1", title: "eggs"))
        func record(_ name: String, in zoneID: CKRecordZone.ID) -> CKRecord {
            CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
        }
        let stale = devices.record("1"), neighbour = devices.record("2")
        let elsewhere = record("1", in: other.zoneID), loose = record("1", in: .default)
        let results = try await devices.phone.modifyRecords(
            saving: [stale, neighbour, elsewhere, loose], deleting: [devices.id("3")])
        let codes = [stale, neighbour, elsewhere, loose].map { results.saveResults[$0.recordID]?.code }
        #expect(codes == [.serverRecordChanged, .batchRequestFailed, nil, nil])
        #expect(results.deleteResults[devices.id("3")]?.code == .batchRequestFailed)
        #expect(await codeThrown { try await devices.laptop.record(for: neighbour.recordID) } == .unknownItem)
        #expect(try await devices.laptop.record(for: elsewhere.recordID).recordType == "todo")

        // The default zone saves each for itself, also when an operation is atomic.
        let again = try await devices.phone.modifyRecords(
            saving: [record("1", in: .default), record("2", in: .default)], deleting: [])
        #expect(again.saveResults[loose.recordID]?.code == .serverRecordChanged)
        let fetched = try await devices.laptop.record(for: CKRecord.ID(recordName: "2"))
        #expect(fetched.recordChangeTag != nil)
    }

    @Test(arguments: Cloud.allCases) func aDeletionLooksAtNoTagAndNeedsItsZone(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let record = devices.record("1", title: "eggs")
        try await devices.phone.save(record)
        let other = try await devices.laptop.record(for: record.recordID)
        other["title"] = "milk"
        try await devices.laptop.save(other)
        try await devices.phone.deleteRecord(withID: record.recordID)
        #expect(await codeThrown { try await devices.laptop.record(for: record.recordID) } == .unknownItem)
        let nowhere = CKRecord.ID(recordName: "1", zoneID: CKRecordZone.ID(zoneName: "nowhere"))
        #expect(await codeThrown { try await devices.phone.deleteRecord(withID: nowhere) } == .zoneNotFound)
    }

    @Test(arguments: Cloud.allCases) func cascadedDeletionsAreNotifiedToOthersAndNotToTheDeleter(way: Cloud)
        async throws
    {
        let devices = try await TwoDevices(way)
        let list = devices.record("list"), item = devices.record("item"), part = devices.record("part")
        item["list"] = CKRecord.Reference(record: list, action: .deleteSelf)
        part["item"] = CKRecord.Reference(record: item, action: .deleteSelf)
        let loose = devices.record("loose")
        loose["list"] = CKRecord.Reference(record: list, action: .none)
        // The order in a request means nothing.
        try await devices.phone.modifyRecords(saving: [part, loose, item, list], deleting: [])
        let token = try await devices.laptop.recordZoneChanges(inZoneWith: devices.zoneID, since: nil)
            .changeToken

        let results = try await devices.phone.modifyRecords(saving: [], deleting: [list.recordID])
        #expect(Array(results.deleteResults.keys) == [list.recordID])
        let changes = try await devices.laptop.recordZoneChanges(inZoneWith: devices.zoneID, since: token)
        #expect(Set(changes.deletions.map(\.recordID.recordName)) == ["list", "item", "part"])
        #expect(try await devices.laptop.record(for: loose.recordID)["list"] != nil)
    }

    @Test(arguments: Cloud.allCases) func aParentHasToBeThereOrComeAlongAndAPlainTargetNot(way: Cloud)
        async throws
    {
        let devices = try await TwoDevices(way)
        let child = devices.record("child")
        child.setParent(devices.id("parent"))
        #expect(await codeThrown { try await devices.phone.save(child) } == .referenceViolation)
        let both = try await devices.phone.modifyRecords(
            saving: [child, devices.record("parent")], deleting: [])
        #expect(!both.saveResults.values.contains { !$0.isSuccess })

        let loose = devices.record("loose")
        loose["friend"] = CKRecord.Reference(recordID: devices.id("nobody"), action: .none)
        #expect(try await devices.phone.save(loose).recordChangeTag != nil)
        let away = devices.record("away")
        away["friend"] = CKRecord.Reference(recordID: CKRecord.ID(recordName: "x"), action: .none)
        #expect(await codeThrown { try await devices.phone.save(away) } == .invalidArguments)
        // Both together may go.
        let gone = try await devices.phone.modifyRecords(
            saving: [], deleting: [devices.id("parent"), child.recordID])
        #expect(!gone.deleteResults.values.contains { !$0.isSuccess })
    }

    @Test(arguments: Cloud.allCases) func aParentIsTakenAwayAndChanged(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let child = devices.record("child")
        child.setParent(devices.id("one"))
        try await devices.phone.modifyRecords(
            saving: [child, devices.record("one"), devices.record("two")], deleting: [])
        child.parent = CKRecord.Reference(recordID: devices.id("two"), action: .none)
        try await devices.phone.save(child)
        let fetched = try await devices.laptop.record(for: child.recordID)
        #expect(fetched.parent?.recordID == devices.id("two"))
        fetched.parent = nil
        try await devices.laptop.save(fetched)
        #expect(try await devices.phone.record(for: child.recordID).parent == nil)
        // Nothing hangs from it any more.
        try await devices.phone.deleteRecord(withID: devices.id("two"))
    }

    @Test(arguments: [Cloud.inProcess, .http]) func aRecordCannotBecomeItsOwnAncestor(way: Cloud) async throws
    {
        let devices = try await TwoDevices(way)
        let records = ["a", "b", "own", "child", "top"].map { devices.record($0) }
        for (record, parent) in zip(records, ["b", "a", "own", "top"]) {
            record.setParent(devices.id(parent))
        }
        func codes(_ results: [CKRecord.ID: Result<CKRecord, any Error>]) -> [String: CKError.Code?] {
            var codes: [String: CKError.Code?] = [:]
            for (recordID, result) in results {
                var code: CKError.Code?
                if case .failure(let error) = result { code = (error as? CKError)?.code }
                codes.updateValue(code, forKey: recordID.recordName)
            }
            return codes
        }
        let atOnce = try await devices.phone.modifyRecords(saving: records, deleting: [], atomically: false)
        #expect(
            codes(atOnce.saveResults) == [
                "a": .invalidArguments, "b": .invalidArguments, "own": .invalidArguments, "child": nil,
                "top": nil,
            ])
        // What closes the circle is on the server.
        let top = try await devices.laptop.record(for: devices.id("top"))
        top.setParent(devices.id("child"))
        let error = await #expect(throws: CKError.self) { try await devices.laptop.save(top) }
        #expect(error?.code == .invalidArguments && error?.localizedDescription.contains("'top'") == true)
        #expect(try await devices.phone.record(for: devices.id("top")).parent == nil)
        // In an atomic batch nothing is saved.
        let other = devices.record("other")
        let atomic = try await devices.laptop.modifyRecords(saving: [top, other], deleting: [])
        #expect(codes(atomic.saveResults) == ["top": .invalidArguments, "other": .batchRequestFailed])
    }

    // What Apple's servers say of it isn't known.
    @Test(arguments: [Cloud.inProcess, .http]) func tooLargeRequestsGetLimitExceededAndNothingIsSaved(
        way: Cloud
    ) async throws {
        let devices = try await TwoDevices(way)
        let large = devices.record("large")
        large["data"] = Data(repeating: 7, count: 1_100_000)
        #expect(await codeThrown { try await devices.phone.save(large) } == .limitExceeded)
        let records = (0..<30).map { number in
            let record = devices.record("\(number)")
            record["data"] = Data(repeating: 7, count: 100_000)
            return record
        }
        #expect(
            await codeThrown { try await devices.phone.modifyRecords(saving: records, deleting: []) }
                == .limitExceeded)
        let half = try await devices.phone.modifyRecords(saving: Array(records.prefix(10)), deleting: [])
        #expect(!half.saveResults.values.contains { !$0.isSuccess })
        let long = devices.record(String(repeating: "n", count: 256))
        #expect(await codeThrown { try await devices.phone.save(long) } == .invalidArguments)
        #expect(await codeThrown { try await devices.laptop.record(for: large.recordID) } == .unknownItem)
    }

    @Test(arguments: Cloud.allCases) func oneMoreThan750ThatGoAlongWithOneRecordIsRefused(way: Cloud)
        async throws
    {
        let devices = try await TwoDevices(way)
        let list = devices.record("list")
        try await devices.phone.save(list)
        func save(_ range: Range<Int>) async throws -> [CKError.Code?] {
            let items = range.map { number in
                let item = devices.record("\(number)")
                item["list"] = CKRecord.Reference(record: list, action: .deleteSelf)
                return item
            }
            let results = try await devices.phone.modifyRecords(
                saving: items, deleting: [], atomically: false)
            return Array(Set(results.saveResults.values.map(\.code)))
        }
        for start in stride(from: 0, to: 750, by: 150) {
            let codes = try await save(start..<start + 150)
            #expect(codes == [nil])
        }
        let codes = try await save(750..<751)
        #expect(codes.count == 1 && codes[0] != nil, "\(codes)")
        try await devices.phone.deleteRecord(withID: list.recordID)
        let rest = try await devices.laptop.recordZoneChanges(inZoneWith: devices.zoneID, since: nil)
        #expect(rest.modificationResultsByID.isEmpty)
    }

    @Test func aFileChangedDuringItsUploadIsReportedAsSuch() async throws {
        let devices = try await TwoDevices()
        let path = try folder.write("photo", String(repeating: "x", count: 300_000))
        let record = devices.record("1")
        record["photo"] = CKAsset(fileURL: URL(fileURLWithPath: path))
        let operation = CKModifyRecordsOperation(recordsToSave: [record])
        let folder = folder
        operation.perRecordProgressBlock = { _, _ in
            _ = try? folder.write("photo", String(repeating: "y", count: 300_001))
        }
        let said = Collected<CKError.Code?>()
        operation.perRecordSaveBlock = { said.append($1.code) }
        devices.phone.add(operation)
        #expect(said.all == [.assetFileModified] && record.recordChangeTag == nil)
    }

    @Test(arguments: Cloud.allCases) func anAssetIsReplacedAndTakenAway(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let record = devices.record("1")
        record["photo"] = CKAsset(fileURL: URL(fileURLWithPath: try folder.write("a", "first")))
        try await devices.phone.save(record)
        record["photo"] = CKAsset(fileURL: URL(fileURLWithPath: try folder.write("b", "second")))
        try await devices.phone.save(record)
        let fetched = try await devices.laptop.record(for: record.recordID)
        #expect(try contents(fetched) == Data("second".utf8))
        fetched["photo"] = nil
        try await devices.laptop.save(fetched)
        #expect(try await devices.phone.record(for: record.recordID).allKeys() == [])
    }
}
