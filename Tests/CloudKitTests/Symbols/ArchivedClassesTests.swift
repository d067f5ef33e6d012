import CloudKit
import CoreLocation
import Foundation
import Testing

/// One of each class that goes into archives. `SymbolTableTests` sees to it that none is missing.
enum ArchivedClasses {
    typealias Archived = NSObject & NSSecureCoding

    static let zoneID = CKRecordZone.ID(zoneName: "todos", ownerName: "_bob")
    static let recordID = CKRecord.ID(recordName: "42", zoneID: zoneID)

    static func record() -> CKRecord {
        let record = CKRecord(recordType: "todo", recordID: recordID)
        record["title"] = "Pick up eggs"
        record["place"] = CLLocation(latitude: 1.5, longitude: 2.5)
        record["file"] = CKAsset(fileURL: URL(filePath: "/tmp/eggs.jpg"))
        record["tags"] = ["home", "shop"]
        record["list"] = CKRecord.Reference(
            recordID: CKRecord.ID(recordName: "1", zoneID: zoneID), action: .none)
        record.encryptedValues["secret"] = Data([1, 2])
        return record
    }

    static func query() -> CKQuery {
        let query = CKQuery(
            recordType: "todo", predicate: NSPredicate(format: "title == %@ AND n > %d", "x", 3))
        query.sortDescriptors = [NSSortDescriptor(key: "n", ascending: false)]
        return query
    }

    /// Objects of classes that an app can't make come from archives as Apple's.
    static func fromApple<Object: Archived>(
        _ type: Object.Type, _ add: (inout AppleArchive) -> Int
    ) throws -> Object {
        var archive = AppleArchive()
        let root = add(&archive)
        let data = archive.xml(root: root)
        return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: data))
    }

    static func all() throws -> [any Archived] {
        let info = CKSubscription.NotificationInfo(
            alertBody: "New", desiredKeys: ["title"], shouldBadge: true)
        let watched = CKQuerySubscription(
            recordType: "todo", predicate: NSPredicate(format: "n > 3"), subscriptionID: "q",
            options: [.firesOnRecordCreation, .firesOnce])
        watched.zoneID = zoneID
        watched.notificationInfo = info
        let zone = CKRecordZone(zoneID: zoneID)
        zone.encryptionScope = .perZone
        let group = CKOperationGroup()
        group.name = "import"
        let token = try fromApple(CKServerChangeToken.self) {
            $0.add(
                "CKServerChangeToken",
                references: ["ChangeTokenData": $0.add(value: Data("token".utf8))])
        }
        return [
            zoneID, recordID, CKRecord.Reference(recordID: recordID, action: .deleteSelf), record(), zone,
            token, CKAsset(fileURL: URL(filePath: "/tmp/eggs.jpg")), query(), watched, info, group,
            CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "z"),
            CKDatabaseSubscription(subscriptionID: "d"),
            CKFetchRecordZoneChangesOperation.ZoneConfiguration(
                previousServerChangeToken: token, resultsLimit: 7, desiredKeys: ["title"]),
            CKLocationSortDescriptor(
                key: "place", relativeLocation: CLLocation(latitude: 1, longitude: 2)),
            CKUserIdentity.LookupInfo(phoneNumber: "+44 1"), CKAllowedSharingOptions.standard,
            try fromApple(CKShare.self) { $0.addShare() },
            try fromApple(CKShare.Metadata.self) { $0.addMetadata() },
            try fromApple(CKUserIdentity.self) {
                $0.addIdentity("_ada", email: "a@b.c", given: "Ada", family: "L")
            },
            try fromApple(CKShare.Participant.self) {
                let ada = $0.addIdentity("_ada", email: "a@b.c", given: "Ada", family: "L")
                return $0.addParticipant(ada, id: "P1", type: 3, permission: 2, acceptanceStatus: 1)
            },
            try fromApple(CKShare.BlockedIdentity.self) {
                let ada = $0.addIdentity("_ada", email: "a@b.c", given: "Ada", family: "L")
                return $0.add("CKShareBlockedIdentity", references: ["UserIdentity": ada])
            },
            try fromApple(CKShare.AccessRequester.self) {
                let ada = $0.addIdentity("_ada", email: "a@b.c", given: "Ada", family: "L")
                let info = $0.add(
                    "CKUserIdentityLookupInfo", references: ["EmailAddress": $0.add(value: "a@b.c")])
                return $0.add(
                    "CKShareAccessRequester", references: ["UserIdentity": ada, "LookupInfo": info])
            },
            try fromApple(CKNotification.ID.self) {
                $0.add("CKNotificationID", references: ["NotificationID": $0.add(value: "n1")])
            },
            try fromApple(CKQueryOperation.Cursor.self) {
                let request = #"{"query":{"recordType":"todo"},"continuationMarker":"m"}"#
                return $0.add(
                    "CKQueryCursor",
                    references: ["CursorData": $0.add(value: Data(request.utf8))])
            },
        ]
    }

    static func xml(_ object: any Archived) -> Data {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.outputFormat = .xml
        archiver.encode(object, forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        return archiver.encodedData
    }
}

