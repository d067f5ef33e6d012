/// Calls extensions repeatedly until none of them changes rows.
extension YapDatabaseReadWriteTransaction {
    /// Maximum rounds in which extensions may change rows. More rounds count as endless.
    static let settlingRoundsMax = 100

    /// Calls `flushPendingChangesToMainDatabaseTable()` on all extensions until none changes a row.
    ///
    /// - Throws: `extensionsDoNotSettle` after `settlingRoundsMax` rounds; the error of an extension. The transaction
    ///   then fails.
    func settleExtensions() throws {
        try toldOf {
            var roundsCount = 0
            var count: Int
            repeat {
                roundsCount += 1
                guard roundsCount <= Self.settlingRoundsMax else {
                    throw YapDatabaseError(
                        .extensionsDoNotSettle, "rows still changed after \(roundsCount - 1) rounds")
                }
                count = writeCount
                for use in try uses() { try use.transaction.flushPendingChangesToMainDatabaseTable() }
            } while writeCount != count
        }
    }
}
