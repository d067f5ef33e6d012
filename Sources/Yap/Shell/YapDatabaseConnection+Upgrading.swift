/// How far `upgradeObjects` is.
public struct YapDatabaseUpgradeProgress: Hashable, Sendable {
    /// Rows that were looked at.
    public let doneCount: Int
    /// Rows that the collection had at the beginning.
    public let totalCount: Int
    /// Rows that were stored again.
    public let storedCount: Int
}

extension YapDatabaseConnection {
    /// Stores the objects of a collection again that earlier versions of their model stored, so that reading them
    /// takes no longer than reading new ones.
    ///
    /// Not needed for anything else: each read upgrades what it reads. The objects stay equal, so no extension and no
    /// observer is told. 200 rows are one transaction; other writes go on between them.
    ///
    /// ```swift
    /// try await connection.upgradeObjects(inCollection: "todos") { print($0.doneCount, "of", $0.totalCount) }
    /// ```
    /// - Parameter progress: Called after each transaction.
    /// - Returns: How many objects were stored again.
    /// - Throws: `CancellationError`; `YapDatabaseError`: `decoding` for an object that can't be upgraded, which leaves
    ///   those before it upgraded; or what a write throws.
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

    /// Stores rows behind a key again where the registered type stores them otherwise today.
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
            let object = try decoded(coder, row.key, collection) { try stored.withUnsafeBytes($0) }
            let encoded = try encoded(object, coder, name)
            try noteNames(encoded, registered)
            let bytes = try keeping(row.rowID, in: encoded, registered)
            guard bytes != stored else { continue }
            // The object is equal to the one that the caches and extensions know: only its bytes differ.
            try rows.updateObject(row.rowID, data: bytes)
            storedCount += 1
        }
        return (found.last?.key, found.count, storedCount)
    }
}