/// Every class that can be archived, and what can be copied and compared.
@Suite struct ArchivedClassesTests {
    private func read<Object: NSObject & NSSecureCoding>(like object: Object, from data: Data) throws
        -> Object?
    {
        let found = try NSKeyedUnarchiver.unarchivedObject(ofClasses: [type(of: object)], from: data)
        return found as? Object
    }

    @Test func everyClassComesBackEqualFromItsArchiveAndWritesTheSameOne() throws {
        for object in try ArchivedClasses.all() {
            #expect(type(of: object).supportsSecureCoding)
            let data = ArchivedClasses.xml(object)
            let read = try #require(try read(like: object, from: data), "\(type(of: object))")
            expectSame(read, object)
            if Self.isComparedByValue(object) {
                #expect(read.isEqual(object) && read.hash == object.hash, "\(type(of: object))")
            }
        }
    }

    /// An XML archive is one sequence of bytes. Foundation alone would write a record's fields in an order that differs
    /// from one dictionary to the next.
    @Test func aRecordsArchiveDoesNotDependOnTheOrderOfSettingFields() throws {
        let keys = (0..<60).map { "field\($0)" }
        func record(_ keys: [String], spare: Int) -> CKRecord {
            let record = CKRecord(recordType: "todo", recordID: ArchivedClasses.recordID)
            // What was taken away again leaves a table of another size.
            for number in 0..<spare { record.encryptedValues["spare\(number)"] = number }
            for key in keys {
                record[key] = key
                record.encryptedValues["x" + key] = key
            }
            record.withState { state in
                for number in 0..<spare { state.encrypted["spare\(number)"] = nil }
                state.plain = ValueStore(fetched: state.plain.values)
                state.encrypted = ValueStore(fetched: state.encrypted.values)
            }
            for key in keys where key.hasSuffix("7") { record[key] = "changed" }
            return record
        }
        let data = ArchivedClasses.xml(record(keys, spare: 0))
        #expect(data == ArchivedClasses.xml(record(keys.reversed(), spare: 500)))
        let root = try PropertyListSerialization.propertyList(from: data, format: nil)
        let objects = try #require((root as? [String: Any])?["$objects"] as? [Any])
        let names = objects.compactMap { $0 as? String }.filter {
            $0.hasPrefix("field") || $0.hasPrefix("xf")
        }
        #expect(Array(names.prefix(60)) == keys.sorted(), "keys come before values, in their order")
    }

