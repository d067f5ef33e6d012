import CloudKit
import CloudWire
import CoreLocation
import Foundation
import Testing

@testable import YapCloudKit

/// What the extension keeps of a record, by the framework's public face.
@Suite struct SystemFieldsTests {
    private static let zoneID = CKRecordZone.ID(zoneName: "Z")
    private static let recordID = CKRecord.ID(recordName: "r", zoneID: zoneID)

    /// A record as the server sends it, with every system field.
    private static func full() -> CKRecord {
        var state = RecordState(recordType: "todo", recordID: recordID)
        state.changeTag = "7.x"
        state.creationDate = Date(timeIntervalSince1970: 1_700_000_000.123)
        state.modificationDate = Date(timeIntervalSince1970: 1_800_000_000.5)
        state.creatorUserRecordID = CKRecord.ID(recordName: "_ada")
        state.lastModifiedUserRecordID = CKRecord.ID(recordName: "_ben")
        state.parent = CKRecord.Reference(
            recordID: CKRecord.ID(recordName: "p", zoneID: zoneID), action: .none)
        state.share = CKRecord.Reference(
            recordID: CKRecord.ID(recordName: "s", zoneID: zoneID), action: .deleteSelf)
        return CKRecord(state: state)
    }

    private static func restored(_ record: CKRecord) throws -> CKRecord {
        try CKRecord.restored(
            type: record.recordType, recordID: record.recordID, changeTag: record.recordChangeTag,
            system: try record.systemBytes())
    }

    @Test func aRecordsSystemFieldsComeBackFromTheirBytes() throws {
        let record = Self.full()
        let back = try Self.restored(record)
        #expect(back.recordType == "todo")
        #expect(back.recordID == record.recordID)
        #expect(back.recordChangeTag == "7.x")
        #expect(back.creationDate == record.creationDate)
        #expect(back.modificationDate == record.modificationDate)
        #expect(back.creatorUserRecordID == record.creatorUserRecordID)
        #expect(back.lastModifiedUserRecordID == record.lastModifiedUserRecordID)
        #expect(back.parent == record.parent)
        #expect(back.share == record.share)
        #expect(back.share?.action == .deleteSelf)
        #expect(try back.systemBytes() == record.systemBytes())
        #expect(try back.changedFields().isEmpty)
        #expect(back.allKeys().isEmpty)
    }

    @Test func aRecordWithoutATagIsOneThatTheServerNeverSaw() throws {
        let record = CKRecord(recordType: "todo", recordID: Self.recordID)
        let back = try Self.restored(record)
        #expect(try record.systemBytes() == FieldsBinary.encode([:]))
        #expect(back.recordChangeTag == nil && back.creationDate == nil && back.parent == nil)
        let forgotten = try CKRecord.restored(
            type: "todo", recordID: Self.recordID, changeTag: nil, system: try Self.full().systemBytes())
        #expect(forgotten.recordChangeTag == nil)
        #expect(forgotten.creationDate == Self.full().creationDate)
    }

    /// The bytes that files of the first two versions hold.
    @Test func bytesOfEarlierFilesAreRead() throws {
        let stored = FieldsBinary.encode([
            "created": Field(.timestamp(milliseconds: 1_700_000_000_123)),
            "modified": Field(.timestamp(milliseconds: 1_800_000_000_500)),
            "creator": Field(.string("_ada")), "modifier": Field(.string("_ben")),
            "___parent": Field(.reference(Reference(recordName: "p", action: Reference.Action.none))),
            "share": Field(.reference(Reference(recordName: "s", action: .deleteSelf))),
        ])
        #expect(try Self.full().systemBytes() == stored)
        let back = try CKRecord.restored(
            type: "todo", recordID: Self.recordID, changeTag: "7.x", system: stored)
        #expect(try back.systemBytes() == stored)
        #expect(back.creatorUserRecordID?.recordName == "_ada")
    }

