/// A view of a search's results in a transaction, with any type of groups.
protocol SearchResults: AnyObject {
    /// Whether the view has the rows that this search finds.
    func isOf(_ search: AnyObject) -> Bool

    /// Notes a row. The search decides later where it is placed.
    func note(_ row: YapDatabaseRowIdentity, isNew: Bool, _ flags: YapDatabaseViewRowChange.Flags?) throws
}

extension YapDatabaseSearchResultsViewTransaction: SearchResults {
    func isOf(_ search: AnyObject) -> Bool { (try? searchPart()) === search }
}

extension YapDatabaseFullTextSearchTransaction {
    /// Places a row in the views of this search after only its metadata was set. Views place rows by themselves when
    /// the object is set.
    func placeInResults(_ row: YapDatabaseRowIdentity) throws {
        for use in transaction.usesSoFar {
            guard let results = use.transaction as? any SearchResults, results.isOf(self),
                use.entry.heard(.touchMetadata(row)) != nil
            else { continue }
            try results.note(row, isNew: false, .metadata)
        }
    }
}
