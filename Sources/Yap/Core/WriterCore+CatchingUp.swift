extension WriterCore {
    /// Brings registered extensions that another process left behind up to date, in the transaction that has just
    /// begun, and commits. Handles up to `CatchUpPace.entriesMaxFirst` changes of each; the next transaction goes on.
    ///
    /// One that is up to date then flushes in that transaction: what follows from the missed changes is not the next
    /// write's either. A failure is nobody else's: the extension stays unreadable, as its file says.
    func catchUp() {
        do {
            try member(isAlone: true) { transaction in
                transaction.isHandingRows = true
                transaction.passesOverMissed = true
                // Each comes after those that it depends on.
                for use in try transaction.uses() where use.entry.canCatchUp {
                    try use.entry.checkAgain(store)
                    guard use.entry.canCatchUp, !use.entry.waitsForDependencies else { continue }
                    try ExtensionCatchUp(store).hand(to: use, in: transaction)
                }
                for entry in store.extensions { entry.isChecked = false }
                for entry in store.extensions { try entry.check(store) }
            }
            try commit()
            for entry in store.extensions { entry.isChecked = false }
        } catch {
            abandon()
            for entry in store.extensions {
                // As the file says after all.
                entry.isChecked = false
                try? entry.check(store)
                entry.catchingUpFailed()
            }
        }
    }

    /// Whether extensions can be filled, or handed rows, that depend on others.
    enum Dependencies {
        /// They have all rows.
        case areComplete
        /// One of them is behind. The next transactions bring it up to date.
        case catchUp
        /// One of them can't be brought up to date here, or was replaced.
        case cannotBeRead(name: String, isReplaced: Bool)
    }

    /// What the extensions of these names, and those that they depend on, have now.
    func state(ofDependencies names: [String]) throws -> Dependencies {
        var state = Dependencies.areComplete
        for entry in store.extensions where names.contains(entry.registered.name) {
            try entry.check(store)
            if entry.isReplaced || entry.isBehind && !entry.canCatchUp {
                return .cannotBeRead(name: entry.registered.name, isReplaced: entry.isReplaced)
            }
            if entry.isBehind { state = .catchUp }
        }
        return state
    }

    /// The error of an extension that can't be filled because of one that it depends on.
    static func unreadable(_ dependency: String, of name: String) -> YapDatabaseError {
        YapDatabaseError(
            .extensionDependencyMissing,
            "\"\(name)\" needs \"\(dependency)\", which can't be read: another process wrote without it, or fills it"
        )
    }

    /// Checks that an extension can be registered: those that it depends on have all rows.
    ///
    /// - Throws: `DependenciesCatchUp` if one of them catches up first; `extensionDependencyMissing` if one can't be
    ///   read.
    func checkDependencies(of instance: any YapDatabaseExtension, _ name: String) throws {
        switch try state(ofDependencies: instance.dependencies) {
        case .areComplete: break
        case .catchUp: throw DependenciesCatchUp()
        case .cannotBeRead(let dependency, _): throw Self.unreadable(dependency, of: name)
        }
    }

    /// Notes for the extensions that aren't registered here which rows have another place in one that they depend on.
    func noteChange(
        of use: YapDatabaseReadTransaction.ExtensionUse, _ changes: any Sendable,
        in transaction: YapDatabaseReadWriteTransaction
    ) throws {
        let instance = use.entry.registered.instance
        try store.missedChangeLog.noteChange(of: use.entry.registered.name) {
            guard let places = changes as? any PlaceChanges else {
                // One that catches up depends on the rows alone, and these are logged.
                return instance.instanceCatchesUp || transaction.isHandingRows ? [] : nil
            }
            guard let rowIDs = places.changedRowIDs else { return nil }
            // Other rows than those that are logged aren't handed over.
            if transaction.isHandingRows { return [] }
            return try unlogged(rowIDs, instance.collections?.first ?? "", transaction.changes)
        }
    }

    private func unlogged(_ rowIDs: [Int64], _ collection: String, _ changes: CommitChanges) throws
        -> [YapDatabaseRowIdentity]
    {
        let written = Set(changes.collections.values.flatMap { $0.rows.values.map(\.rowID) })
        let isCleared =
            changes.isAllCleared || changes.collections[ExactString(collection)]?.isCleared ?? false
        let table = RowTable(store: store)
        return try rowIDs.filter { !written.contains($0) }.sorted().compactMap { rowID in
            if let row = try table.identity(ofRowID: rowID) { return row }
            // A row without a name: it was removed.
            return isCleared ? nil : YapDatabaseRowIdentity(rowID: rowID, collection: collection, key: "")
        }
    }
}

/// An extension has to wait: those that it depends on are brought up to date first, by the next transactions.
struct DependenciesCatchUp: Error {}

/// Changes of an extension that say of which rows it has another place.
protocol PlaceChanges {
    /// The rowids; nil if any row may have another place.
    var changedRowIDs: [Int64]? { get }
}