    @Test func damagedBytesAreAnErrorAtEveryLength() throws {
        let bytes = try Self.full().systemBytes()
        for count in bytes.indices {
            #expect(throws: BinaryError.self, "\(count) bytes") {
                try CKRecord.restored(
                    type: "todo", recordID: Self.recordID, changeTag: "t", system: Array(bytes.prefix(count)))
            }
        }
    }

    /// A record whose archive has a field more than this version knows by name.
    private final class LaterRecord: CKRecord, @unchecked Sendable {
        override func encodeSystemFields(with coder: NSCoder) {
            super.encodeSystemFields(with: coder)
            coder.encode("etag of a share" as NSString, forKey: "ShareEtag")
            coder.encode(CKRecord.ID(recordName: "x", zoneID: SystemFieldsTests.zoneID), forKey: "Other")
            coder.encode(true, forKey: "IsKnown")
        }
    }

    @Test func aSystemFieldOfALaterFrameworkIsKept() throws {
        let plain = CKRecord(recordType: "todo", recordID: Self.recordID)
        let record = LaterRecord(state: plain.state)
        let fields = try FieldsBinary.decode(try record.systemBytes())
        #expect(fields["ShareEtag"]?.value == .string("etag of a share"))
        #expect(fields["IsKnown"]?.value == .int64(1))
        let coder = SystemFieldsDecoder(
            recordType: "todo", recordID: Self.recordID, changeTag: nil, fields: fields)
        #expect(coder.decodeObject(of: NSString.self, forKey: "ShareEtag") == "etag of a share")
        #expect(coder.decodeBool(forKey: "IsKnown"))
        #expect(coder.decodeObject(of: CKReference.self, forKey: "Other")?.recordID.recordName == "x")
        #expect(coder.decodeObject(of: NSNumber.self, forKey: "ShareEtag") == nil)
        #expect(!coder.containsValue(forKey: "Missing"))
    }

    @Test func aTokenComesBackFromItsText() throws {
        let token = CKServerChangeToken(token: "AbC=")
        #expect(token.storedText == "AbC=")
        #expect(CKServerChangeToken(storedText: "AbC=") == token)
    }

    // MARK: Parent

    @Test func theParentIsAChangeOnceItWasSet() throws {
        let record = try Self.restored(Self.full())
        let other = CKRecord.Reference(
            recordID: CKRecord.ID(recordName: "q", zoneID: Self.zoneID), action: .none)
        #expect(try record.changedFields().isEmpty)
        record.parent = other
        let field = try #require(try record.changedFields()["___parent"])
        #expect(field.value == .reference(Reference(recordName: "q", action: Reference.Action.none)))
        let sent = try Self.restored(Self.full())
        sent.setFields(["___parent": field])
        #expect(sent.parent == other)
        sent.setFields(["___parent": .cleared])
        #expect(sent.parent == nil)
        #expect(try sent.changedFields() == ["___parent": .cleared])
    }

    /// The row of a new record holds its parent, and the change in the queue holds it too.
    @Test func aParentThatTheServerNeverSawIsSetAgainAsAChange() throws {
        let record = CKRecord(recordType: "todo", recordID: Self.recordID)
        record.setParent(CKRecord.ID(recordName: "p", zoneID: Self.zoneID))
        let fields = try record.changedFields()
        let sent = try Self.restored(record)
        #expect(sent.parent != nil)
        #expect(try sent.changedFields().isEmpty)
        sent.setFields(fields)
        #expect(try sent.changedFields() == fields)
    }

    // MARK: Values

    static var values: [any CKRecordValueProtocol] {
        [
            "text", "", true, false, 7, Int8(-3), UInt64(5), Int64.min, 1.5, Float(0.25), -0.0,
            Date(timeIntervalSince1970: 1.2345), Data([1, 2]), Data(),
            CKRecord.Reference(recordID: CKRecord.ID(recordName: "x", zoneID: zoneID), action: .deleteSelf),
            CKRecord.Reference(recordID: CKRecord.ID(recordName: "y", zoneID: zoneID), action: .none),
            CLLocation(
                coordinate: CLLocationCoordinate2D(latitude: 1, longitude: 2), altitude: 3,
                horizontalAccuracy: 4,
                verticalAccuracy: 5, course: 6, speed: 7, timestamp: Date(timeIntervalSince1970: 8)),
            ["a", "b"], [1, 2], [1.5, 2], [Date(timeIntervalSince1970: 1)], [Data([3])],
            [CKRecord.Reference(recordID: CKRecord.ID(recordName: "x", zoneID: zoneID), action: .none)],
            [String](),
            NSArray(array: [1, 2.5]), NSString("n"), NSNumber(value: 3), NSDate(timeIntervalSince1970: 4),
        ]
    }

    /// The framework's own way to the wire is the measure.
    @Test(arguments: 0..<28) func eachValueIsTheFieldThatTheFrameworkSends(index: Int) throws {
        #expect(Self.values.count == 28)
        let value = Self.values[index]
        for isEncrypted in [false, true] {
            let field = try Field(cloudValue: value, isEncrypted: isEncrypted, in: Self.zoneID)
            #expect(field == (try RecordFieldValue(value).wire(isEncrypted: isEncrypted, in: Self.zoneID)))
            let object = try #require(field.value?.cloudObject(in: Self.zoneID))
            #expect(try Field(cloudValue: object, isEncrypted: isEncrypted, in: Self.zoneID) == field)
        }
        let record = CKRecord(recordType: "todo", recordID: Self.recordID)
        record.setFields(["f": try Field(cloudValue: value, in: Self.zoneID)])
        #expect(try record.changedFields() == ["f": Field(cloudValue: value, in: Self.zoneID)])
        #expect(try record.allFields() == record.changedFields())
    }

    @Test func whatNoFieldCanHoldIsSaidAsTheFrameworkSaysIt() {
        let elsewhere = CKRecord.Reference(recordID: CKRecord.ID(recordName: "x"), action: .none)
        let bad: [any CKRecordValueProtocol] = [
            UInt64.max, Double.nan, [["a"]], NSArray(array: ["a", 1]), elsewhere,
            Date(timeIntervalSince1970: 1e40),
        ]
        for value in bad {
            func words(_ body: () throws -> Field) -> String {
                do { return "\(try body())" } catch {
                    return (error as? CKError)?.localizedDescription ?? "\(error)"
                }
            }
            let expected = words { try RecordFieldValue(value).wire(isEncrypted: false, in: Self.zoneID) }
            #expect(words { try Field(cloudValue: value, in: Self.zoneID) } == expected)
        }
        let record = CKRecord(recordType: "todo", recordID: Self.recordID)
        record["big"] = UInt64.max
        #expect {
            try record.changedFields()
        } throws: {
            ($0 as? CKError)?.localizedDescription.contains("doesn't fit") == true
        }
    }

    @Test func encryptedFieldsStayEncrypted() throws {
        let record = CKRecord(recordType: "todo", recordID: Self.recordID)
        record.encryptedValues["secret"] = "s"
        record.encryptedValues["key"] = Data([1])
        record["open"] = "o"
        let fields = try record.changedFields()
        #expect(fields["secret"] == Field(.string("s"), isEncrypted: true))
        #expect(fields["key"] == Field(.encryptedBytes([1]), isEncrypted: true))
        let copy = CKRecord(recordType: "todo", recordID: Self.recordID)
        copy.setFields(fields)
        #expect(try copy.changedFields() == fields)
        #expect(copy["secret"] == nil)
        #expect(copy.encryptedValues["secret"] == "s")
        copy.setFields(["secret": Field(value: nil, type: nil, isEncrypted: true), "open": .cleared])
        #expect(copy.encryptedValues["secret"] == nil && copy["open"] == nil)
    }
}
