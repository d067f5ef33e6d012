import CloudKit
import CoreLocation
import Foundation
import Testing

/// Archives that hold other things than they should: they give an object or nothing, and never end the process.
@Suite struct HostileArchiveTests {
    private func read(_ fill: (NSKeyedArchiver) -> Void) throws -> CKRecord? {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        fill(archiver)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        return CKRecord(coder: unarchiver)
    }

    @Test func anObjectOfAnotherClassOfTheFrameworkIsNotTaken() throws {
        let place = CLLocation(latitude: 1, longitude: 2)
        let record = CKRecord(recordType: "todo")
        for other in [place, record, CKAsset(fileURL: URL(fileURLWithPath: "/tmp/none"))] as [NSObject] {
            #expect(
                try read {
                    $0.encode("todo" as NSString, forKey: "RecordType")
                    $0.encode(other, forKey: "RecordID")
                } == nil)
            let odd = try read {
                $0.encode("todo" as NSString, forKey: "RecordType")
                $0.encode(CKRecord.ID(recordName: "42"), forKey: "RecordID")
                for key in ["ETag", "RecordCtime", "ParentReference", "ValueStore", "CreatorUserRecordID"] {
                    $0.encode(other, forKey: key)
                }
            }
            #expect(odd?.recordID.recordName == "42" && odd?.allKeys() == [])
            #expect(odd?.recordChangeTag == nil && odd?.parent == nil && odd?.creationDate == nil)
        }
    }

    /// Apple writes the place of a file as an address, which is an object of its own.
    @Test func thePlaceOfAFileIsReadAsAnAddressToo() throws {
        let url = URL(fileURLWithPath: "/tmp/a b")
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(url as NSURL, forKey: "AssetFileURL")
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        #expect(CKAsset(coder: unarchiver)?.fileURL == url)
    }

    /// A query that can't be asked for comes back from its archive, and is refused when it is asked.
    @Test func aQueryOfWhatNoFieldHoldsSurvivesItsArchive() throws {
        let asset = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/none"))
        for value in [asset, UUID() as NSUUID, NSURL(fileURLWithPath: "/")] as [Any] {
            let query = CKQuery(
                recordType: "todo", predicate: NSPredicate(format: "photo == %@", argumentArray: [value]))
            let data = try NSKeyedArchiver.archivedData(withRootObject: query, requiringSecureCoding: true)
            let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQuery.self, from: data)
            #expect(read?.description == query.description)
        }
    }
}
