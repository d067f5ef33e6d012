/// A view of search results in a transaction, with any type of groups.
protocol SearchResults: AnyObject {
    /// Returns true if the view shows the results of this search.
    func isOf(_ search: AnyObject) -> Bool

    /// Records a row. The search places it later.
    func note(_ row: YapDatabaseRowIdentity, isNew: Bool, _ flags: YapDatabaseViewRowChange.Flags?) throws
}

extension YapDatabaseSearchResultsViewTransaction: SearchResults {
    func isOf(_ search: AnyObject) -> Bool { (try? searchPart()) === search }
}

extension YapDatabaseFullTextSearchTransaction {
    /// Places a row in the views of this search after only its metadata was set. When the object is set, views place
    /// rows by themselves.
    func placeInResults(_ row: YapDatabaseRowIdentity) throws {
        for use in transaction.usesSoFar {
            guard let results = use.transaction as? any SearchResults, results.isOf(self),
                use.entry.heard(.touchMetadata(row)) != nil
            else { continue }
            try results.note(row, isNew: false, .metadata)
        }
    }
}
