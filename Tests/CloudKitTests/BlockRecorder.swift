import CloudKit
import CloudKitTesting
import Foundation

/// Which of an operation's blocks an app sets.
enum BlockStyle: CaseIterable {
    /// Those with results.
    case new
    /// Those from before them.
    case old
    /// All. Of each pair the newer is called.
    case both
}

/// Through a protocol a deprecated method can be called without a warning.
private protocol BlockSetting {
    func setBlocks(of operation: CKOperation)
}

extension BlockRecorder: BlockSetting {}

/// Sets an operation's blocks, each of which says its name and what it got.
struct BlockRecorder: Sendable {
    let style: BlockStyle
    let said = Collected<String>()
    /// Called with what each block says, after it has said so.
    var heard: @Sendable (String) -> Void = { _ in }

    init(_ style: BlockStyle) { self.style = style }

    func say(_ words: String) {
        said.append(words)
        heard(words)
    }

    private func code(_ error: (any Error)?) -> Int {
        error.map { ($0 as? CKError)?.code.rawValue ?? -1 } ?? 0
    }

    private func end(_ name: String, _ result: Result<some Any, any Error>) {
        if case .failure(let error) = result { say("\(name) \(code(error))") } else { say("\(name) 0") }
    }

    func set(_ operation: CKOperation) { (self as any BlockSetting).setBlocks(of: operation) }

    @available(*, deprecated) fileprivate func setBlocks(of operation: CKOperation) {
        operation.completionBlock = { say("completion") }
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
        operation.perRecordProgressBlock = { say("progress \($0.recordID.recordName) \($1)") }
        operation.perRecordDeleteBlock = { end("delete \($0.recordName)", $1) }
        if style != .old {
            operation.perRecordSaveBlock = { end("save \($0.recordName)", $1) }
            operation.modifyRecordsResultBlock = { end("result", $0) }
        }
        guard style != .new else { return }
        operation.perRecordCompletionBlock = { say("old save \($0.recordID.recordName) \(code($1))") }
        operation.modifyRecordsCompletionBlock = {
            say("old result \($0?.count ?? -1) \($1?.count ?? -1) \(code($2))")
        }
    }

    @available(*, deprecated) private func set(_ operation: CKFetchRecordsOperation) {
        operation.perRecordProgressBlock = { say("progress \($0.recordName) \($1)") }
        if style != .old {
            operation.perRecordResultBlock = { end("record \($0.recordName)", $1) }
            operation.fetchRecordsResultBlock = { end("result", $0) }
        }
        guard style != .new else { return }
        operation.perRecordCompletionBlock = {
            say("old record \($1?.recordName ?? "") \($0 != nil) \(code($2))")
        }
        operation.fetchRecordsCompletionBlock = { say("old result \($0?.count ?? -1) \(code($1))") }
    }

    @available(*, deprecated) private func set(_ operation: CKQueryOperation) {
        if style != .old {
            operation.recordMatchedBlock = { end("record \($0.recordName)", $1) }
            operation.queryResultBlock = { end("result", $0) }
        }
        guard style != .new else { return }
        operation.recordFetchedBlock = { say("old record \($0.recordID.recordName)") }
        operation.queryCompletionBlock = { say("old result \($0 != nil) \(code($1))") }
    }

    @available(*, deprecated) private func set(_ operation: CKFetchRecordZoneChangesOperation) {
        operation.recordWithIDWasDeletedBlock = { recordID, _ in say("deleted \(recordID.recordName)") }
        operation.recordZoneChangeTokensUpdatedBlock = { zoneID, token, _ in
            say("token \(zoneID.zoneName) \(token != nil)")
        }
        if style != .old {
            operation.recordWasChangedBlock = { end("changed \($0.recordName)", $1) }
            operation.recordZoneFetchResultBlock = { end("zone \($0.zoneName)", $1) }
            operation.fetchRecordZoneChangesResultBlock = { end("result", $0) }
        }
        guard style != .new else { return }
        operation.recordChangedBlock = { say("old changed \($0.recordID.recordName)") }
        operation.recordZoneFetchCompletionBlock = { zoneID, token, _, more, error in
            say("old zone \(zoneID.zoneName) \(token != nil) \(more) \(code(error))")
        }
        operation.fetchRecordZoneChangesCompletionBlock = { say("old result \(code($0))") }
    }

    @available(*, deprecated) private func set(_ operation: CKFetchDatabaseChangesOperation) {
        operation.recordZoneWithIDChangedBlock = { say("changed \($0.zoneName)") }
        operation.recordZoneWithIDWasDeletedBlock = { say("deleted \($0.zoneName)") }
        operation.recordZoneWithIDWasPurgedBlock = { say("purged \($0.zoneName)") }
        operation.changeTokenUpdatedBlock = { _ in say("token") }
        if style != .old { operation.fetchDatabaseChangesResultBlock = { end("result", $0) } }
        guard style != .new else { return }
        operation.fetchDatabaseChangesCompletionBlock = { say("old result \($0 != nil) \($1) \(code($2))") }
    }

