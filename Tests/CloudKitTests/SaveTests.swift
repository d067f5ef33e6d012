import CloudKit
import CloudKitTesting
import Foundation
import Testing

@Suite struct SaveTests {
    @Test(arguments: Cloud.allCases) func aSavedRecordHasATagAndNoChanges(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let record = devices.record("1", title: "eggs")
        let saved = try await devices.phone.save(record)
        #expect(saved === record)
        #expect(record.recordChangeTag != nil && record.changedKeys().isEmpty)
        #expect(
            record.modificationDate != nil
                && record.lastModifiedUserRecordID?.recordName == CKCurrentUserDefaultName)
        record["title"] = "milk"
        let tag = record.recordChangeTag
        try await devices.phone.save(record)
        #expect(record.recordChangeTag != tag)
    }

    @Test(arguments: Cloud.allCases) func onlyChangedKeysAreSent(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let record = devices.record("1", title: "eggs")
        record["count"] = 1
        try await devices.phone.save(record)
        record["count"] = 2
        try await devices.phone.save(record)
        let body = try devices.lastBody(.modifyRecords)
        #expect(body.contains("count") && !body.contains("title"))
        #expect(try await devices.laptop.record(for: record.recordID)["title"] as? String == "eggs")
    }

    @Test(arguments: Cloud.allCases) func aKeySetToNilOnARecordFromSystemFieldsIsClearedOnTheServer(
        way: Cloud
    ) async throws {
        let devices = try await TwoDevices(way)
        let record = devices.record("1", title: "eggs")
        record["count"] = 1
        try await devices.phone.save(record)

        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        let decoded = try #require(CKRecord(coder: unarchiver))
        #expect(decoded.recordChangeTag == record.recordChangeTag)
        decoded["title"] = nil
        #expect(decoded.changedKeys() == ["title"])
        try await devices.phone.save(decoded)

        #expect(try devices.lastBody(.modifyRecords).contains(#""title":{"value":null}"#))
        let fetched = try await devices.laptop.record(for: record.recordID)
        #expect(fetched.allKeys() == ["count"])
    }

    @Test(arguments: Cloud.allCases) func aConflictShowsTheThreeRecords(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let record = devices.record("1", title: "eggs")
        record["count"] = 1
        try await devices.phone.save(record)
        let other = try await devices.laptop.record(for: record.recordID)
        other["title"] = "milk"
        try await devices.laptop.save(other)

        record["count"] = 2
        do {
            try await devices.phone.save(record)
            Issue.record("a stale record was saved")
        } catch let error as CKError {
            #expect(error.code == .serverRecordChanged)
            #expect(error.serverRecord?["title"] as? String == "milk")
            #expect(error.serverRecord?["count"] as? Int == 1)
            #expect(error.serverRecord?.recordChangeTag == other.recordChangeTag)
            #expect(error.clientRecord?["count"] as? Int == 2)
            #expect(error.clientRecord?.changedKeys() == ["count"])
            #expect(error.ancestorRecord?["count"] as? Int == 1)
            #expect(error.ancestorRecord?["title"] as? String == "eggs")
            #expect(error.ancestorRecord?.recordChangeTag == record.recordChangeTag)
        }
        #expect(record.changedKeys() == ["count"])
    }

    @Test(arguments: Cloud.allCases) func aConflictOverANewRecordHasNoAncestor(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        try await devices.phone.save(devices.record("1", title: "eggs"))
        do {
            try await devices.laptop.save(devices.record("1", title: "milk"))
            Issue.record("a record was created twice")
        } catch let error as CKError {
            #expect(error.code == .serverRecordChanged && error.ancestorRecord == nil)
            #expect(error.serverRecord?["title"] as? String == "eggs")
            #expect(error.clientRecord?["title"] as? String == "milk")
        }
    }

    @Test(arguments: Cloud.allCases) func aSaveOfARecordThatWasDeletedIsUnknownItem(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let record = devices.record("1", title: "eggs")
        try await devices.phone.save(record)
        try await devices.laptop.deleteRecord(withID: record.recordID)
        record["title"] = "milk"
        #expect(await codeThrown { try await devices.phone.save(record) } == .unknownItem)
    }

    @Test(arguments: Cloud.allCases) func theOtherPoliciesOverwriteAndLeaveWhatOnlyTheServerHas(way: Cloud)
        async throws
    {
        let devices = try await TwoDevices(way)
        let record = devices.record("1", title: "eggs")
        record["count"] = 1
        try await devices.phone.save(record)
        let other = try await devices.laptop.record(for: record.recordID)
        other["title"] = "milk"
        other["note"] = "server"
        try await devices.laptop.save(other)

        record["count"] = 2
        let changed = try await devices.phone.modifyRecords(
            saving: [record], deleting: [], savePolicy: .changedKeys)
        #expect(changed.saveResults[record.recordID]?.isSuccess == true)
        var fetched = try await devices.laptop.record(for: record.recordID)
        #expect(fetched["title"] as? String == "milk" && fetched["count"] as? Int == 2)

        try await devices.laptop.save(fetched)
        try await devices.phone.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
        fetched = try await devices.laptop.record(for: record.recordID)
        #expect(fetched["title"] as? String == "eggs" && fetched["note"] as? String == "server")
    }

    @Test(arguments: Cloud.allCases) func anAtomicBatchIsSavedWholeOrNotAtAll(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        try await devices.phone.save(devices.record("1", title: "eggs"))
        let result = try await devices.phone.modifyRecords(
            saving: [devices.record("1", title: "milk"), devices.record("2", title: "bread")],
            deleting: [devices.id("3")])
        #expect(result.saveResults[devices.id("1")]?.code == .serverRecordChanged)
        #expect(result.saveResults[devices.id("2")]?.code == .batchRequestFailed)
        #expect(result.deleteResults[devices.id("3")]?.code == .batchRequestFailed)
        #expect(await codeThrown { try await devices.laptop.record(for: devices.id("2")) } == .unknownItem)

        let apart = try await devices.phone.modifyRecords(
            saving: [devices.record("1", title: "milk"), devices.record("2", title: "bread")], deleting: [],
            atomically: false)
        #expect(apart.saveResults[devices.id("1")]?.code == .serverRecordChanged)
        #expect(apart.saveResults[devices.id("2")]?.isSuccess == true)
    }

    @Test(arguments: Cloud.allCases) func aZonesFailureLeavesTheOtherZonesOfTheRequestAlone(way: Cloud)
        async throws
    {
        let devices = try await TwoDevices(way)
        let lost = CKRecord(
            recordType: "todo",
            recordID: CKRecord.ID(recordName: "1", zoneID: CKRecordZone.ID(zoneName: "nowhere")))
        let result = try await devices.phone.modifyRecords(
            saving: [lost, devices.record("1", title: "eggs")], deleting: [])
        #expect(result.saveResults[lost.recordID]?.code == .zoneNotFound)
        #expect(result.saveResults[devices.id("1")]?.isSuccess == true)
        #expect(await codeThrown { try await devices.phone.record(for: lost.recordID) } == .zoneNotFound)
    }

    @Test(arguments: Cloud.allCases) func whatNoFieldCanHoldIsRefusedBeforeAnythingIsSentAndNamesTheKey(
        way: Cloud
    ) async throws {
        let devices = try await TwoDevices(way)
        let before = devices.cloud.requestCount(.modifyRecords)
        for (value, code) in [
            (Double.nan, CKError.Code.invalidArguments), (UInt64.max, .invalidArguments),
            ([[1]], .invalidArguments), (["a" as NSString, 1 as NSNumber] as NSArray, .invalidArguments),
            (CKAsset(fileURL: URL(fileURLWithPath: "/nowhere")), .assetFileNotFound),
        ] as [(any CKRecordValueProtocol, CKError.Code)] {
            let record = devices.record("1")
            record["bad"] = value
            let result = try await devices.phone.modifyRecords(
                saving: [record, devices.record("2")], deleting: [])
            #expect(result.saveResults[devices.id("1")]?.code == code)
            #expect(result.saveResults[devices.id("2")]?.code == .batchRequestFailed)
            if case .failure(let error)? = result.saveResults[devices.id("1")] {
                #expect((error as? CKError)?.localizedDescription.contains("bad") == true)
            }
        }
        #expect(devices.cloud.requestCount(.modifyRecords) == before)
    }

    @Test(arguments: Cloud.allCases) func moreThanTheLimitIsRefusedAndALimitfulIsNot(way: Cloud) async throws
    {
        let devices = try await TwoDevices(way)
        let records = (0...400).map { devices.record("\($0)", title: "x") }
        #expect(
            await codeThrown { try await devices.phone.modifyRecords(saving: records, deleting: []) }
                == .limitExceeded)
        let limitful = Array(records.prefix(400))
        if !way.hasOurKeys {
            // Apple's servers take 200 at a time, and an atomic batch can't be sent in parts.
            #expect(
                await codeThrown { try await devices.phone.modifyRecords(saving: limitful, deleting: []) }
                    == .limitExceeded)
        }
        let result = try await devices.phone.modifyRecords(
            saving: limitful, deleting: [], atomically: way.hasOurKeys)
        #expect(result.saveResults.count == 400 && result.saveResults.values.allSatisfy(\.isSuccess))
        #expect(
            await codeThrown {
                try await devices.phone.modifyRecords(saving: [records[0]], deleting: [records[0].recordID])
            } == .invalidArguments)
    }

    @Test(arguments: Cloud.allCases) func deletingWhatIsNotThereSucceeds(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        #expect(try await devices.phone.deleteRecord(withID: devices.id("9")) == devices.id("9"))
    }

    @Test(arguments: Cloud.allCases) func whatWasSetDuringASaveStaysAChange(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let record = devices.record("1", title: "eggs")
        devices.cloud.networkFault = { _ in
            record["title"] = "milk"
            return .none
        }
        try await devices.phone.save(record)
        devices.cloud.networkFault = nil
        #expect(record.changedKeys() == ["title"])
        try await devices.phone.save(record)
        #expect(try await devices.laptop.record(for: record.recordID)["title"] as? String == "milk")
    }

    @Test(arguments: Cloud.allCases) func desiredKeysChooseTheFields(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let record = devices.record("1", title: "eggs")
        record["count"] = 1
        try await devices.phone.save(record)
        func keys(_ desired: [String]?) async throws -> [String]? {
            let results = try await devices.laptop.records(for: [record.recordID], desiredKeys: desired)
            return try results[record.recordID]?.get().allKeys()
        }
        #expect(try await keys(nil) == ["count", "title"])
        #expect(try await keys(["title"]) == ["title"])
        #expect(try await keys([]) == [])
    }

    @Test(arguments: Cloud.allCases) func aParentTravelsWithItsRecord(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let parent = devices.record("parent"), child = devices.record("child")
        child.setParent(parent)
        try await devices.phone.modifyRecords(saving: [child, parent], deleting: [])
        let fetched = try await devices.laptop.record(for: child.recordID)
        #expect(fetched.parent == CKRecord.Reference(recordID: parent.recordID, action: .none))
        #expect(
            await codeThrown { try await devices.phone.deleteRecord(withID: parent.recordID) }
                == .referenceViolation)
    }
}
