import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// The engine has its symbols, keeps what is pending, and says that it isn't there.
@Suite struct SyncEngineTests {
    private final class Delegate: CKSyncEngineDelegate {
        let events = Collected<String>()

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            events.append(event.description)
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
    }

    private let database = TestCloud().device(user: "ada").container.privateCloudDatabase

    private func id(_ name: String, zone: String = "todos") -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: CKRecordZone.ID(zoneName: zone))
    }

    @Test func fetchingAndSendingThrowAnErrorThatSaysWhatToUse() async throws {
        let delegate = Delegate()
        let configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: nil, delegate: delegate)
        let engine = CKSyncEngine(configuration)
        #expect(engine.database === database && engine.description.contains("CKSyncEngine"))
        for attempt in [{ try await engine.fetchChanges() }, { try await engine.sendChanges() }] {
            let error = await #expect(throws: CKError.self) { try await attempt() }
            #expect(error?.code == .serverRejectedRequest)
            #expect(error?.localizedDescription.contains("CKModifyRecordsOperation") == true)
            #expect(error?.localizedDescription.contains("CloudSync") == true)
        }
        await engine.cancelOperations()
        #expect(delegate.events.all.isEmpty)
    }

    @Test func aConfigurationKeepsItsDelegateWeakly() throws {
        var delegate: Delegate? = Delegate()
        var configuration = try CKSyncEngine.Configuration(
            database: database, stateSerialization: nil, delegate: #require(delegate))
        #expect(configuration.automaticallySync && configuration.subscriptionID == nil)
        #expect(configuration.stateSerialization == nil && configuration.delegate === delegate)
        #expect(configuration.description.contains("automaticallySync: true"))
        weak let gone = delegate
        delegate = nil
        #expect(gone == nil)
        let other = Delegate()
        let copy = configuration
        configuration.delegate = other
        #expect(configuration.delegate === other && copy.delegate !== other)
    }

    @Test func ofARecordTheNewestChangeIsPendingInTheFirstOnesPlace() {
        let state = CKSyncEngine(
            .init(database: database, stateSerialization: nil, delegate: Delegate())
        ).state
        state.add(pendingRecordZoneChanges: [
            .saveRecord(id("a")), .saveRecord(id("b")), .saveRecord(id("a")),
        ])
        #expect(state.pendingRecordZoneChanges == [.saveRecord(id("a")), .saveRecord(id("b"))])
        state.add(pendingRecordZoneChanges: [.deleteRecord(id("a"))])
        #expect(state.pendingRecordZoneChanges == [.deleteRecord(id("a")), .saveRecord(id("b"))])
        state.remove(pendingRecordZoneChanges: [.saveRecord(id("a")), .saveRecord(id("b"))])
        #expect(state.pendingRecordZoneChanges == [.deleteRecord(id("a"))])
        #expect(state.pendingRecordZoneChanges.first?.description.hasPrefix("deleteRecord(") == true)

        let zone = CKRecordZone(zoneName: "todos")
        state.add(pendingDatabaseChanges: [.saveZone(zone), .deleteZone(zone.zoneID)])
        #expect(state.pendingDatabaseChanges == [.deleteZone(zone.zoneID)])
        #expect(state.pendingDatabaseChanges.first?.description.hasPrefix("deleteZone(") == true)
        #expect(state.description == "State(1 records and 1 zones pending)")
        state.remove(pendingDatabaseChanges: [.deleteZone(zone.zoneID)])
        #expect(state.pendingDatabaseChanges.isEmpty)
        state.hasPendingUntrackedChanges = true
        #expect(state.hasPendingUntrackedChanges && state.zoneIDsWithUnfetchedServerChanges.isEmpty)
    }

    @Test func aStoredStateIsCodable() throws {
        let state = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: Data("{}".utf8))
        let data = try JSONEncoder().encode(state)
        #expect(String(decoding: data, as: UTF8.self) == "{}" && state.description == "Serialization()")
    }

    @Test func aBatchTakesWhatARequestMayHaveAndPassesOverRecordsThatAreGone() async throws {
        let changes = (0..<500).map { CKSyncEngine.PendingRecordZoneChange.saveRecord(id("\($0)")) }
        let provide: @Sendable (CKRecord.ID) async -> CKRecord? = { recordID in
            recordID.recordName == "1" ? nil : CKRecord(recordType: "todo", recordID: recordID)
        }
        let batch = try #require(
            await CKSyncEngine.RecordZoneChangeBatch(
                pendingChanges: [.deleteRecord(id("x"))] + changes, recordProvider: provide))
        #expect(
            batch.recordIDsToDelete == [id("x")] && batch.recordsToSave.count == 399 && !batch.atomicByZone)
        #expect(batch.recordsToSave.prefix(2).map(\.recordID.recordName) == ["0", "2"])
        #expect(batch.description == "RecordZoneChangeBatch(399 to save, 1 to delete)")
        let none = await CKSyncEngine.RecordZoneChangeBatch(
            pendingChanges: [.saveRecord(id("1"))], recordProvider: provide)
        #expect(none == nil)
        let own = CKSyncEngine.RecordZoneChangeBatch(
            recordsToSave: [CKRecord(recordType: "todo")], recordIDsToDelete: [], atomicByZone: true)
        #expect(own.atomicByZone && own.recordsToSave.count == 1)
    }

    @Test func scopesContainWhatTheyName() {
        let (todos, other) = (CKRecordZone.ID(zoneName: "todos"), CKRecordZone.ID(zoneName: "other"))
        typealias Fetch = CKSyncEngine.FetchChangesOptions.Scope
        let fetches: [(Fetch, [Bool])] = [
            (.all, [true, true]), (.allExcluding([other]), [true, false]),
            (.zoneIDs([other]), [false, true]),
        ]
        for (scope, expected) in fetches {
            #expect([scope.contains(todos), scope.contains(other)] == expected, "\(scope)")
        }
        typealias Send = CKSyncEngine.SendChangesOptions.Scope
        let (mine, others) = (id("a"), id("a", zone: "other"))
        let sends: [(Send, [Bool])] = [
            (.all, [true, true]), (.allExcluding([other]), [true, false]),
            (.zoneIDs([other]), [false, true]),
            (.recordIDs([mine]), [true, false]),
        ]
        for (scope, expected) in sends {
            #expect([scope.contains(mine), scope.contains(others)] == expected, "\(scope)")
            #expect(
                [scope.contains(.saveRecord(mine)), scope.contains(.deleteRecord(others))] == expected)
        }
        let group = CKOperationGroup()
        var options = CKSyncEngine.FetchChangesOptions(scope: .zoneIDs([todos]), operationGroup: group)
        #expect(options.operationGroup === group && options.prioritizedZoneIDs.isEmpty)
        options.prioritizedZoneIDs = [todos]
        #expect(options.description.contains("todos") && CKSyncEngine.FetchChangesOptions().scope == .all)
        let send = CKSyncEngine.SendChangesOptions(scope: .recordIDs([mine]), operationGroup: group)
        #expect(send.operationGroup === group && send.description.contains("recordIDs"))
        #expect(CKSyncEngine.SendChangesOptions().scope == .all)
        #expect([CKSyncEngine.SyncReason.scheduled, .manual].map(\.description) == ["scheduled", "manual"])
        #expect(
            CKSyncEngine.PendingDatabaseChange.saveZone(CKRecordZone(zoneID: todos)).description.contains(
                "todos"))
        let changes: [CKSyncEngine.Event.AccountChange.ChangeType] = [
            .signIn(currentUser: mine), .signOut(previousUser: mine),
            .switchAccounts(previousUser: mine, currentUser: others),
        ]
        #expect(changes.map(\.description) == ["signIn(a)", "signOut(a)", "switchAccounts(a, a)"])
    }
}
