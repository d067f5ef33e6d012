import CloudKit
import CoreLocation
import Foundation
import Testing

@Suite struct RecordTests {
    let record = CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: "42"))

    @Test func literalsAndTypedSubscriptsGiveBackWhatWasSet() {
        record["title"] = "Pick up eggs"
        record["count"] = 5
        record["price"] = 2.5
        record["done"] = true
        record["tags"] = ["home", "shop"]
        let date = Date(timeIntervalSinceReferenceDate: 700_000_000.123_456)
        record["due"] = date
        record["raw"] = Data([1, 2, 3])

        let title: String? = record["title"]
        let count: Int? = record["count"]
        let wide: Int64? = record["count"]
        let price: Double? = record["price"]
        let done: Bool? = record["done"]
        let tags: [String]? = record["tags"]
        #expect(title == "Pick up eggs" && count == 5 && wide == 5 && price == 2.5 && done == true)
        #expect(tags == ["home", "shop"])
        #expect(record["due"] as? Date == date)
        #expect(record["raw"] as? Data == Data([1, 2, 3]))
        #expect(record["title"] as? String == "Pick up eggs")
        #expect(record["count"] as? Int == 5)
        #expect(record["done"] as? Bool == true)
        #expect(record["tags"] as? [String] == ["home", "shop"])
        #expect(record["title"] as? Int == nil)
        #expect(record.object(forKey: "count") as? NSNumber == 5)
        #expect(record["title"] as? NSString == "Pick up eggs")
        record.setValue(7, forKey: "count")
        #expect(record.value(forKey: "count") as? Int == 7)
        record.setValue(nil, forKey: "count")
        #expect(record["count"] == nil)
        record["title"] = "x" as NSString
        record["title"] = "y" as any CKRecordValue
        record.setObject(5 as NSNumber, forKey: "count")
        #expect(record["title"] as? String == "y")
    }

    @Test func settingNilRemovesTheValueAndIsAChange() {
        record["title"] = "x"
        record["title"] = nil
        let missing: String? = nil
        record["other"] = missing
        #expect(record["title"] == nil)
        #expect(record.allKeys().isEmpty)
        #expect(record.changedKeys() == ["other", "title"])
    }

    @Test func theSystemFieldsArchiveCarriesNoValueAndNoChange() throws {
        record["title"] = "x"
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        let decoded = try #require(CKRecord(coder: unarchiver))
        #expect(decoded.recordID == record.recordID && decoded.recordType == "todo")
        #expect(decoded.allKeys().isEmpty && decoded.changedKeys().isEmpty)
        decoded["title"] = nil
        #expect(decoded.changedKeys() == ["title"])
    }

    @Test func theWholeArchiveCarriesFieldsAndChanges() throws {
        record["title"] = "x"
        record["place"] = CLLocation(latitude: 1, longitude: 2)
        record["link"] = CKRecord.Reference(recordID: CKRecord.ID(recordName: "7"), action: .deleteSelf)
        record["list"] = [1.5, 2.5]
        record["gone"] = nil
        record.encryptedValues["secret"] = "s"
        let data = try NSKeyedArchiver.archivedData(withRootObject: record, requiringSecureCoding: true)
        let decoded = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data))
        #expect(decoded.state.plain == record.state.plain)
        #expect(decoded.encryptedValues["secret"] as? String == "s")
    }

    @Test func aCopyIsIndependent() throws {
        record["title"] = "x"
        let copy = try #require(record.copy() as? CKRecord)
        copy["title"] = "y"
        #expect(record["title"] as? String == "x")
        #expect(copy.recordID == record.recordID)
    }

    @Test func encryptedValuesAreApartFromTheOthers() {
        record.encryptedValues["secret"] = "s"
        record["open"] = "o"
        #expect(record.allKeys() == ["open"] && record["secret"] == nil)
        #expect(record.encryptedValues.allKeys() == ["secret"])
        let secret: String? = record.encryptedValues["secret"]
        #expect(secret == "s")
    }

    @Test func aRecordIsASequenceOfItsFieldsInTheOrderOfTheirKeys() {
        record["b"] = 2
        record["a"] = "1"
        #expect(record.map(\.0) == ["a", "b"])
    }

    @Test func errorsMatchPatternsAndKeepTheirUserInfo() throws {
        do {
            throw CKError(.zoneNotFound, userInfo: [CKErrorRetryAfterKey: NSNumber(value: 2.5)])
        } catch CKError.zoneNotFound {
        }
        let error = CKError(.requestRateLimited, userInfo: [CKErrorRetryAfterKey: NSNumber(value: 2.5)])
        #expect(error.retryAfterSeconds == 2.5 && error.code == .requestRateLimited)
        #expect((error as NSError).domain == CKErrorDomain && (error as NSError).code == 7)
        let anyError: any Error = error
        #expect((anyError as? CKError)?.code == .requestRateLimited)
    }

    @Test func anArchiveThatHoldsSomethingElseGivesNoRecordAndNoCrash() throws {
        func decoded(_ fill: (NSKeyedArchiver) -> Void) throws -> CKRecord? {
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            fill(archiver)
            archiver.finishEncoding()
            let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
            unarchiver.requiresSecureCoding = true
            return CKRecord(coder: unarchiver)
        }
        #expect(try decoded { _ in } == nil)
        #expect(
            try decoded {
                $0.encode("todo" as NSString, forKey: "RecordType")
                $0.encode("42" as NSString, forKey: "RecordID")
            } == nil)
        #expect(
            try decoded {
                $0.encode(5 as NSNumber, forKey: "RecordType")
                $0.encode(CKRecord.ID(recordName: "42"), forKey: "RecordID")
            } == nil)
        let odd = try decoded {
            $0.encode("todo" as NSString, forKey: "RecordType")
            $0.encode(CKRecord.ID(recordName: "42"), forKey: "RecordID")
            $0.encode("none" as NSString, forKey: "ValueStore")
            $0.encode(["a"] as NSArray, forKey: "EncryptedValueStore")
            $0.encode(Date() as NSDate, forKey: "ETag")
        }
        #expect(odd == nil || odd?.allKeys() == [])
    }

    @Test func identitiesAndZonesSurviveTheirArchives() throws {
        func copy<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object? {
            let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
            return try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
        }
        let zoneID = CKRecordZone.ID(zoneName: "z", ownerName: "_bob")
        let recordID = CKRecord.ID(recordName: "r", zoneID: zoneID)
        let reference = CKRecord.Reference(recordID: recordID, action: .deleteSelf)
        let zone = CKRecordZone(zoneID: zoneID)
        #expect(try copy(zoneID) == zoneID)
        #expect(try copy(recordID) == recordID && (try copy(recordID)?.hash) == recordID.hash)
        #expect(try copy(reference) == reference)
        #expect(try copy(zone) == zone)
        #expect(recordID != CKRecord.ID(recordName: "r") && zoneID != CKRecordZone.ID(zoneName: "z"))
        #expect(Set([recordID, CKRecord.ID(recordName: "r", zoneID: zoneID)]).count == 1)
        #expect(CKRecord.ID().recordName != CKRecord.ID().recordName)
    }
}
