import CloudKit
import CoreLocation
import Foundation
import Testing

/// Archives as Apple's classes lay them out. They are property lists, written here by hand.
@Suite struct ArchiveTests {
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
        var archive = AppleArchive()
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
        var archive = AppleArchive()
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
        var archive = AppleArchive()
        let token = archive.add("CKServerChangeToken", references: ["ChangeTokenData": 0])
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archive.xml(top: ["root": token]))
        unarchiver.requiresSecureCoding = true
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        #expect(unarchiver.decodeObject(of: CKServerChangeToken.self, forKey: "root") == nil)
    }
}

extension ArchiveTests {
    @Test func anAppleShareIsReadWithItsParticipants() throws {
        var archive = AppleArchive()
        let root = archive.addShare()
        let data = archive.xml(root: root)
        let share = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.self, from: data))
        #expect(share.recordType == CKRecord.SystemType.share && share.publicPermission == .readOnly)
        #expect(share.recordChangeTag == "k3x" && share.recordID.zoneID.zoneName == "todos")
        #expect(share.participants.map(\.participantID) == ["P1", "P2"])
        let owner = try #require(share.owner)
        #expect(owner.role == .owner && owner.permission == .readWrite && owner.acceptanceStatus == .accepted)
        #expect(owner.userIdentity.nameComponents?.givenName == "Ada")
        #expect(owner.userIdentity.nameComponents?.familyName == "Lovelace")
        #expect(owner.userIdentity.lookupInfo == CKUserIdentity.LookupInfo(emailAddress: "ada@example.com"))
        #expect(owner.userIdentity.userRecordID?.recordName == "_ada" && owner.userIdentity.hasiCloudAccount)
        #expect(share.participants.last?.acceptanceStatus == .pending)
    }

    @available(*, deprecated) @Test func whatAppleKnowsOfAShareIsRead() throws {
        var archive = AppleArchive()
        let root = archive.addMetadata()
        let data = archive.xml(root: root)
        let metadata = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShareMetadata.self, from: data))
        #expect(metadata.containerIdentifier == "iCloud.com.example.todo" && metadata.rootRecord == nil)
        #expect(metadata.hierarchicalRootRecordID?.recordName == "list")
        #expect(metadata.rootRecordID == metadata.hierarchicalRootRecordID)
        #expect(metadata.participantRole == .privateUser && metadata.participantType == .privateUser)
        #expect(metadata.participantStatus == .pending && metadata.participantPermission == .readOnly)
        #expect(metadata.ownerIdentity.nameComponents?.familyName == "Lovelace")
        #expect(metadata.share.participants.count == 2)
        let same = try #require(metadata.copy() as? CKShare.Metadata)
        #expect([metadata: 1][same] == 1, "it is a key of dictionaries")
    }
}
