import CloudKit
import CloudKitTesting
import CoreLocation
import Foundation
import Testing

/// Values at the edges of what a field can hold, saved by one device and fetched by another.
@Suite struct ValueEdgeTests {
    /// What the other device finds of what `fill` set.
    private func fetched(_ way: Cloud, _ fill: (CKRecord, TwoDevices) -> Void) async throws -> CKRecord {
        let devices = try await TwoDevices(way)
        let record = devices.record("1")
        fill(record, devices)
        try await devices.phone.save(record)
        return try await devices.laptop.record(for: record.recordID)
    }

    @Test(arguments: Cloud.allCases) func numbersOfEveryWidthComeBackAsTheyAreCast(way: Cloud) async throws {
        let record = try await fetched(way) { record, _ in
            record["float"] = Float(0.1)
            record["whole"] = 5.0
            record["narrow"] = Int8.min
            record["unsigned"] = UInt64(Int64.max)
            record["byte"] = UInt8.max
            record["no"] = false
            record["number"] = NSNumber(value: true)
            record["decimal"] = NSDecimalNumber(string: "2.5")
            record["minus"] = -0.0
            record["huge"] = Double.greatestFiniteMagnitude
            record["tiny"] = Double.leastNonzeroMagnitude
            record["flags"] = [true, false]
            record["bytes"] = [UInt8(0), 255]
            record["floats"] = [Float(0.1), 2]
        }
        #expect(record["float"] as? Float == 0.1)
        #expect(record["whole"] as? Int == 5 && record["whole"] as? Double == 5)
        #expect(record["narrow"] as? Int8 == .min && record["narrow"] as? Int == -128)
        #expect(record["narrow"] as? UInt == nil)
        #expect(record["unsigned"] as? UInt64 == UInt64(Int64.max) && record["byte"] as? UInt8 == 255)
        #expect(record["no"] as? Bool == false && record["number"] as? Bool == true)
        #expect(record["number"] as? Int == 1 && (record["no"] as? NSNumber)?.boolValue == false)
        #expect(record["byte"] as? Bool == nil && record["byte"] as? Int8 == nil)
        #expect(record["decimal"] as? Double == 2.5)
        #expect((record["minus"] as? Double)?.sign == .minus)
        #expect(record["huge"] as? Double == .greatestFiniteMagnitude)
        #expect(record["tiny"] as? Double == .leastNonzeroMagnitude)
        #expect(record["flags"] as? [Bool] == [true, false] && record["flags"] as? [Int] == [1, 0])
        #expect(record["bytes"] as? [UInt8] == [0, 255] && record["floats"] as? [Float] == [0.1, 2])
    }

    @Test(arguments: Cloud.allCases) func whatIsEmptyComesBackEmpty(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let record = devices.record("1")
        record["tags"] = ["a"]
        record.encryptedValues["words"] = ["a"]
        try await devices.phone.save(record)
        record["tags"] = [String]()
        record["text"] = ""
        record["raw"] = Data()
        record.encryptedValues["words"] = [String]()
        record.encryptedValues["text2"] = ""
        record.encryptedValues["raw2"] = Data()
        try await devices.phone.save(record)
        let fetched = try await devices.laptop.record(for: record.recordID)
        #expect(fetched["tags"] as? [String] == [] && fetched["text"] as? String == "")
        #expect(fetched["raw"] as? Data == Data())
        #expect(fetched.encryptedValues["words"] as? [String] == [])
        #expect(fetched.encryptedValues["text2"] as? String == "")
        #expect(fetched.encryptedValues["raw2"] as? Data == Data())
    }

