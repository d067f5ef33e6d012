internal import CloudWire
internal import System

/// What names writes, beside their content.
package struct IdempotencySeed: Hashable, Sendable {
    /// Names with one series belong to one write and its remains: a new record in one of them isn't made again by
    /// another one after it was deleted. Nil for a write that stands alone.
    package var series: UInt64?
    /// The same content with another seed has another name.
    package var seed: UInt64

    /// Makes a seed.
    package init(series: UInt64?, seed: UInt64) {
        self.series = series
        self.seed = seed
    }
}

/// How writes are named: by what is written where there is a seed, so that the same write has the same name also when
/// its operation is made again, and at random elsewhere, where only the operation that sent a write repeats it.
struct IdempotencyKeys: Sendable {
    let random: any RandomSource
    /// The seed of all writes.
    var seed: IdempotencySeed?
    /// The seeds of the writes in single zones.
    var zoneSeeds: [CKRecordZoneID: IdempotencySeed] = [:]

    func key(path: String, body: [UInt8], zoneID: CKRecordZoneID?) -> String {
        guard let seed = zoneID.flatMap({ zoneSeeds[$0] }) ?? seed else { return random.nextUUID() }
        // 64 bits do: an operation has few writes, and those of others have another seed.
        var content = FNV1a()
        content.add(path)
        content.add(body)
        let name = hex(seed.seed) + "-" + hex(content.hash)
        return seed.series.map { WireHeader.operationSeries + hex($0) + "." + name } ?? name
    }

    private func hex(_ number: UInt64) -> String { String(number, radix: 16) }
}
