@testable import Yap

/// An extension of a package of its own, as far as it can be: it does what closures say.
final class ScriptedExtension: YapDatabaseExtension {
    typealias Step = @Sendable (Transaction) throws -> Void

    static let classVersion = 1
    let versionTag = "1"
    let dependencies: [String]
    let tables: [String]
    let asksFor: String?
    let fills: Bool
    let onRegister, onFill, onFlush: Step
    let log: Log

    init(
        tables: [String] = [], dependencies: [String] = [], asksFor: String? = nil, fills: Bool = true,
        log: Log = Log(), onRegister: @escaping Step = { _ in }, onFill: @escaping Step = { _ in },
        onFlush: @escaping Step = { _ in }
    ) {
        (self.tables, self.dependencies, self.asksFor, self.fills) = (tables, dependencies, asksFor, fills)
        (self.onRegister, self.onFill, self.onFlush, self.log) = (onRegister, onFill, onFlush, log)
    }

    func tableNames(registeredName: String) -> [String] { tables }
    func makeConnection(registeredName: String) -> Connection { Connection(self) }

    final class Connection: YapDatabaseExtensionConnection {
        private let instance: ScriptedExtension

        init(_ instance: ScriptedExtension) { self.instance = instance }

        func makeTransaction(
            _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
        ) -> Transaction {
            if let name = instance.asksFor {
                let part = try? transaction.ext(name, as: ScriptedExtension.self)
                instance.log.add(part == nil ? "nothing to depend on" : "depends")
            }
            return Transaction(instance, transaction, tables)
        }

        func apply(_ changes: any Sendable) {}
        func dropCaches() {}
    }

    final class Transaction: YapDatabaseExtensionTransaction {
        let transaction: YapDatabaseReadTransaction
        let tables: YapDatabaseExtensionTables
        private let instance: ScriptedExtension

        init(
            _ instance: ScriptedExtension, _ transaction: YapDatabaseReadTransaction,
            _ tables: YapDatabaseExtensionTables
        ) {
            (self.instance, self.transaction, self.tables) = (instance, transaction, tables)
        }

        func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
            try instance.onRegister(self)
            return instance.fills ? .isEmpty : .isComplete
        }

        func fill(_ rows: [YapDatabaseStoredRow]) throws {
            instance.log.add("filled \(rows.count)")
            try instance.onFill(self)
        }

        func didChange(_ change: YapDatabaseRowChange) throws { instance.log.add("changed") }

        func flushPendingChangesToMainDatabaseTable() throws { try instance.onFlush(self) }
    }
}
