import CloudKit
import CloudKitTesting
import CoreLocation
import Foundation
import Testing

/// What a record and the values around it do, symbol by symbol.
@Suite struct RecordSymbolTests {
    private let record = CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: "42"))

    @Test func aNewRecordKnowsItsNameAndTypeAndNothingOfTheServer() {
        #expect(record.recordType == "todo" && record.recordID.recordName == "42")
        #expect(record.recordID.zoneID == CKRecordZone.ID.default && record.recordChangeTag == nil)
        #expect(record.creationDate == nil && record.modificationDate == nil)
        #expect(record.creatorUserRecordID == nil && record.lastModifiedUserRecordID == nil)
        #expect(record.share == nil && record.parent == nil)
        #expect(record.allKeys().isEmpty && record.changedKeys().isEmpty && record.allTokens().isEmpty)
        #expect(CKRecord(recordType: "todo").recordID != CKRecord(recordType: "todo").recordID)
    }

    @Test func everyValueTypeRoundTripsAsItsOwnAndItsFoundationType() throws {
        let date = Date(timeIntervalSinceReferenceDate: 5)
        record["string"] = "s"
        record["int"] = -5
        record["int8"] = Int8(-8)
        record["int16"] = Int16(-16)
        record["int32"] = Int32(-32)
        record["int64"] = Int64.min
        record["uint"] = UInt(5)
        record["uint8"] = UInt8(8)
        record["uint16"] = UInt16(16)
        record["uint32"] = UInt32(32)
        record["uint64"] = UInt64(64)
        record["float"] = Float(1.5)
        record["double"] = 2.5
        record["bool"] = true
        record["date"] = date
        record["data"] = Data([1])
        let expected: [(String, Int64)] = [
            ("int", -5), ("int8", -8), ("int16", -16), ("int32", -32), ("int64", .min), ("uint", 5),
            ("uint8", 8), ("uint16", 16), ("uint32", 32), ("uint64", 64), ("bool", 1),
        ]
        for (key, number) in expected {
            #expect(record[key] as? Int64 == number, "\(key)")
            #expect((record.object(forKey: key) as? NSNumber)?.int64Value == number, "\(key)")
        }
        #expect(record["float"] as? Double == 1.5 && record["double"] as? Float == 2.5)
        #expect(record["string"] as? NSString == "s" && record["date"] as? NSDate == date as NSDate)
        #expect(record["data"] as? NSData == Data([1]) as NSData && record["bool"] as? NSNumber == true)
        let all: [any CKRecordValueProtocol] = ["s", 5, 2.5, true, date, Data([1])]
        record["all"] = NSArray(array: all.map { $0 as AnyObject })
        #expect((record["all"] as? NSArray)?.count == 6)
        let value: any CKRecordValue = "x" as NSString
        record["value"] = value
        #expect(record["value"] as? String == "x")
    }

    @Test func listsOfEveryTypeComeBackAsLists() {
        let one = CKRecord.Reference(recordID: CKRecord.ID(recordName: "1"), action: .none)
        let place = CLLocation(latitude: 1, longitude: 2)
        record["strings"] = ["a", "b"]
        record["ints"] = [1, 2]
        record["doubles"] = [1.5]
        record["dates"] = [Date(timeIntervalSinceReferenceDate: 1)]
        record["datas"] = [Data([1])]
        record["references"] = [one]
        record["places"] = [place]
        record["objects"] = ["a", "b"] as NSArray
        #expect(record["strings"] as? [String] == ["a", "b"] && record["ints"] as? [Int] == [1, 2])
        #expect(record["doubles"] as? [Double] == [1.5] && record["datas"] as? [Data] == [Data([1])])
        #expect(record["dates"] as? [Date] == [Date(timeIntervalSinceReferenceDate: 1)])
        #expect(record["references"] as? [CKRecord.Reference] == [one])
        #expect((record["places"] as? [CLLocation])?.first?.coordinate.latitude == 1)
        #expect(record["objects"] as? [String] == ["a", "b"])
        let typed: [String]? = record["strings"]
        #expect(typed == ["a", "b"])
    }

    @Test func objectsAreReadAndSetInTheWordsOfOlderCode() {
        let title: String? = "x"
        record.setObject(title as (any CKRecordValue)?, forKey: "title")
        record.setObject(5 as any CKRecordValue, forKey: "n")
        record.setObject(true as NSNumber, forKey: "done")
        record.setObject(["a"] as any CKRecordValue, forKey: "tags")
        record.setObject(Date(timeIntervalSinceReferenceDate: 1) as NSDate, forKey: "due")
        #expect(record.object(forKey: "title") as? String == "x" && record.object(forKey: "n") as? Int == 5)
        #expect(
            record.object(forKey: "done") as? Bool == true
                && record.object(forKey: "tags") as? [String] == ["a"])
        #expect((record.object(forKey: "due") as? Date)?.timeIntervalSinceReferenceDate == 1)
        #expect(record.object(forKey: "title") as? NSString == "x" && record.object(forKey: "none") == nil)
        record.setObject(nil, forKey: "title")
        #expect(record.object(forKey: "title") == nil && record.changedKeys().contains("title"))
    }

    @Test func keyValueCodingReadsAndWritesTheFields() {
        record.setValue("x", forKey: "title")
        record.setValue(3, forKey: "n")
        #expect(record.value(forKey: "title") as? String == "x" && record["n"] as? Int == 3)
        record.setValue(nil, forKey: "title")
        #expect(record.value(forKey: "title") == nil && record.allKeys() == ["n"])
        #expect(record.value(forKey: "none") == nil)
        record.setValuesForKeys(["title": "y", "n": NSNull(), "done": true])
        #expect(record["title"] as? String == "y" && record["n"] == nil && record["done"] as? Bool == true)
        let values = record.dictionaryWithValues(forKeys: ["title", "n"])
        #expect(values["title"] as? String == "y" && values["n"] is NSNull && values.count == 2)
    }

    @Test func tokensAreTheWordsOfTheTextFields() {
        record["title"] = "Pick up\tEGGS\n today"
        record["n"] = 3
        record["also"] = "Milk"
        record.encryptedValues["secret"] = "hidden words"
        #expect(record.allTokens() == ["milk", "pick", "up", "eggs", "today"])
    }

    @Test func aRecordIsWalkedWithItsIteratorInTheOrderOfItsKeys() {
        record["b"] = 2
        record["a"] = "1"
        var iterator: CKRecordKeyValueIterator = record.makeIterator()
        let first = iterator.next()
        #expect(first?.0 == "a" && first?.1 as? String == "1")
        let second = iterator.next()
        #expect(second?.0 == "b" && second?.1 as? Int == 2 && iterator.next() == nil)
    }

    @Test func encryptedFieldsAreASetOfFieldsOfTheirOwn() {
        let fields: any CKRecordKeyValueSetting = record.encryptedValues
        fields.setObject("s" as NSString, forKey: "secret")
        record.encryptedValues["n"] = 5
        #expect(fields.object(forKey: "secret") as? String == "s")
        #expect(fields.allKeys() == ["n", "secret"] && fields.changedKeys() == ["n", "secret"])
        let number: Int? = record.encryptedValues["n"]
        let untyped: (any CKRecordValueProtocol)? = record.encryptedValues["n"]
        #expect(number == 5 && untyped as? Int == 5)
        fields.setObject(nil, forKey: "n")
        #expect(fields.allKeys() == ["secret"] && record.allKeys().isEmpty && record.changedKeys().isEmpty)
    }

    @Test func parentsAreSetByRecordByIDAndByReference() {
        let list = CKRecord(recordType: "list", recordID: CKRecord.ID(recordName: "list"))
        record.setParent(list)
        #expect(record.parent == CKRecord.Reference(recordID: list.recordID, action: .none))
        record.setParent(CKRecord.ID(recordName: "other"))
        #expect(
            record.parent?.recordID.recordName == "other"
                && record.parent?.action == CKRecord.ReferenceAction.none)
        record.parent = CKRecord.Reference(record: list, action: .none)
        #expect(record.parent?.recordID == list.recordID)
        let none: CKRecord? = nil
        record.setParent(none)
        #expect(record.parent == nil)
    }

    @Test func aReferenceIsEqualToOneWithTheSameTargetAndAction() {
        let id = CKRecord.ID(recordName: "1")
        let reference = CKRecord.Reference(recordID: id, action: .deleteSelf)
        #expect(reference == CKRecord.Reference(recordID: id, action: CKRecord.ReferenceAction.deleteSelf))
        #expect(reference != CKRecord.Reference(recordID: id, action: .none))
        #expect(reference.hash == CKRecord.Reference(recordID: id, action: .deleteSelf).hash)
        #expect(reference.action == .deleteSelf && reference.recordID == id)
        #expect(reference.description.contains("deleteSelf"))
    }

    @Test func anAssetIsItsFile() {
        let asset = CKAsset(fileURL: URL(filePath: "/tmp/a.txt"))
        #expect(asset.fileURL?.path == "/tmp/a.txt")
        let same = CKAsset(fileURL: URL(filePath: "/tmp/a.txt"))
        #expect(asset == same && asset.hash == same.hash)
        #expect(asset != CKAsset(fileURL: URL(filePath: "/tmp/b.txt")))
    }

    @Test func aZoneAndItsNames() {
        let zone = CKRecordZone(zoneName: "todos")
        #expect(zone.zoneID == CKRecordZone.ID(zoneName: "todos") && zone.capabilities.isEmpty)
        #expect(zone.zoneID.ownerName == CKCurrentUserDefaultName && zone.share == nil)
        #expect(CKRecordZone.default().zoneID == CKRecordZone.ID.default)
        #expect(CKRecordZone.ID().zoneName == CKRecordZone.ID.defaultZoneName)
        #expect(zone.encryptionScope == .perRecord && zone.description.contains("todos"))
        let copy = zone.copy() as? CKRecordZone
        copy?.encryptionScope = .perZone
        #expect(zone.encryptionScope == .perRecord && copy?.encryptionScope == .perZone && copy == zone)
        #expect(zone.hash == CKRecordZone(zoneName: "todos").hash && zone != CKRecordZone(zoneName: "other"))
    }

    @Test(arguments: Cloud.allCases) func aRemovedParentIsRemovedOnTheServer(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let (list, child) = (devices.record("list"), devices.record("child", title: "x"))
        child.setParent(list)
        _ = try await devices.phone.modifyRecords(saving: [list, child], deleting: [])
        let fetched = try await devices.laptop.record(for: child.recordID)
        #expect(fetched.parent?.recordID == list.recordID)
        let code = await codeThrown { try await devices.laptop.deleteRecord(withID: list.recordID) }
        #expect(code == .referenceViolation)
        // Without a word of the parent it stays.
        fetched["title"] = "y"
        try await devices.laptop.save(fetched)
        #expect(try await devices.phone.record(for: child.recordID).parent?.recordID == list.recordID)
        fetched.parent = nil
        try await devices.laptop.save(fetched)
        let orphan = try await devices.phone.record(for: child.recordID)
        #expect(orphan.parent == nil && orphan["title"] as? String == "y")
        try await devices.phone.deleteRecord(withID: list.recordID)
    }

    @Test(arguments: Cloud.allCases) func aSavedZoneKnowsWhatItCanDo(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let custom = try await devices.phone.recordZone(for: devices.zoneID)
        #expect(custom.capabilities.isSuperset(of: [.fetchChanges, .atomic]))
        let standard = try await devices.phone.recordZone(for: .default)
        #expect(standard.capabilities.isDisjoint(with: [.sharing, .zoneWideSharing]))
    }
}

