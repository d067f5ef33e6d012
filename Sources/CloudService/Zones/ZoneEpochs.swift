import CloudWire

/// Epochs of a zone that was deleted and recreated. A recreated zone gets an epoch derived from the previous
/// one, so that a token of an earlier incarnation can be distinguished from one issued before a restore,
/// which gives an unrelated epoch.
enum ZoneEpochs {
    /// Maximum number of recreations that a token may be behind.
    static let livesBehindMax = 64

    /// Returns the epoch of the next incarnation after the one with `epoch`.
    static func epoch(after epoch: UInt64) -> UInt64 {
        var hash = FNV1a()
        hash.add("life after \(epoch)")
        return hash.hash == FeedPosition.epochBeforeTheFirst ? 1 : hash.hash
    }

    /// Returns true if a zone with the epoch `later` was deleted and recreated since it had `epoch`.
    static func isEarlier(_ epoch: UInt64, than later: UInt64) -> Bool {
        var epoch = epoch
        for _ in 0..<livesBehindMax {
            epoch = Self.epoch(after: epoch)
            if epoch == later { return true }
        }
        return false
    }
}
