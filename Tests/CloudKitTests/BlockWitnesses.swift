import CloudKit
import Foundation
import System

/// Objects that an operation's blocks capture, one for each, as an app's blocks capture a view model.
final class BlockWitnesses: Sendable {
    /// What a block captures.
    final class Witness: Sendable {
        /// What the block calls, so that it holds on to it.
        func see() {}
    }

    private struct Entry {
        var block: String
        weak var witness: Witness?
    }

    private let entries = Lock<[Entry]>([])

    /// The blocks that were set.
    var blocks: [String] { entries.withLock { $0.map(\.block) } }
    /// Those whose objects are still there.
    var held: [String] { entries.withLock { $0.filter { $0.witness != nil }.map(\.block) } }

    /// Sets each block of `operation`.
    init(_ operation: CKOperation) { (self as any BlockWitnessing).setBlocks(of: operation) }

    private func of(_ block: String) -> Witness {
        let witness = Witness()
        entries.withLock { $0.append(Entry(block: block, witness: witness)) }
        return witness
    }
}

/// Through a protocol a deprecated method can be called without a warning.
private protocol BlockWitnessing {
    func setBlocks(of operation: CKOperation)
}

extension BlockWitnesses: BlockWitnessing {
    @available(*, deprecated) fileprivate func setBlocks(of operation: CKOperation) {
        operation.completionBlock = { [w = of("completionBlock")] in w.see() }
        operation.longLivedOperationWasPersistedBlock = {
            [w = of("longLivedOperationWasPersistedBlock")] in w.see()
        }
        switch operation {
        case let operation as CKModifyRecordsOperation: set(operation)
        case let operation as CKFetchRecordsOperation: set(operation)
        case let operation as CKQueryOperation: set(operation)
        case let operation as CKFetchRecordZoneChangesOperation: set(operation)
        case let operation as CKFetchDatabaseChangesOperation: set(operation)
        case let operation as CKModifyRecordZonesOperation: set(operation)
        case let operation as CKFetchRecordZonesOperation: set(operation)
        case let operation as CKModifySubscriptionsOperation: set(operation)
        case let operation as CKFetchSubscriptionsOperation: set(operation)
        default: setOther(operation)
        }
    }

    @available(*, deprecated) private func set(_ operation: CKModifyRecordsOperation) {
        operation.perRecordProgressBlock = { [w = of("perRecordProgressBlock")] _, _ in w.see() }
        operation.perRecordSaveBlock = { [w = of("perRecordSaveBlock")] _, _ in w.see() }
        operation.perRecordDeleteBlock = { [w = of("perRecordDeleteBlock")] _, _ in w.see() }
        operation.modifyRecordsResultBlock = { [w = of("modifyRecordsResultBlock")] _ in w.see() }
        operation.perRecordCompletionBlock = { [w = of("perRecordCompletionBlock")] _, _ in w.see() }
        operation.modifyRecordsCompletionBlock = {
            [w = of("modifyRecordsCompletionBlock")] _, _, _ in w.see()
        }
    }

    @available(*, deprecated) private func set(_ operation: CKFetchRecordsOperation) {
        operation.perRecordProgressBlock = { [w = of("perRecordProgressBlock")] _, _ in w.see() }
        operation.perRecordResultBlock = { [w = of("perRecordResultBlock")] _, _ in w.see() }
        operation.fetchRecordsResultBlock = { [w = of("fetchRecordsResultBlock")] _ in w.see() }
        operation.perRecordCompletionBlock = { [w = of("perRecordCompletionBlock")] _, _, _ in w.see() }
        operation.fetchRecordsCompletionBlock = { [w = of("fetchRecordsCompletionBlock")] _, _ in w.see() }
    }

    @available(*, deprecated) private func set(_ operation: CKQueryOperation) {
        operation.recordMatchedBlock = { [w = of("recordMatchedBlock")] _, _ in w.see() }
        operation.queryResultBlock = { [w = of("queryResultBlock")] _ in w.see() }
        operation.recordFetchedBlock = { [w = of("recordFetchedBlock")] _ in w.see() }
        operation.queryCompletionBlock = { [w = of("queryCompletionBlock")] _, _ in w.see() }
    }

    @available(*, deprecated) private func set(_ operation: CKFetchRecordZoneChangesOperation) {
        operation.recordWasChangedBlock = { [w = of("recordWasChangedBlock")] _, _ in w.see() }
        operation.recordChangedBlock = { [w = of("recordChangedBlock")] _ in w.see() }
        operation.recordWithIDWasDeletedBlock = { [w = of("recordWithIDWasDeletedBlock")] _, _ in w.see() }
        operation.recordZoneChangeTokensUpdatedBlock = {
            [w = of("recordZoneChangeTokensUpdatedBlock")] _, _, _ in w.see()
        }
        operation.recordZoneFetchResultBlock = { [w = of("recordZoneFetchResultBlock")] _, _ in w.see() }
        operation.recordZoneFetchCompletionBlock = {
            [w = of("recordZoneFetchCompletionBlock")] _, _, _, _, _ in w.see()
        }
        operation.fetchRecordZoneChangesResultBlock = {
            [w = of("fetchRecordZoneChangesResultBlock")] _ in w.see()
        }
        operation.fetchRecordZoneChangesCompletionBlock = {
            [w = of("fetchRecordZoneChangesCompletionBlock")] _ in w.see()
        }
    }

