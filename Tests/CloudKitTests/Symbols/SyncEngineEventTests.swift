import Foundation
import Testing

@testable import CloudKit

/// What an engine will tell; only it can make events, as on Apple's platforms.
@Suite struct SyncEngineEventTests {
    private typealias Event = CKSyncEngine.Event

    private static let zoneID = CKRecordZone.ID(zoneName: "todos")
    private static let recordID = CKRecord.ID(recordName: "42", zoneID: zoneID)
    private static let error = CKError(.zoneBusy, "come back")

    /// What a delegate reads of an event.
    private static func read(_ event: Event) -> String {
        switch event {
        case .stateUpdate(let update): "\(update): \(update.stateSerialization)"
        case .accountChange(let change): "\(change): \(change.changeType)"
        case .fetchedDatabaseChanges(let fetched):
            "\(fetched): \(fetched.modifications.map(\.zoneID.zoneName)) \(fetched.deletions.map(\.reason))"
        case .fetchedRecordZoneChanges(let fetched):
            "\(fetched): \(fetched.modifications.map(\.record.recordType)) \(fetched.deletions.map(\.recordType))"
        case .sentDatabaseChanges(let sent):
            "\(sent): \(sent.savedZones.count) \(sent.failedZoneSaves.map(\.error.code)) "
                + "\(sent.deletedZoneIDs.count) \(sent.failedZoneDeletes.count) "
                + "\(sent.failedZoneSaves.map(\.zone.zoneID.zoneName))"
        case .sentRecordZoneChanges(let sent):
            "\(sent): \(sent.savedRecords.count) \(sent.failedRecordSaves.map(\.error.code)) "
                + "\(sent.deletedRecordIDs.count) \(sent.failedRecordDeletes.count) "
                + "\(sent.failedRecordSaves.map(\.record.recordType))"
        case .willFetchChanges(let will): "\(will): \(will.context.reason)"
        case .willFetchRecordZoneChanges(let will): "\(will): \(will.zoneID.zoneName)"
        case .didFetchRecordZoneChanges(let did): "\(did): \(did.zoneID.zoneName) \(did.error?.code as Any)"
        case .didFetchChanges(let did): "\(did): \(did.context.options.scope)"
        case .willSendChanges(let will): "\(will): \(will.context.reason)"
        case .didSendChanges(let did): "\(did): \(did.context.options.scope)"
        }
    }

    @Test func changesThatWereFetchedAndSentNameThem() {
        let record = CKRecord(recordType: "todo", recordID: Self.recordID)
        let zone = CKRecordZone(zoneID: Self.zoneID)
        let events: [(Event, String)] = [
            (
                .fetchedDatabaseChanges(
                    .init(
                        modifications: [.init(zoneID: Self.zoneID)],
                        deletions: [.init(zoneID: Self.zoneID, reason: .purged)])),
                "FetchedDatabaseChanges(1 modifications, 1 deletions)"
            ),
            (
                .fetchedRecordZoneChanges(
                    .init(
                        modifications: [.init(record: record)],
                        deletions: [.init(recordID: Self.recordID, recordType: "old")])),
                "FetchedRecordZoneChanges(1 modifications, 1 deletions)"
            ),
            (
                .sentDatabaseChanges(
                    .init(
                        savedZones: [zone], failedZoneSaves: [.init(zone: zone, error: Self.error)],
                        deletedZoneIDs: [], failedZoneDeletes: [Self.zoneID: Self.error])),
                "SentDatabaseChanges(1 saved, 1 failed, 0 deleted, 1 not deleted)"
            ),
            (
                .sentRecordZoneChanges(
                    .init(
                        savedRecords: [], failedRecordSaves: [.init(record: record, error: Self.error)],
                        deletedRecordIDs: [Self.recordID], failedRecordDeletes: [:])),
                "SentRecordZoneChanges(0 saved, 1 failed, 1 deleted, 0 not deleted)"
            ),
        ]
        let busy = [CKError.Code.zoneBusy]
        let contents = [
            "[\"todos\"] \([CKDatabase.DatabaseChange.Deletion.Reason.purged])", "[\"todo\"] [\"old\"]",
            "1 \(busy) 0 1 [\"todos\"]", "0 \(busy) 1 0 [\"todo\"]",
        ]
        for ((event, name), contents) in zip(events, contents) {
            #expect(event.description == name && Self.read(event) == "\(name): \(contents)")
        }
        let failed = Event.SentDatabaseChanges.FailedZoneSave(zone: zone, error: Self.error)
        #expect(failed.description.contains("come back"))
        let unsaved = Event.SentRecordZoneChanges.FailedRecordSave(record: record, error: Self.error)
        #expect(unsaved.description.contains("42"))
    }

