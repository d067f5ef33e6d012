/// How many changes an extension is handed in one transaction while it catches up.
///
/// As few as let others write in between; twice as many each time that those others write as fast as it catches up, so
/// that they can't hold it up for ever.
struct CatchUpPace {
    /// Entries of the log in the first transaction.
    static let entriesMaxFirst = ExtensionCatchUp.batchEntriesMax

    /// Entries of the log in the next transaction.
    private(set) var entriesMax = Self.entriesMaxFirst
    private var (handledCount, left) = (0, Int64?.none)

    /// The part of the changes that it has, from 0 to 1.
    var part: Double {
        guard let left, left > 0 else { return 1 }
        return Double(handledCount) / (Double(handledCount) + Double(left))
    }

    /// Notes what a transaction came to.
    ///
    /// - Parameter left: How many positions of the log are left.
    mutating func handled(_ count: Int, left: Int64) {
        handledCount += count
        if let before = self.left, before > 0, left >= before { entriesMax *= 2 }
        self.left = left
        // What it misses later is handed over as slowly again.
        if left == 0 { entriesMax = Self.entriesMaxFirst }
    }
}
