import CloudKit
import Foundation

/// The note's part of the cloud.
struct NoteCloud: Sendable {
    static let subscriptionID = "note-changes"

    let container: CKContainer
    private var database: CKDatabase { container.privateCloudDatabase }

    /// Makes the zone and asks to be told of its changes without a word to the user. Both may be there already.
    func prepare() async throws {
        try await database.save(CKRecordZone(zoneID: Note.zoneID))
        let subscription = CKRecordZoneSubscription(zoneID: Note.zoneID, subscriptionID: Self.subscriptionID)
        let info = CKSubscription.NotificationInfo()
        info.shouldSendContentAvailable = true
        subscription.notificationInfo = info
        try await database.save(subscription)
    }

    /// What became of the note since `token`.
    struct Changes {
        enum Change {
            case record(CKRecord)
            case deletion
        }

        var change: Change?
        var token: CKServerChangeToken?
    }

    func changes(since token: CKServerChangeToken?) async throws -> Changes {
        var changes = Changes(token: token)
        while true {
            let page = try await database.recordZoneChanges(inZoneWith: Note.zoneID, since: changes.token)
            if let modification = page.modificationResultsByID[Note.recordID] {
                changes.change = .record(try modification.get().record)
            } else if page.deletions.contains(where: { $0.recordID == Note.recordID }) {
                changes.change = .deletion
            }
            changes.token = page.changeToken
            guard page.moreComing else { return changes }
        }
    }

    /// Saves `record` if the server has the version that it is based on.
    func save(_ record: CKRecord) async throws -> CKRecord {
        let (saved, _) = try await database.modifyRecords(
            saving: [record], deleting: [], savePolicy: .ifServerRecordUnchanged)
        guard let result = saved[record.recordID] else { throw CKError(.internalError) }
        return try result.get()
    }

    /// The note's record with its file.
    func fetch() async throws -> CKRecord {
        try await database.record(for: Note.recordID)
    }
}