    @Test(arguments: Cloud.allCases) func everyTypeButFilesAndReferencesCanBeEncrypted(way: Cloud)
        async throws
    {
        let date = Date(timeIntervalSince1970: 1_700_000_000.123)
        let place = CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: 52.5, longitude: 13.4), altitude: 34,
            horizontalAccuracy: 5, verticalAccuracy: 6, timestamp: date)
        let record = try await fetched(way) { record, _ in
            let values = record.encryptedValues
            values["text"] = "s"
            values["count"] = 5
            values["done"] = true
            values["price"] = 2.5
            values["date"] = date
            values["place"] = place
            values["raw"] = Data([4])
            values["texts"] = ["a", "b"]
            values["counts"] = [1, 2]
            values["dates"] = [date]
            values["raws"] = [Data([1]), Data()]
        }
        let values = record.encryptedValues
        #expect(values["text"] as? String == "s" && values["count"] as? Int == 5)
        #expect(values["done"] as? Bool == true && values["price"] as? Double == 2.5)
        #expect(values["date"] as? Date == date && values["place"] as? CLLocation == place)
        #expect(values["raw"] as? Data == Data([4]) && values["texts"] as? [String] == ["a", "b"])
        #expect(values["counts"] as? [Int] == [1, 2] && values["dates"] as? [Date] == [date])
        #expect(values["raws"] as? [Data] == [Data([1]), Data()])
        #expect(record.allKeys().isEmpty)
    }

    @Test func aListOfFilesOrReferencesIsNotEncryptedEither() async throws {
        let devices = try await TwoDevices()
        let link = CKRecord.Reference(recordID: devices.id("2"), action: .none)
        for value in [[link], [CKAsset(fileURL: URL(fileURLWithPath: "/dev/null"))]] as [any CKRecordValue] {
            let record = devices.record("1")
            record.encryptedValues["secret"] = value
            do {
                try await devices.phone.save(record)
                Issue.record("it was saved")
            } catch let error as CKError {
                #expect(error.code == .invalidArguments)
                #expect(error.localizedDescription.contains("encrypted"))
            }
        }
    }

    /// Foundation's mutable classes are values of fields like the others; what becomes of them later doesn't matter.
    @Test func aMutableObjectIsTakenAsItIsWhenItIsSet() throws {
        let record = CKRecord(recordType: "todo")
        let text = NSMutableString(string: "a")
        let list = NSMutableArray(array: ["a"])
        let data = NSMutableData(bytes: [1, 2] as [UInt8], length: 2)
        record["text"] = text
        record["list"] = list
        record["data"] = data
        text.append("b")
        list.add("b")
        data.length = 0
        #expect(record["text"] as? String == "a" && record["list"] as? [String] == ["a"])
        #expect(record["data"] as? Data == Data([1, 2]))
        let slice = Data([0, 1, 2, 3])[2...]
        record["slice"] = slice
        #expect(record["slice"] as? Data == Data([2, 3]))
        #expect((record["slice"] as? Data)?.first == 2)
    }

    /// The wire has milliseconds: what is fetched is equal to what was saved when that was whole milliseconds, and it
    /// stays as it is from then on.
    @Test(arguments: Cloud.allCases) func aDateIsKeptToTheMillisecond(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let dates = [
            Date.distantPast, Date.distantFuture, Date(timeIntervalSince1970: -0.001),
            Date(timeIntervalSinceReferenceDate: 700_000_000.123_456),
        ]
        let record = devices.record("1")
        for (index, date) in dates.enumerated() { record["d\(index)"] = date }
        try await devices.phone.save(record)
        let first = try await devices.laptop.record(for: record.recordID)
        for (index, date) in dates.enumerated() {
            let fetched = try #require(first["d\(index)"] as? Date)
            #expect(abs(fetched.timeIntervalSince(date)) <= 0.000_5 + abs(date.timeIntervalSince1970) * 1e-15)
            first["d\(index)"] = fetched
        }
        try await devices.laptop.save(first)
        let second = try await devices.phone.record(for: record.recordID)
        for key in first.allKeys() { #expect(second[key] as? Date == first[key] as? Date) }
    }

    /// What apps write, in the forms in which they write it: what counts is that it compiles and means the same.
    @Test func theFormsOfRealAppsMeanWhatTheyMeanAtApple() throws {
        let record = CKRecord(recordType: "todo")
        let other = CKRecord(recordType: "todo")
        let none: String? = nil
        let some: String? = "x"
        record["none"] = none
        record["some"] = some as (any CKRecordValue)?
        record["count"] = (record["count"] as? Int ?? 0) + 1
        record["copied"] = record["count"]
        other["copied"] = record["copied"] as? Int64
        record["list"] = ["a", "b"] as any CKRecordValue
        record["array"] = NSArray(array: [1, 2])
        record["any"] = ["a", "b"] as [any CKRecordValue] as NSArray
        record["date"] = NSDate(timeIntervalSince1970: 1)
        record["n"] = 5 as NSNumber
        record.setObject("s" as NSString, forKey: "set")
        record.setObject(nil, forKey: "n")
        record.setValue(["k"], forKey: "values")
        let title = record["some"] ?? "untitled"
        let typed: Date = try #require(record["date"])
        let list = record["list"] as! [String]
        #expect(title as? String == "x" && typed == Date(timeIntervalSince1970: 1) && list.count == 2)
        #expect(record["none"] == nil && record["count"] != nil && other["copied"] == 1)
        #expect(record["array"] as? [Int] == [1, 2] && record["any"] as? [String] == ["a", "b"])
        #expect(record["values"] as? NSArray == ["k"] && record["n"] == nil)
        switch record["count"] {
        case let count as Int: #expect(count == 1)
        default: Issue.record("a number is an Int")
        }
        for key in record.allKeys() { other[key] = record[key] }
        #expect(other.allKeys() == record.allKeys())
        let fields = Dictionary(uniqueKeysWithValues: record.map { ($0.0, $0.1) })
        #expect(fields["set"] as? String == "s" && fields["count"] as? Int == 1)
        if let number = record["count"] as? NSNumber { #expect(number.intValue == 1) }
        #expect(
            (record["list"] as? NSArray)?.count == 2 && record["count"] is Int && !(record["some"] is Int))
    }

    @Test func oneRecordUsedFromManyThreadsLosesNoField() {
        let record = CKRecord(recordType: "todo")
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for index in 0..<100 {
                record["k\(thread)_\(index)"] = index
                record.encryptedValues["e\(thread)"] = index
                _ = (record.allKeys(), record.copy(), record.changedKeys(), record["k0_0"] as? Int)
            }
        }
        #expect(record.allKeys().count == 800 && record.encryptedValues.allKeys().count == 8)
    }
}
