/// Progress of `upgradeObjects`.
public struct YapDatabaseUpgradeProgress: Hashable, Sendable {
    /// Number of rows examined so far.
    public let doneCount: Int
    /// Number of rows in the collection at the beginning.
    public let totalCount: Int
    /// Number of rows stored again so far.
    public let storedCount: Int
}

extension YapDatabaseConnection {
    /// Stores the objects again that earlier versions of their model stored, so that reading them is as fast as
    /// reading new ones.
    ///
    /// This is optional, because each read upgrades what it reads. The objects stay equal, so extensions and
    /// observers aren't notified. Each transaction handles 200 rows; other writes run in between.
    ///
    /// ```swift
    /// try await connection.upgradeObjects(inCollection: "todos") { print($0.doneCount, "of", $0.totalCount) }
    /// ```
    /// - Parameters:
    ///   - collection: The collection.
    ///   - progress: Called after each transaction.
    /// - Returns: Number of objects stored again.
    /// - Throws: `CancellationError`; `YapDatabaseError`: `decoding` for an object that can't be upgraded, which
    ///   leaves the earlier ones upgraded; or the errors of a write.
    @discardableResult
    public func upgradeObjects(
        inCollection collection: String,
        progress: @Sendable (YapDatabaseUpgradeProgress) -> Void = { _ in }
    ) async throws -> Int {
        let totalCount = try await read { try $0.numberOfKeys(inCollection: collection) }
        var (doneCount, storedCount, lastKey) = (0, 0, String?.none)
        while true {
            let after = lastKey
            let step = try await readWrite { try $0.upgradeObjects(inCollection: collection, after: after) }
            guard let key = step.lastKey else { return storedCount }
            lastKey = key
            doneCount += step.doneCount
            storedCount += step.storedCount
            progress(
                YapDatabaseUpgradeProgress(
                    doneCount: doneCount, totalCount: totalCount, storedCount: storedCount))
        }
    }
}

extension YapDatabaseReadWriteTransaction {
    private static var upgradedRowsMax: Int { 200 }

    /// Stores rows after a key again if the registered type would now store them differently.
    fileprivate func upgradeObjects(
        inCollection collection: String, after key: String?
    ) throws -> (lastKey: String?, doneCount: Int, storedCount: Int) {
        try check()
        let registered = try store.registered(collection)
        let coder = registered.registration.object
        let found = try rows.identities(inCollection: collection, after: key, max: Self.upgradedRowsMax)
        var storedCount = 0
        for row in found {
            guard let stored = try serializedObject(forKey: row.key, inCollection: collection) else {
                continue
            }
            let name = YapCollectionKey(collection: collection, key: row.key)
            let object = try coder.decoded(row.key, collection) { try stored.withUnsafeBytes($0) }
            let encoded = try coder.encoded(object, name)
            try propertyNames.note(encoded, registered)
            let bytes = try propertyNames.keeping(row.rowID, in: encoded, registered)
            guard bytes != stored else { continue }
            // The object equals the one in the caches and extensions; only its bytes differ.
            try rows.updateObject(row.rowID, data: bytes)
            storedCount += 1
        }
        return (found.last?.key, found.count, storedCount)
    }
}