/// What raises an exception on Apple's platforms fails at the save here: a subscript can't throw.
@Suite struct RefusedRecordTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let make: @Sendable (TwoDevices) -> CKRecord
    }

    private static func record(_ type: String = "todo", name: String = "42", _ zone: CKRecordZone.ID)
        -> CKRecord
    {
        CKRecord(recordType: type, recordID: CKRecord.ID(recordName: name, zoneID: zone))
    }

    private static func plain(_ devices: TwoDevices) -> CKRecord { devices.record("42") }

    private static let cases: [Case] = [
        Case(testDescription: "an empty record name") { record(name: "", $0.zoneID) },
        Case(testDescription: "a record name that begins with _") { record(name: "_a", $0.zoneID) },
        Case(testDescription: "a record name of 256 characters") {
            record(name: String(repeating: "a", count: 256), $0.zoneID)
        },
        Case(testDescription: "an empty type") { record("", $0.zoneID) },
        Case(testDescription: "a type that begins with a digit") { record("1todo", $0.zoneID) },
        Case(testDescription: "a type with a blank") { record("to do", $0.zoneID) },
        Case(testDescription: "a key that begins with _") {
            let record = plain($0)
            record["_mine"] = 1
            return record
        },
        Case(testDescription: "a key that is the name of a record's own property") {
            let record = plain($0)
            record["creationDate"] = 1
            return record
        },
        Case(testDescription: "a key with a dash") {
            let record = plain($0)
            record["a-b"] = 1
            return record
        },
        Case(testDescription: "a key of 256 characters") {
            let record = plain($0)
            record[String(repeating: "a", count: 256)] = 1
            return record
        },
        Case(testDescription: "a value of another class") {
            let record = plain($0)
            record.setValue(URL(filePath: "/tmp"), forKey: "url")
            return record
        },
        Case(testDescription: "a number beyond 64 bits") {
            let record = plain($0)
            record["n"] = UInt64.max
            return record
        },
        Case(testDescription: "an encrypted reference") {
            let record = plain($0)
            record.encryptedValues["r"] = CKRecord.Reference(recordID: record.recordID, action: .none)
            return record
        },
        Case(testDescription: "an encrypted asset") {
            let record = plain($0)
            record.encryptedValues["f"] = CKAsset(fileURL: URL(filePath: "/tmp/none"))
            return record
        },
        Case(testDescription: "a key in both stores") {
            let record = plain($0)
            record["secret"] = 1
            record.encryptedValues["secret"] = 2
            return record
        },
        Case(testDescription: "a parent that would delete it") {
            let record = plain($0)
            record.parent = CKRecord.Reference(recordID: $0.id("list"), action: .deleteSelf)
            return record
        },
    ]

    @Test(arguments: cases) private func isRefusedBeforeAnythingIsSaved(_ refused: Case) async throws {
        let devices = try await TwoDevices()
        let good = devices.record("good", title: "x")
        let record = refused.make(devices)
        let results = try await devices.phone.modifyRecords(saving: [good, record], deleting: [])
        #expect(results.saveResults[record.recordID]?.code == .invalidArguments)
        #expect(results.saveResults[good.recordID]?.code == .batchRequestFailed)
        #expect(await codeThrown { try await devices.phone.record(for: good.recordID) } == .unknownItem)
    }

    @Test(arguments: ["", "_mine", String(repeating: "z", count: 256)])
    func aZoneWithAnImpossibleNameIsRefused(_ name: String) async throws {
        let devices = try await TwoDevices()
        let code = await codeThrown { try await devices.phone.save(CKRecordZone(zoneName: name)) }
        #expect(code == .invalidArguments)
    }

    @Test func aQuerySubscriptionWithoutATriggerIsRefused() async throws {
        let devices = try await TwoDevices()
        let subscription = CKQuerySubscription(
            recordType: "todo", predicate: NSPredicate(value: true), subscriptionID: "q", options: .firesOnce)
        #expect(await codeThrown { try await devices.phone.save(subscription) } == .invalidArguments)
    }
}