    @available(*, deprecated) private func set(_ operation: CKFetchDatabaseChangesOperation) {
        operation.recordZoneWithIDChangedBlock = { [w = of("recordZoneWithIDChangedBlock")] _ in w.see() }
        operation.recordZoneWithIDWasDeletedBlock = {
            [w = of("recordZoneWithIDWasDeletedBlock")] _ in w.see()
        }
        operation.recordZoneWithIDWasPurgedBlock = { [w = of("recordZoneWithIDWasPurgedBlock")] _ in w.see() }
        operation.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = {
            [w = of("recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock")] _ in w.see()
        }
        operation.changeTokenUpdatedBlock = { [w = of("changeTokenUpdatedBlock")] _ in w.see() }
        operation.fetchDatabaseChangesResultBlock = {
            [w = of("fetchDatabaseChangesResultBlock")] _ in w.see()
        }
        operation.fetchDatabaseChangesCompletionBlock = {
            [w = of("fetchDatabaseChangesCompletionBlock")] _, _, _ in w.see()
        }
    }

    @available(*, deprecated) private func set(_ operation: CKModifyRecordZonesOperation) {
        operation.perRecordZoneSaveBlock = { [w = of("perRecordZoneSaveBlock")] _, _ in w.see() }
        operation.perRecordZoneDeleteBlock = { [w = of("perRecordZoneDeleteBlock")] _, _ in w.see() }
        operation.modifyRecordZonesResultBlock = { [w = of("modifyRecordZonesResultBlock")] _ in w.see() }
        operation.modifyRecordZonesCompletionBlock = {
            [w = of("modifyRecordZonesCompletionBlock")] _, _, _ in w.see()
        }
    }

    @available(*, deprecated) private func set(_ operation: CKFetchRecordZonesOperation) {
        operation.perRecordZoneResultBlock = { [w = of("perRecordZoneResultBlock")] _, _ in w.see() }
        operation.fetchRecordZonesResultBlock = { [w = of("fetchRecordZonesResultBlock")] _ in w.see() }
        operation.fetchRecordZonesCompletionBlock = {
            [w = of("fetchRecordZonesCompletionBlock")] _, _ in w.see()
        }
    }

    @available(*, deprecated) private func set(_ operation: CKModifySubscriptionsOperation) {
        operation.perSubscriptionSaveBlock = { [w = of("perSubscriptionSaveBlock")] _, _ in w.see() }
        operation.perSubscriptionDeleteBlock = { [w = of("perSubscriptionDeleteBlock")] _, _ in w.see() }
        operation.modifySubscriptionsResultBlock = { [w = of("modifySubscriptionsResultBlock")] _ in w.see() }
        operation.modifySubscriptionsCompletionBlock = {
            [w = of("modifySubscriptionsCompletionBlock")] _, _, _ in w.see()
        }
    }

    @available(*, deprecated) private func set(_ operation: CKFetchSubscriptionsOperation) {
        operation.perSubscriptionResultBlock = { [w = of("perSubscriptionResultBlock")] _, _ in w.see() }
        operation.fetchSubscriptionsResultBlock = { [w = of("fetchSubscriptionsResultBlock")] _ in w.see() }
        operation.fetchSubscriptionCompletionBlock = {
            [w = of("fetchSubscriptionCompletionBlock")] _, _ in w.see()
        }
    }

    @available(*, deprecated) private func setOther(_ operation: CKOperation) {
        switch operation {
        case let operation as CKAcceptSharesOperation: set(operation)
        case let operation as CKFetchShareMetadataOperation: set(operation)
        case let operation as CKFetchShareParticipantsOperation: set(operation)
        case let operation as CKShareRequestAccessOperation: set(operation)
        case let operation as CKFetchWebAuthTokenOperation: set(operation)
        case let operation as CKDiscoverUserIdentitiesOperation: set(operation)
        case let operation as CKDiscoverAllUserIdentitiesOperation: set(operation)
        case let operation as CKFetchRecordChangesOperation: set(operation)
        case let operation as CKFetchNotificationChangesOperation: set(operation)
        case let operation as CKMarkNotificationsReadOperation: set(operation)
        case let operation as CKModifyBadgeOperation: set(operation)
        default: break
        }
    }

