/// Updates child views after placements without a change of a row.
extension YapDatabaseViewTransaction {
    /// True if other views have this one as their parent.
    var hasFollowers: Bool {
        transaction.usesSoFar.contains { use in
            (use.transaction as? YapDatabaseViewTransaction)?.parent === self
        }
    }

    /// Places a row in the child views, after it was placed here.
    ///
    /// - Parameter flags: Changed parts of the row.
    func placeInFollowers(_ row: YapDatabaseRowIdentity, _ flags: YapDatabaseViewRowChange.Flags = [])
        throws
    {
        for follower in followers(row) {
            try follower.followParent(row, flags)
            // Otherwise the child does so when it knows the place.
            if !follower.isPending(row.rowID) { try follower.placeInFollowers(row, flags) }
        }
    }

    /// Gives a row a new sort key, here and in the child views. The order of rows stays.
    func setSort(_ rowID: Int64, _ sort: [UInt8]) throws {
        guard let entry = try table.entry(rowID) else { return }
        try table.setSort(entry, sort)
        let row = YapDatabaseRowIdentity(rowID: rowID, collection: view.collection, key: "")
        for follower in followers(row) { try follower.setSort(rowID, sort) }
    }

    /// Returns the child views that follow a row.
    private func followers(_ row: YapDatabaseRowIdentity) -> [YapDatabaseViewTransaction] {
        transaction.usesSoFar.compactMap { use in
            guard let part = use.transaction as? YapDatabaseViewTransaction, part.parent === self,
                use.entry.heard(.touchRow(row)) != nil
            else { return nil }
            return part
        }
    }
}