    @Test func recordsInOneArchiveKeepTheirOwnFields() throws {
        // Many, because an archive that took one for another would do so where their hashes meet.
        let records = (0..<100).map { number in
            let record = CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: "\(number)"))
            for field in 0..<number % 4 {
                record["field\(field)"] = number * 10 + field
                record.encryptedValues["secret\(field)"] = "\(number)"
            }
            return record
        }
        let data = ArchivedClasses.xml(records as NSArray)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSArray.self, CKRecord.self], from: data)
                as? [CKRecord])
        #expect(read.map(\.state.plain) == records.map(\.state.plain))
        #expect(read.map(\.state.encrypted) == records.map(\.state.encrypted))
    }

    private func expectSame(_ one: any ArchivedClasses.Archived, _ other: any ArchivedClasses.Archived) {
        if let one = one as? CKRecord, let other = other as? CKRecord {
            #expect(one.state.plain == other.state.plain && one.state.encrypted == other.state.encrypted)
            #expect(one.recordID == other.recordID && one.recordChangeTag == other.recordChangeTag)
            #expect((one as? CKShare)?.participants == (other as? CKShare)?.participants)
        }
        #expect(ArchivedClasses.xml(one) == ArchivedClasses.xml(other), "\(type(of: one))")
    }

    /// Records, queries, groups and sort descriptors are compared by who they are, as Apple's.
    private static func isComparedByValue(_ object: NSObject) -> Bool {
        !(object is CKRecord || object is CKQuery || object is CKOperationGroup || object is NSSortDescriptor)
    }

    @Test func whatIsComparedByValueDiffersFromEveryOther() throws {
        let objects = try ArchivedClasses.all()
        for (index, object) in objects.enumerated() {
            for (other, another) in objects.enumerated() where index != other {
                #expect(!object.isEqual(another), "\(object) and \(another)")
            }
            #expect(!object.isEqual("a string" as NSString) && !object.isEqual(nil))
        }
    }

    @Test func aCopyHasTheSameContents() throws {
        for object in try ArchivedClasses.all() where object is any NSCopying {
            let copy = try #require(object.copy() as? any ArchivedClasses.Archived, "\(type(of: object))")
            #expect(type(of: copy) == type(of: object))
            expectSame(copy, object)
        }
    }

    @Test func anArchiveOfAnotherClassIsNotTakenForOne() throws {
        for object in try ArchivedClasses.all() where !(object is CKUserIdentity) {
            var archive = AppleArchive()
            let name = String(describing: type(of: object))
            let root = archive.add(name)
            let data = archive.xml(root: root)
            let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
            unarchiver.decodingFailurePolicy = .setErrorAndReturn
            let found = unarchiver.decodeObject(of: [type(of: object)], forKey: "root")
            if let found = found as? NSObject {
                // Some classes need nothing to be one: then it is one of nothing.
                #expect(Self.needNothing.contains(name), "\(found)")
            }
        }
    }

    private static let needNothing: Set = [
        "CKAsset", "CKAllowedSharingOptions", "CKFetchRecordZoneChangesConfiguration",
    ]

    @Test func descriptionsNameWhatTheyAreOfAndNoFieldsValue() throws {
        let descriptions = try ArchivedClasses.all().map(\.description)
        #expect(descriptions.contains("<CKRecordZoneID: todos:_bob>"))
        #expect(descriptions.contains("<CKRecordID: 42:(todos:_bob)>"))
        #expect(descriptions.contains("<CKRecord: 42, todo, tag nil>"))
        #expect(descriptions.contains("<CKRecordZone: <CKRecordZoneID: todos:_bob>>"))
        #expect(descriptions.contains("<CKReference: <CKRecordID: 42:(todos:_bob)>, deleteSelf>"))
        #expect(descriptions.contains("<CKQuerySubscription: q>"))
        #expect(descriptions.contains("<CKNotificationID: n1>"))
        #expect(!descriptions.contains { $0.contains("Pick up eggs") })
        #expect(ArchivedClasses.query().description.hasPrefix("<CKQuery: todo where "))
    }
}
