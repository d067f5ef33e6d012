import CloudKit
import CoreLocation
import Foundation
import Testing

/// Archives as Apple's classes lay them out. They are property lists, written here by hand.
@Suite struct ArchiveTests {
    /// Writes a keyed archive: objects in a row that name each other by their numbers.
    private struct Archive {
        private var objects: [Any] = ["$null"]

        private static func reference(_ number: Int) -> [String: Any] { ["CF$UID": number] }

        mutating func add(value: Any) -> Int {
            objects.append(value)
            return objects.count - 1
        }

        /// Adds an object of the class `name`; `references` are numbers of other objects.
        mutating func add(
            _ name: String, _ values: [String: Any] = [:], references: [String: Int] = [:]
        ) -> Int {
            let type = add(value: ["$classname": name, "$classes": [name, "NSObject"]])
            var object = values
            for (key, number) in references { object[key] = Self.reference(number) }
            object["$class"] = Self.reference(type)
            return add(value: object)
        }

        mutating func add(array numbers: [Int], _ name: String = "NSArray") -> Int {
            add(name, ["NS.objects": numbers.map { Self.reference($0) }])
        }

        mutating func add(dictionary pairs: [(Int, Int)]) -> Int {
            add(
                "NSDictionary",
                [
                    "NS.keys": pairs.map { Self.reference($0.0) },
                    "NS.objects": pairs.map { Self.reference($0.1) },
                ])
        }

        func xml(top references: [String: Int], values: [String: Any] = [:]) -> Data {
            var top = values
            for (key, number) in references { top[key] = Self.reference(number) }
            let members: [(String, Any)] = [
                ("$archiver", "NSKeyedArchiver"), ("$objects", objects),
                ("$top", top), ("$version", 100_000),
            ]
            let list = "<dict>" + members.map { "<key>\($0.0)</key>" + Self.xml($0.1) }.joined() + "</dict>"
            return Data(
                """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0">\(list)</plist>
                """.utf8)
        }

        private static func xml(_ value: Any) -> String {
            switch value {
            case let value as Bool: value ? "<true/>" : "<false/>"
            case let value as Int: "<integer>\(value)</integer>"
            case let value as Double: "<real>\(value)</real>"
            case let value as String: "<string>\(value)</string>"
            case let value as [Any]: "<array>" + value.map { xml($0) }.joined() + "</array>"
            case let value as [String: Any]:
                "<dict>"
                    + value.sorted { $0.key < $1.key }.map { "<key>\($0.key)</key>" + xml($0.value) }.joined()
                    + "</dict>"
            default: ""
            }
        }

        mutating func addZone(_ name: String) -> Int {
            let (zone, owner) = (add(value: name), add(value: "__defaultOwner__"))
            return add(
                "CKRecordZoneID", ["databaseScopeKey": 2],
                references: ["ZoneName": zone, "ownerName": owner, "anonymousCKUserID": 0])
        }

        mutating func addID(_ name: String, zone: Int) -> Int {
            add("CKRecordID", references: ["RecordName": add(value: name), "ZoneID": zone])
        }

        /// The system fields of a record that the server knows.
        mutating func systemFields() -> (values: [String: Any], references: [String: Int]) {
            let zone = addZone("todos")
            let made = add("NSDate", ["NS.time": 700_000_000.5])
            let parent = addID("list", zone: zone)
            return (
                [
                    "KnownToServer": true, "WasCached": false, "Permission": 3,
                    "HasUpdatedParentReference": false,
                    "HasUpdatedShareReference": false,
                ],
                [
                    "RecordType": add(value: "todo"), "RecordID": addID("42", zone: zone),
                    "ETag": add(value: "k3x"),
                    "RecordCtime": made, "RecordMtime": made,
                    "CreatorUserRecordID": addID("_ada", zone: addZone("_defaultZone")),
                    "LastModifiedUserRecordID": addID("__defaultOwner__", zone: addZone("_defaultZone")),
                    "ModifiedByDevice": add(value: "Ada's phone"), "ShareReference": 0,
                    "PreviousShareReference": 0,
                    "ParentReference": add(
                        "CKReference", ["ReferenceAction": 0], references: ["RecordID": parent]),
                    "ProtectionData": 0, "PCSKeyID": 0,
                ]
            )
        }
    }

    private func check(_ record: CKRecord) {
        #expect(record.recordType == "todo" && record.recordID.recordName == "42")
        #expect(record.recordID.zoneID == CKRecordZone.ID(zoneName: "todos"))
        #expect(record.recordChangeTag == "k3x" && record.parent?.recordID.recordName == "list")
        #expect(record.creationDate == Date(timeIntervalSinceReferenceDate: 700_000_000.5))
        #expect(record.creatorUserRecordID?.recordName == "_ada")
        #expect(record.lastModifiedUserRecordID?.recordName == CKCurrentUserDefaultName)
        #expect(record.share == nil && !record.state.isParentChanged)
    }

    @Test func theSystemFieldsOfAnAppleRecordAreRead() throws {
        var archive = Archive()
        let fields = archive.systemFields()
        // `encodeSystemFields` writes them at the top.
        let data = archive.xml(top: fields.references, values: fields.values)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = true
        let record = try #require(CKRecord(coder: unarchiver))
        check(record)
        #expect(record.allKeys().isEmpty && record.changedKeys().isEmpty)
    }

    @Test func aWholeAppleRecordIsRead() throws {
        var archive = Archive()
        let fields = archive.systemFields()
        let (title, count, place) = (
            archive.add(value: "title"), archive.add(value: "count"), archive.add(value: "place")
        )
        let location = archive.add(
            "CLLocation",
            [
                "kCLLocationCodingKeyCoordinateLatitude": 1.5, "kCLLocationCodingKeyCoordinateLongitude": 2.5,
                "kCLLocationCodingKeyTimestamp": 7.0,
            ])
        let values = archive.add(
            dictionary: [
                (title, archive.add(value: "milk")), (count, archive.add(value: 7)), (place, location),
            ])
        let originals = archive.add(dictionary: [(title, archive.add(value: "eggs"))])
        let changed = archive.add(array: [title], "NSSet")
        let store = archive.add(
            "CKRecordValueStore",
            references: ["RecordValues": values, "OriginalValues": originals, "ChangedKeys": changed])
        let none = archive.add(dictionary: [])
        let encrypted = archive.add(
            "CKEncryptedRecordValueStore",
            references: [
                "RecordValues": archive.add(dictionary: [
                    (archive.add(value: "secret"), archive.add(value: "s"))
                ]),
                "OriginalValues": none, "ChangedKeys": archive.add(array: [], "NSSet"),
            ])
        var references = fields.references
        references["ValueStore"] = store
        references["EncryptedValueStore"] = encrypted
        let root = archive.add("CKRecord", fields.values, references: references)
        let data = archive.xml(top: ["root": root])
        let record = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data))
        check(record)
        #expect(record["title"] as? String == "milk" && record["count"] as? Int == 7)
        #expect((record["place"] as? CLLocation)?.coordinate.longitude == 2.5)
        #expect(record.changedKeys() == ["title"] && record.encryptedValues["secret"] as? String == "s")
    }

    @Test func anAppleObjectWithoutItsContentsIsNoneAndNoCrash() throws {
        var archive = Archive()
        let token = archive.add("CKServerChangeToken", references: ["ChangeTokenData": 0])
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archive.xml(top: ["root": token]))
        unarchiver.requiresSecureCoding = true
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        #expect(unarchiver.decodeObject(of: CKServerChangeToken.self, forKey: "root") == nil)
    }
}
