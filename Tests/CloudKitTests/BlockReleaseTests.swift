import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import Testing

@testable import CloudKit

/// An app's blocks capture what made the operation, or the operation itself: they go when it has ended.
@Suite struct BlockReleaseTests {
    private static let sharing: [OperationCase] = [
        OperationCase(
            name: "accept shares", make: { _ in CKAcceptSharesOperation(shareMetadatas: []) }),
        OperationCase(
            name: "share metadata", make: { _ in CKFetchShareMetadataOperation(shareURLs: []) }),
        OperationCase(
            name: "share participants",
            make: { _ in CKFetchShareParticipantsOperation(userIdentityLookupInfos: []) }),
        OperationCase(
            name: "share access", make: { _ in CKShareRequestAccessOperation(shareURLs: []) }),
    ]
    private static let all = OperationTable.successes + OperationTable.others + sharing

    enum End: CaseIterable {
        case success, failure, cancelledBeforeItsStart, cancelledWhileItWaits
    }

    private func add(_ operation: CKOperation, to container: CKContainer) {
        if let operation = operation as? CKDatabaseOperation {
            container.privateCloudDatabase.add(operation)
        } else {
            container.add(operation)
        }
    }

    @Test(arguments: all, End.allCases)
    func whatABlockHoldsIsFreedWhenItsOperationHasEnded(operation: OperationCase, end: End) async throws {
        let devices = try await TwoDevices()
        try await OperationTable.fill(devices)
        let made = try operation.make(devices)
        let witnesses = BlockWitnesses(made)
        #expect(witnesses.held == witnesses.blocks && witnesses.blocks.count > 2)
        let silent = SilentTransport()
        switch end {
        case .success: add(made, to: devices.cloud.device(user: "ada").container)
        case .failure: add(made, to: ScriptedTransport([]).container)
        case .cancelledBeforeItsStart:
            made.cancel()
            add(made, to: devices.cloud.device(user: "ada").container)
        case .cancelledWhileItWaits:
            add(made, to: silent.container)
            made.cancel()
        }
        #expect(made.isFinished)
        // The transport still has what would take a late answer.
        withExtendedLifetime((made, silent)) { #expect(witnesses.held == []) }
    }

    /// On its own queue, as most operations run, and a long-lived one too.
    @Test(arguments: [false, true]) func onAThreadOfItsOwnTheyAreFreedBeforeItIsSeenToBeFinished(
        isLongLived: Bool
    ) async throws {
        let devices = try await TwoDevices(TestCloud(execution: .threads))
        for isCancelled in [false, true] {
            let operation = CKModifyRecordsOperation(recordsToSave: [devices.record("\(isCancelled)")])
            operation.configuration.isLongLived = isLongLived
            let witnesses = BlockWitnesses(operation)
            await withCheckedContinuation { done in
                operation.completionBlock = { done.resume() }
                if isCancelled { operation.cancel() }
                devices.phone.add(operation)
            }
            #expect(operation.isFinished)
            withExtendedLifetime(operation) { #expect(witnesses.held == []) }
        }
    }

    @Test func everyBlockOfEveryOperationIsLookedAt() async throws {
        let devices = try await TwoDevices()
        var seen = Set<String>()
        for operation in Self.all {
            let made = try operation.make(devices)
            let ofAll: Set = ["completionBlock", "longLivedOperationWasPersistedBlock"]
            for block in BlockWitnesses(made).blocks {
                seen.insert("\(ofAll.contains(block) ? "CKOperation" : "\(type(of: made))").\(block)")
            }
        }
        let page = try String(
            contentsOf: SymbolGraph.root.appending(path: "docs/CLOUDKIT_ON_LINUX.md"), encoding: .utf8)
        let rows = page.matches(of: /\| `(CK[A-Za-z]*Operation\.[A-Za-z]+Block)` \|/).map { String($0.1) }
        #expect(rows.count > 40 && Set(rows) == seen)
    }
}

extension OperationCase {
    fileprivate init(name: String, make: @escaping @Sendable (TwoDevices) throws -> CKOperation) {
        self.init(name: name, kind: nil, make: make, new: [], old: [], oldFailure: "")
    }
}
