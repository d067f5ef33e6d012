/// A view of a search's results in a transaction, whatever its groups.
protocol SearchResults: AnyObject {
    /// Whether the view has the rows that this search finds.
    func isOf(_ search: AnyObject) -> Bool

    /// Places a row by what the search finds now.
    func place(
        _ row: YapDatabaseRowIdentity, _ object: any Sendable, isNew: Bool,
        _ flags: YapDatabaseViewRowChange.Flags?
    ) throws
}

extension YapDatabaseSearchResultsViewTransaction: SearchResults {
    func isOf(_ search: AnyObject) -> Bool { (try? searchPart()) === search }
}

extension YapDatabaseFullTextSearchTransaction {
    /// Places a row in the views of this search after only its metadata was set. Views place rows by themselves when
    /// the object is set.
    func placeInResults(_ row: YapDatabaseRowIdentity, _ object: any Sendable) throws {
        for use in transaction.usesSoFar {
            guard let results = use.transaction as? any SearchResults, results.isOf(self),
                use.entry.heard(.touchMetadata(row)) != nil
            else { continue }
            try results.place(row, object, isNew: false, .metadata)
        }
    }
}
