import SQLite

/// Replaces the closures of a view in a transaction.
extension YapDatabaseViewTransaction {
    /// Replaces the rule, and runs `body`, which places the rows again.
    ///
    /// - Throws: `YapDatabaseError`: `readOnlyTransaction`; `missingRegistration` or `typeMismatch` for metadata that
    ///   isn't registered with the rule's type; `invalidExtension` if several open databases share the view. The
    ///   transaction may then continue. An error of `body` fails it.
    func set<Rule: VersionedRule>(
        _ rule: Rule, in setting: ViewSetting<Rule>, _ body: () throws -> Void
    ) throws {
        try transaction.check()
        guard let writing = transaction as? YapDatabaseReadWriteTransaction else {
            throw YapDatabaseError(
                .readOnlyTransaction, "a transaction that reads can't change the view \"\(view.name)\"")
        }
        guard rule.versionTag != setting.newest.versionTag else { return }
        try checkTypes(metadata: rule.metadataTypes)
        try placePending()
        guard setting.set(rule, by: owner) else { throw view.sharingMistake }
        try writing.toldOf {
            if let use = transaction.usesSoFar.first(where: { $0.transaction === self }) {
                try transaction.store.config.setText(
                    rule.versionTag, extension: use.entry.registered.name, key: ConfigTable.versionTagKey)
                try StoredExtension(use.entry.registered.name, transaction.store).setCatchesUp(view.catchesUp)
            }
            try body()
        }
    }

    /// Returns a row of the collection by its rowid, or nil if it doesn't exist.
    func storedRow(_ rowID: Int64) throws -> ViewRow<Object>? {
        let store = transaction.store
        let registration = try store.registered(view.collection).registration
        let sql = "SELECT rowid, collection, key, data, metadata FROM database2 WHERE rowid = ?1"
        return try store.statement(sql) { statement in
            try statement.bind(rowID, at: 1)
            guard try statement.step() else { return nil }
            let row = try registration.row(rowID, view.collection, statement)
            guard let object = row.object as? Object else { return nil }
            return ViewRow(identity: row.identity, object: object, metadata: .known(row.metadata))
        }
    }
}
