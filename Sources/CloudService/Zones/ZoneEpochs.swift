import CloudWire

/// Epochs of the lives of one zone. A zone that is made again after a deletion gets the epoch that follows from the one
/// before, so a token of an earlier life can be told from one of before a restore, which gives an unrelated epoch.
enum ZoneEpochs {
    /// Maximum number of lives that a token may be behind.
    static let livesBehindMax = 64

    /// The epoch of the life after the one with `epoch`.
    static func epoch(after epoch: UInt64) -> UInt64 {
        var hash = FNV1a()
        hash.add("life after \(epoch)")
        return hash.hash == FeedPosition.epochBeforeTheFirst ? 1 : hash.hash
    }

    /// Returns true if a zone with the epoch `later` was deleted and made again since it had `epoch`.
    static func isEarlier(_ epoch: UInt64, than later: UInt64) -> Bool {
        var epoch = epoch
        for _ in 0..<livesBehindMax {
            epoch = Self.epoch(after: epoch)
            if epoch == later { return true }
        }
        return false
    }
}