    @Test func whatBeginsAndEndsNamesItsReasonAndItsZone() {
        let fetch = CKSyncEngine.FetchChangesContext(
            reason: .manual, options: CKSyncEngine.FetchChangesOptions(scope: .zoneIDs([Self.zoneID])))
        let send = CKSyncEngine.SendChangesContext(
            reason: .scheduled, options: CKSyncEngine.SendChangesOptions())
        let user = CKRecord.ID(recordName: "_ada")
        let events: [(Event, String)] = [
            (.stateUpdate(.init(stateSerialization: .init())), "StateUpdate(): Serialization()"),
            (
                .accountChange(.init(changeType: .signIn(currentUser: user))),
                "AccountChange(signIn(_ada)): signIn(_ada)"
            ),
            (.willFetchChanges(.init(context: fetch)), "WillFetchChanges(\(fetch)): manual"),
            (.didFetchChanges(.init(context: fetch)), "DidFetchChanges(\(fetch)): \(fetch.options.scope)"),
            (.willSendChanges(.init(context: send)), "WillSendChanges(\(send)): scheduled"),
            (.didSendChanges(.init(context: send)), "DidSendChanges(\(send)): all"),
            (
                .willFetchRecordZoneChanges(.init(zoneID: Self.zoneID)),
                "WillFetchRecordZoneChanges(\(Self.zoneID)): todos"
            ),
            (
                .didFetchRecordZoneChanges(.init(zoneID: Self.zoneID, error: Self.error)),
                "DidFetchRecordZoneChanges(\(Self.zoneID): \(Self.error.localizedDescription)): todos "
                    + "\(Optional(CKError.Code.zoneBusy) as Any)"
            ),
        ]
        for (event, expected) in events {
            #expect(Self.read(event) == expected)
            #expect(expected.hasPrefix(event.description))
        }
        #expect(fetch.description.contains("manual") && send.description.contains("scheduled"))
        let fine = Event.DidFetchRecordZoneChanges(zoneID: Self.zoneID, error: nil)
        #expect(fine.description.hasSuffix("no error)"))
    }

    @Test func aDelegateWithoutAWishFetchesWhatTheContextSays() async {
        final class Delegate: CKSyncEngineDelegate {
            func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}
            func nextRecordZoneChangeBatch(
                _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
            ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
        }
        let delegate = Delegate()
        let database = CKContainer(identifier: "iCloud.test").privateCloudDatabase
        let engine = CKSyncEngine(
            .init(database: database, stateSerialization: nil, delegate: delegate))
        let context = CKSyncEngine.FetchChangesContext(
            reason: .scheduled, options: .init(scope: .allExcluding([Self.zoneID])))
        let options = await delegate.nextFetchChangesOptions(context, syncEngine: engine)
        #expect(options.scope == .allExcluding([Self.zoneID]))
        await delegate.handleEvent(.willFetchChanges(.init(context: context)), syncEngine: engine)
        let send = CKSyncEngine.SendChangesContext(reason: .manual, options: .init())
        #expect(await delegate.nextRecordZoneChangeBatch(send, syncEngine: engine) == nil)
    }
}