    @available(*, deprecated) private func set(_ operation: CKModifyRecordZonesOperation) {
        if style != .old {
            operation.perRecordZoneSaveBlock = { end("save \($0.zoneName)", $1) }
            operation.perRecordZoneDeleteBlock = { end("delete \($0.zoneName)", $1) }
            operation.modifyRecordZonesResultBlock = { end("result", $0) }
        }
        guard style != .new else { return }
        operation.modifyRecordZonesCompletionBlock = {
            say("old result \($0?.count ?? -1) \($1?.count ?? -1) \(code($2))")
        }
    }

    @available(*, deprecated) private func set(_ operation: CKFetchRecordZonesOperation) {
        if style != .old {
            operation.perRecordZoneResultBlock = { end("zone \($0.zoneName)", $1) }
            operation.fetchRecordZonesResultBlock = { end("result", $0) }
        }
        guard style != .new else { return }
        operation.fetchRecordZonesCompletionBlock = { say("old result \($0?.count ?? -1) \(code($1))") }
    }

    @available(*, deprecated) private func set(_ operation: CKModifySubscriptionsOperation) {
        if style != .old {
            operation.perSubscriptionSaveBlock = { end("save \($0)", $1) }
            operation.perSubscriptionDeleteBlock = { end("delete \($0)", $1) }
            operation.modifySubscriptionsResultBlock = { end("result", $0) }
        }
        guard style != .new else { return }
        operation.modifySubscriptionsCompletionBlock = {
            say("old result \($0?.count ?? -1) \($1?.count ?? -1) \(code($2))")
        }
    }

    @available(*, deprecated) private func set(_ operation: CKFetchSubscriptionsOperation) {
        if style != .old {
            operation.perSubscriptionResultBlock = { end("subscription \($0)", $1) }
            operation.fetchSubscriptionsResultBlock = { end("result", $0) }
        }
        guard style != .new else { return }
        operation.fetchSubscriptionCompletionBlock = { say("old result \($0?.count ?? -1) \(code($1))") }
    }

    // MARK: Those that ask no database

    @available(*, deprecated) private func setOther(_ operation: CKOperation) {
        switch operation {
        case let operation as CKAcceptSharesOperation:
            if style != .old { operation.acceptSharesResultBlock = { end("result", $0) } }
            if style != .new { operation.acceptSharesCompletionBlock = { say("old result \(code($0))") } }
        case let operation as CKFetchShareMetadataOperation:
            if style != .old { operation.fetchShareMetadataResultBlock = { end("result", $0) } }
            if style != .new {
                operation.fetchShareMetadataCompletionBlock = { say("old result \(code($0))") }
            }
        case let operation as CKFetchShareParticipantsOperation:
            if style != .old { operation.fetchShareParticipantsResultBlock = { end("result", $0) } }
            if style != .new {
                operation.fetchShareParticipantsCompletionBlock = { say("old result \(code($0))") }
            }
        case let operation as CKFetchWebAuthTokenOperation:
            if style != .old { operation.fetchWebAuthTokenResultBlock = { end("result", $0) } }
            if style != .new {
                operation.fetchWebAuthTokenCompletionBlock = { say("old result \($0 != nil) \(code($1))") }
            }
        case let operation as CKDiscoverUserIdentitiesOperation:
            operation.userIdentityDiscoveredBlock = { user, _ in
                say("user \(user.userRecordID?.recordName ?? "")")
            }
            if style != .old { operation.discoverUserIdentitiesResultBlock = { end("result", $0) } }
            if style != .new {
                operation.discoverUserIdentitiesCompletionBlock = { say("old result \(code($0))") }
            }
        case let operation as CKDiscoverAllUserIdentitiesOperation:
            operation.userIdentityDiscoveredBlock = { say("user \($0.userRecordID?.recordName ?? "")") }
            if style != .old { operation.discoverAllUserIdentitiesResultBlock = { end("result", $0) } }
            if style != .new {
                operation.discoverAllUserIdentitiesCompletionBlock = { say("old result \(code($0))") }
            }
        default: (DeprecatedBlocks() as any OlderBlocks).set(operation, self)
        }
    }
}

/// Through a protocol a deprecated class can be used without a warning.
private protocol OlderBlocks {
    func set(_ operation: CKOperation, _ recorder: BlockRecorder)
}

private struct DeprecatedBlocks: OlderBlocks {
    @available(*, deprecated) func set(_ operation: CKOperation, _ recorder: BlockRecorder) {
        @Sendable func code(_ error: (any Error)?) -> Int {
            error.map { ($0 as? CKError)?.code.rawValue ?? -1 } ?? 0
        }
        switch operation {
        case let operation as CKFetchRecordChangesOperation:
            operation.recordChangedBlock = { recorder.say("old changed \($0.recordID.recordName)") }
            operation.recordWithIDWasDeletedBlock = { recorder.say("deleted \($0.recordName)") }
            operation.fetchRecordChangesCompletionBlock = { token, _, error in
                recorder.say("old result \(token != nil) \(code(error))")
            }
        case let operation as CKFetchNotificationChangesOperation:
            operation.fetchNotificationChangesCompletionBlock = {
                recorder.say("old result \($0 != nil) \(code($1))")
            }
        case let operation as CKMarkNotificationsReadOperation:
            operation.markNotificationsReadCompletionBlock = {
                recorder.say("old result \($0?.count ?? -1) \(code($1))")
            }
        case let operation as CKModifyBadgeOperation:
            operation.modifyBadgeCompletionBlock = { recorder.say("old result \(code($0))") }
        default: break
        }
    }
}
