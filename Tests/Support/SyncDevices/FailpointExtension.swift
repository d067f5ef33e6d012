import Yap

/// Sees each transaction from the inside, after the extensions that were registered before it.
final class FailpointExtension: YapDatabaseExtension {
    static let classVersion = 1
    let versionTag = "1"
    private let failpoints: Failpoints

    init(_ failpoints: Failpoints) {
        self.failpoints = failpoints
    }

    func makeConnection(registeredName: String) -> Connection { Connection(failpoints) }

    final class Connection: YapDatabaseExtensionConnection {
        private let failpoints: Failpoints

        init(_ failpoints: Failpoints) {
            self.failpoints = failpoints
        }

        func makeTransaction(
            _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
        ) -> Transaction {
            Transaction(failpoints)
        }

        func apply(_ changes: any Sendable) {}
        func dropCaches() {}
    }

    final class Transaction: YapDatabaseExtensionTransaction {
        private let failpoints: Failpoints

        init(_ failpoints: Failpoints) {
            self.failpoints = failpoints
        }

        func register(previous: YapDatabaseExtensionRegistration?) -> YapDatabaseExtensionContent {
            .isComplete
        }

        func didChange(_ change: YapDatabaseRowChange) throws {
            failpoints.reached(.row)
        }

        func flushPendingChangesToExtensionTables() throws {
            failpoints.reached(.beforeCommit)
        }

        func didCommit(snapshot: UInt64) {
            failpoints.reached(.afterCommit)
        }
    }
}
