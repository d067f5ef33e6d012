extension YapDatabaseCloudKitTransaction {
    /// Notes everything that the object keeps in memory. Copies of files that are made after this are removed when the
    /// savepoint fails.
    public func makeRestorePoint() throws -> () -> Void {
        let queue = (pendingAttaches, openChangeSets, valuesInTransaction, links, queuedRecords, lastChange)
        let rows = (rowsInMerge, unrestoredRows, formerRows, previousObjects, unreadableRows, takenOver)
        let flags = (liftsMissingFiles, isQueueTouched, deletesRemovedRecords, isByEngine)
        let zone = (account, partOfNew, comparison)
        let (assets, log, failure) = (assets, log, failure)
        return { [self] in
            removeAssets(Array(self.assets.made.dropFirst(assets.made.count)))
            (pendingAttaches, openChangeSets, valuesInTransaction, links, queuedRecords, lastChange) = queue
            (rowsInMerge, unrestoredRows, formerRows, previousObjects, unreadableRows, takenOver) = rows
            (liftsMissingFiles, isQueueTouched, deletesRemovedRecords, isByEngine) = flags
            (account, partOfNew, comparison) = zone
            (self.assets, self.log, self.failure) = (assets, log, failure)
        }
    }
}
