extension WriterCore {
    /// Updates registered extensions that miss changes of another process, in the transaction that has just
    /// begun, and commits. Handles up to `CatchUpPace.entriesMaxFirst` changes of each extension; the next
    /// transaction continues.
    ///
    /// An updated extension flushes in the same transaction, so that effects of the missed changes aren't
    /// part of the next write. A failure affects only its extension, which stays unreadable, as recorded in
    /// the file.
    func catchUp() {
        do {
            try member(isAlone: true) { transaction in
                transaction.isHandingRows = true
                transaction.passesOverMissed = true
                // The order is that of the dependencies.
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
                // Restores the state from the file.
                entry.isChecked = false
                try? entry.check(store)
                entry.catchingUpFailed()
            }
        }
    }

    /// State of the dependencies of an extension that is about to receive rows.
    enum Dependencies {
        /// They have all rows.
        case areComplete
        /// One of them misses changes. The next transactions update it.
        case catchUp
        /// One of them can't be updated here, or was replaced.
        case cannotBeRead(name: String, isReplaced: Bool)
    }

    /// Returns the state of these extensions and of their dependencies.
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

    /// Returns the error of an extension that can't be filled because of a dependency.
    static func unreadable(_ dependency: String, of name: String) -> YapDatabaseError {
        YapDatabaseError(
            .extensionDependencyMissing,
            "\"\(name)\" needs \"\(dependency)\", which can't be read: another process wrote without it, or fills it"
        )
    }

    /// Checks that an extension can be registered: its dependencies have all rows.
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

    /// Logs the rows that moved in an extension, for dependents that aren't registered here.
    func noteChange(
        of use: YapDatabaseReadTransaction.ExtensionUse, _ changes: any Sendable,
        in transaction: YapDatabaseReadWriteTransaction
    ) throws {
        let instance = use.entry.registered.instance
        try store.missedChangeLog.noteChange(of: use.entry.registered.name) {
            guard let places = changes as? any PlaceChanges else {
                // A dependent that catches up depends only on rows, which are logged.
                return instance.instanceCatchesUp || transaction.isHandingRows ? [] : nil
            }
            guard let rowIDs = places.changedRowIDs else { return nil }
            // Rows that are passed to extensions are logged already.
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
            // A row without a name was removed.
            return isCleared ? nil : YapDatabaseRowIdentity(rowID: rowID, collection: collection, key: "")
        }
    }
}

/// Thrown if an extension has to wait because the next transactions update its dependencies first.
struct DependenciesCatchUp: Error {}

/// Changes of an extension that name the rows that moved.
protocol PlaceChanges {
    /// The rowids. Nil if any row may have moved.
    var changedRowIDs: [Int64]? { get }
}
