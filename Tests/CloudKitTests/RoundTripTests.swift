import CloudKit
import CloudKitTesting
import CoreLocation
import Foundation
import Testing

@Suite struct RoundTripTests {
    let zoneID = CKRecordZone.ID(zoneName: "todos")

    /// Two devices of one user, and a zone.
    func devices(_ way: Cloud) async throws -> (phone: CKDatabase, laptop: CKDatabase) {
        let cloud = try way.cloud()
        let phone = cloud.device(user: "ada").container.privateCloudDatabase
        let laptop = cloud.device(user: "ada").container.privateCloudDatabase
        try await phone.save(CKRecordZone(zoneID: zoneID))
        return (phone, laptop)
    }

    func record(_ name: String) -> CKRecord {
        CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
    }

    @Test(arguments: Cloud.allCases) func everyTypeOfValueComesBackOnTheOtherDevice(way: Cloud) async throws {
        let (phone, laptop) = try await devices(way)
        try await phone.save(record("target"))
        let record = record("1")
        let date = Date(timeIntervalSince1970: 1_700_000_000.123)
        let place = CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: 52.5, longitude: 13.4), altitude: 34,
            horizontalAccuracy: 5, verticalAccuracy: 6, course: 7, speed: 8, timestamp: date)
        let link = CKRecord.Reference(
            recordID: CKRecord.ID(recordName: "target", zoneID: zoneID), action: .deleteSelf)
        record["string"] = "Ünïcode 🥚 \u{0}\n\""
        record["int"] = Int.min
        record["large"] = Int64.max
        record["double"] = 0.1
        record["bool"] = true
        record["date"] = date
        record["data"] = Data([0, 255, 1])
        record["place"] = place
        record["link"] = link
        record["strings"] = ["a", ""]
        record["ints"] = [1, -2]
        record["doubles"] = [1.5, 2]
        record["mixed"] = [NSNumber(value: 1), NSNumber(value: 2.5)] as NSArray
        record["dates"] = [date]
        record["datas"] = [Data([9])]
        record["places"] = [place]
        record["links"] = [link]
        record.encryptedValues["secret"] = "s"
        record.encryptedValues["secretData"] = Data([4])
        try await phone.save(record)

        let fetched = try await laptop.record(for: record.recordID)
        #expect(fetched.allKeys() == record.allKeys())
        #expect(fetched["string"] as? String == "Ünïcode 🥚 \u{0}\n\"")
        #expect(fetched["int"] as? Int == Int.min)
        #expect(fetched["large"] as? Int64 == Int64.max)
        #expect(fetched["double"] as? Double == 0.1)
        #expect(fetched["bool"] as? Bool == true)
        #expect(fetched["date"] as? Date == date)
        #expect(fetched["data"] as? Data == Data([0, 255, 1]))
        #expect(fetched["place"] as? CLLocation == place)
        #expect(fetched["link"] as? CKRecord.Reference == link)
        #expect(fetched["strings"] as? [String] == ["a", ""])
        #expect(fetched["ints"] as? [Int] == [1, -2])
        #expect(fetched["doubles"] as? [Double] == [1.5, 2])
        #expect(fetched["mixed"] as? [Double] == [1, 2.5])
        #expect(fetched["dates"] as? [Date] == [date])
        #expect(fetched["datas"] as? [Data] == [Data([9])])
        #expect(fetched["places"] as? [CLLocation] == [place])
        #expect(fetched["links"] as? [CKRecord.Reference] == [link])
        #expect(fetched.encryptedValues["secret"] as? String == "s")
        #expect(fetched.encryptedValues["secretData"] as? Data == Data([4]))
        #expect(fetched.changedKeys().isEmpty)
        #expect(fetched.recordChangeTag == record.recordChangeTag)
        #expect(fetched.creationDate == record.creationDate && fetched.creationDate != nil)
        #expect(fetched.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
    }
}
