/// The version of a record: the epoch of its zone and the zone's counter at the change.
///
/// The epoch is random, so no tag is used twice, even after a zone was restored from a backup.
package struct ChangeTag: Hashable, Sendable {
    /// The zone's epoch.
    package var epoch: UInt64
    /// The zone's change counter. Not negative.
    package var counter: Int64

    /// Makes a tag.
    package init(epoch: UInt64, counter: Int64) {
        self.epoch = epoch
        self.counter = counter
    }

    /// Reads a tag. Returns nil for a text that `text` never has. Such a tag can't be current.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let counter = Int64(parts[0], radix: 36), counter >= 0,
            let epoch = UInt64(parts[1], radix: 36)
        else { return nil }
        self.init(epoch: epoch, counter: counter)
        // Each tag has exactly one text: no signs, capitals or leading zeros.
        guard self.text == text else { return nil }
    }

    /// The tag on the wire: counter and epoch in base 36, for example `1s2k.3w5e11264sgsf`. Opaque to
    /// clients.
    package var text: String { String(counter, radix: 36) + "." + String(epoch, radix: 36) }
}
