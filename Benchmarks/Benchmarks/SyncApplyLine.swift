import CloudKit
import Foundation
import Yap
import YapCloudKit

/// Pages of records as a fetch applies them, against plain writes of the same objects in transactions as large.
final class ApplyRun: LineRun {
    private static let recordsCount = 100_000
    private static let recordsAPage = 200

    private let workload: Workload

    init() throws {
        workload = try Workload(rowsCount: Self.recordsCount)
    }

    func ours() throws -> Double {
        try inNewDatabase { database in
            let sync = try SyncDevice.idleSync(on: database)
            let connection = database.newConnection()
            var duration = Duration.zero
            for start in stride(from: 0, to: Self.recordsCount, by: Self.recordsAPage) {
                var page = SyncPage(zoneID: SyncDevice.zoneID)
                page.changed = (start..<start + Self.recordsAPage).map { Self.record($0, workload) }
                // Without one, each page would begin the zone's checksum anew.
                page.token = CKServerChangeToken(token: "\(start)")
                page.moreComing = start + Self.recordsAPage < Self.recordsCount
                let begin = ContinuousClock.now
                try connection.blocking.readWrite { try sync.apply(page, in: $0) }
                duration += ContinuousClock.now - begin
            }
            return Double(Self.recordsCount) / (duration / .seconds(1))
        }
    }

    func reference() throws -> Double {
        try inNewDatabase { database in
            let connection = database.newConnection()
            return try rate(Self.recordsCount) {
                for start in stride(from: 0, to: Self.recordsCount, by: Self.recordsAPage) {
                    try connection.blocking.readWrite { transaction in
                        for index in start..<start + Self.recordsAPage {
                            try transaction.setObject(
                                workload.notes[index], forKey: workload.keys[index],
                                inCollection: Workload.collection)
                        }
                    }
                }
            }
        }
    }

    private func inNewDatabase(_ body: (YapDatabase) throws -> Double) throws -> Double {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let database = try Ours.database(in: folder.url)
        let result = try body(database)
        try database.blocking.close()
        return result
    }

    /// The record as the framework hands it out that fetched it.
    static func record(_ index: Int, _ workload: Workload) -> CKRecord {
        let note = workload.notes[index]
        var state = RecordState(
            recordType: Note.recordType,
            recordID: CKRecord.ID(recordName: workload.keys[index], zoneID: SyncDevice.zoneID))
        state.changeTag = String(index, radix: 36) + ".1n2p3q4r5s"
        state.creationDate = note.created
        state.modificationDate = note.modified
        state.creatorUserRecordID = Self.user
        state.lastModifiedUserRecordID = Self.user
        var values: [String: RecordFieldValue] = [:]
        for field in SyncDevice.Field.allCases {
            values[field.rawValue] = field.value(note).map { RecordFieldValue($0) }
        }
        state.plain = ValueStore(fetched: values)
        return CKRecord(state: state)
    }

    private static let user = CKRecord.ID(recordName: ServiceRequests.userRecordName)
}
