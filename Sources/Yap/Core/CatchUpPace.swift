/// Number of changes that an extension receives in one transaction while it catches up.
///
/// Starts small, so that other writes can run in between. Doubles each time that other writes add changes as
/// fast as the extension catches up, so that they can't delay it forever.
struct CatchUpPace {
    /// Entries of the log in the first transaction.
    static let entriesMaxFirst = ExtensionCatchUp.batchEntriesMax

    /// Entries of the log in the next transaction.
    private(set) var entriesMax = Self.entriesMaxFirst
    private var (handledCount, left) = (0, Int64?.none)

    /// Completed part of the changes, from 0 to 1.
    var part: Double {
        guard let left, left > 0 else { return 1 }
        return Double(handledCount) / (Double(handledCount) + Double(left))
    }

    /// Records the result of a transaction.
    ///
    /// - Parameter left: Remaining positions of the log.
    mutating func handled(_ count: Int, left: Int64) {
        handledCount += count
        if let before = self.left, before > 0, left >= before { entriesMax *= 2 }
        self.left = left
        // Later changes start with the small number again.
        if left == 0 { entriesMax = Self.entriesMaxFirst }
    }
}