    @available(*, deprecated) private func set(_ operation: CKAcceptSharesOperation) {
        operation.perShareResultBlock = { [w = of("perShareResultBlock")] _, _ in w.see() }
        operation.acceptSharesResultBlock = { [w = of("acceptSharesResultBlock")] _ in w.see() }
        operation.perShareCompletionBlock = { [w = of("perShareCompletionBlock")] _, _, _ in w.see() }
        operation.acceptSharesCompletionBlock = { [w = of("acceptSharesCompletionBlock")] _ in w.see() }
    }

    @available(*, deprecated) private func set(_ operation: CKFetchShareMetadataOperation) {
        operation.perShareMetadataResultBlock = { [w = of("perShareMetadataResultBlock")] _, _ in w.see() }
        operation.fetchShareMetadataResultBlock = { [w = of("fetchShareMetadataResultBlock")] _ in w.see() }
        operation.perShareMetadataBlock = { [w = of("perShareMetadataBlock")] _, _, _ in w.see() }
        operation.fetchShareMetadataCompletionBlock = {
            [w = of("fetchShareMetadataCompletionBlock")] _ in w.see()
        }
    }

    @available(*, deprecated) private func set(_ operation: CKFetchShareParticipantsOperation) {
        operation.perShareParticipantResultBlock = {
            [w = of("perShareParticipantResultBlock")] _, _ in w.see()
        }
        operation.fetchShareParticipantsResultBlock = {
            [w = of("fetchShareParticipantsResultBlock")] _ in w.see()
        }
        operation.shareParticipantFetchedBlock = { [w = of("shareParticipantFetchedBlock")] _ in w.see() }
        operation.fetchShareParticipantsCompletionBlock = {
            [w = of("fetchShareParticipantsCompletionBlock")] _ in w.see()
        }
    }

    @available(*, deprecated) private func set(_ operation: CKShareRequestAccessOperation) {
        operation.perShareAccessRequestResultBlock = {
            [w = of("perShareAccessRequestResultBlock")] _, _ in w.see()
        }
        operation.shareAccessRequestResultBlock = { [w = of("shareAccessRequestResultBlock")] _ in w.see() }
    }

    @available(*, deprecated) private func set(_ operation: CKFetchWebAuthTokenOperation) {
        operation.fetchWebAuthTokenResultBlock = { [w = of("fetchWebAuthTokenResultBlock")] _ in w.see() }
        operation.fetchWebAuthTokenCompletionBlock = {
            [w = of("fetchWebAuthTokenCompletionBlock")] _, _ in w.see()
        }
    }

    @available(*, deprecated) private func set(_ operation: CKDiscoverUserIdentitiesOperation) {
        operation.userIdentityDiscoveredBlock = { [w = of("userIdentityDiscoveredBlock")] _, _ in w.see() }
        operation.discoverUserIdentitiesResultBlock = {
            [w = of("discoverUserIdentitiesResultBlock")] _ in w.see()
        }
        operation.discoverUserIdentitiesCompletionBlock = {
            [w = of("discoverUserIdentitiesCompletionBlock")] _ in w.see()
        }
    }

    @available(*, deprecated) private func set(_ operation: CKDiscoverAllUserIdentitiesOperation) {
        operation.userIdentityDiscoveredBlock = { [w = of("userIdentityDiscoveredBlock")] _ in w.see() }
        operation.discoverAllUserIdentitiesResultBlock = {
            [w = of("discoverAllUserIdentitiesResultBlock")] _ in w.see()
        }
        operation.discoverAllUserIdentitiesCompletionBlock = {
            [w = of("discoverAllUserIdentitiesCompletionBlock")] _ in w.see()
        }
    }

    @available(*, deprecated) private func set(_ operation: CKFetchRecordChangesOperation) {
        operation.recordChangedBlock = { [w = of("recordChangedBlock")] _ in w.see() }
        operation.recordWithIDWasDeletedBlock = { [w = of("recordWithIDWasDeletedBlock")] _ in w.see() }
        operation.fetchRecordChangesCompletionBlock = {
            [w = of("fetchRecordChangesCompletionBlock")] _, _, _ in w.see()
        }
    }

    @available(*, deprecated) private func set(_ operation: CKFetchNotificationChangesOperation) {
        operation.notificationChangedBlock = { [w = of("notificationChangedBlock")] _ in w.see() }
        operation.fetchNotificationChangesCompletionBlock = {
            [w = of("fetchNotificationChangesCompletionBlock")] _, _ in w.see()
        }
    }

    @available(*, deprecated) private func set(_ operation: CKMarkNotificationsReadOperation) {
        operation.markNotificationsReadCompletionBlock = {
            [w = of("markNotificationsReadCompletionBlock")] _, _ in w.see()
        }
    }

    @available(*, deprecated) private func set(_ operation: CKModifyBadgeOperation) {
        operation.modifyBadgeCompletionBlock = { [w = of("modifyBadgeCompletionBlock")] _ in w.see() }
    }
}
