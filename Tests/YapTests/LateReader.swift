@testable import Yap

/// An extension that makes a mistake: it reads through its transaction after COMMIT.
final class LateReader: YapDatabaseExtension {
    static let classVersion = 1
    let versionTag = "1"
    let log: Log

    init(log: Log) { self.log = log }

    func makeConnection(registeredName: String) -> Connection { Connection(log: log) }

    final class Connection: YapDatabaseExtensionConnection {
        let log: Log
        init(log: Log) { self.log = log }
        func makeTransaction(
            _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
        ) -> Transaction {
            Transaction(log: log, transaction)
        }
        func apply(_ changes: any Sendable) {}
        func dropCaches() {}
    }

    final class Transaction: YapDatabaseExtensionTransaction {
        private let log: Log
        private unowned let transaction: YapDatabaseReadTransaction

        init(log: Log, _ transaction: YapDatabaseReadTransaction) {
            self.log = log
            self.transaction = transaction
        }

        func register(previous: YapDatabaseExtensionRegistration?) -> YapDatabaseExtensionContent {
            .isComplete
        }

        func didCommit(snapshot: UInt64) {
            log.add(code { _ = try transaction.todo("1") }?.rawValue ?? "read")
        }
    }
}
