import CloudKit
import CloudWire
import Foundation
import System
import Testing

/// Counts how often each of many operations ends, and waits until all have.
final class Ends: Sendable {
    private struct State {
        var results: [[CKError.Code?]] = []
        var retryAfters: [Double?] = []
        var completions: [Int] = []
        var open = 0
        var whenDone: (@Sendable () -> Void)?
    }

    private let state = Lock(State())

    /// The codes of the operations' results, in the order in which they were made; nil for success.
    var codes: [CKError.Code?] { state.withLock { $0.results.map { $0.first ?? nil } } }
    var retryAfters: [Double?] { state.withLock { $0.retryAfters } }

    /// An operation that saves a record of this name, and is counted.
    func save(_ name: String, zoneID: CKRecordZone.ID = .default) -> CKModifyRecordsOperation {
        let operation = CKModifyRecordsOperation(
            recordsToSave: [
                CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
            ])
        let report = counted(operation)
        let itemCode = Lock<CKError?>(nil)
        operation.perRecordSaveBlock = { _, result in
            if case .failure(let error as CKError) = result { itemCode.withLock { $0 = error } }
        }
        operation.modifyRecordsResultBlock = { result in
            report(result.error as? CKError ?? itemCode.withLock { $0 })
        }
        return operation
    }

    /// Counts the ends of `operation`.
    /// - Returns: what its last block calls, with the error.
    func counted(_ operation: CKOperation) -> @Sendable (CKError?) -> Void {
        let index = state.withLock { state in
            state.results.append([])
            state.retryAfters.append(nil)
            state.completions.append(0)
            state.open += 1
            return state.results.count - 1
        }
        operation.completionBlock = { self.completed(index) }
        return { error in
            self.state.withLock { state in
                state.results[index].append(error?.code)
                state.retryAfters[index] = error?.retryAfterSeconds
            }
        }
    }

    private func completed(_ index: Int) {
        let whenDone: (@Sendable () -> Void)? = state.withLock { state in
            state.completions[index] += 1
            state.open -= 1
            return state.open == 0 ? state.whenDone : nil
        }
        whenDone?()
    }

    /// Waits until every operation has ended; each ended once, and said so once.
    func wait(sourceLocation: SourceLocation = #_sourceLocation) async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                state.whenDone = { continuation.resume() }
                return state.open == 0
            }
            if isDone { continuation.resume() }
        }
        let (results, completions) = state.withLock { ($0.results, $0.completions) }
        #expect(
            results.allSatisfy { $0.count == 1 }, "a result came twice or never",
            sourceLocation: sourceLocation)
        #expect(
            completions.allSatisfy { $0 == 1 }, "an operation ended twice", sourceLocation: sourceLocation)
    }
}

/// A private database at `url`, over HTTP on threads.
func databaseOverHTTP(_ url: String, token: String = "t") -> CKDatabase {
    CKContainer(
        identifier: "iCloud.yap.test",
        connection: CloudConnection(
            transport: HTTPTransport(serverURL: url, client: HTTPClients.client(authoritiesFile: nil)),
            execution: .threads, webAuthToken: token)
    ).privateCloudDatabase
}

extension Result where Failure == any Error {
    fileprivate var error: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }
}
