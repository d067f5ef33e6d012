/// Letting extensions change rows until none does.
extension YapDatabaseReadWriteTransaction {
    /// How often extensions may change rows before that counts as endless.
    static let settlingRoundsMax = 100

    /// Calls `flushPendingChangesToMainDatabaseTable()` on all extensions until none changes a row.
    ///
    /// - Throws: `extensionsDoNotSettle` after `settlingRoundsMax` rounds; what an extension throws. The transaction
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
