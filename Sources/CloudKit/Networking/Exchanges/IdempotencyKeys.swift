internal import CloudWire
internal import System

/// The part of a write's idempotency key that doesn't come from its content.
package struct IdempotencySeed: Hashable, Sendable {
    /// Keys with one series belong to one write and its rest: a new record in one of them isn't created again by
    /// another one after it was deleted. Nil for a write that stands alone.
    package var series: UInt64?
    /// The same content with another seed has another key.
    package var seed: UInt64

    /// Makes a seed.
    package init(series: UInt64?, seed: UInt64) {
        self.series = series
        self.seed = seed
    }
}

/// The idempotency keys of writes. With a seed, the key follows from the content, so the same write has the same key
/// even if its operation is made again. Without a seed, the key is random, and only the operation that sent a write
/// repeats it.
struct IdempotencyKeys: Sendable {
    let random: any RandomSource
    /// The seed of all writes.
    var seed: IdempotencySeed?
    /// The seeds of the writes in single zones.
    var zoneSeeds: [CKRecordZoneID: IdempotencySeed] = [:]

    func key(path: String, body: [UInt8], zoneID: CKRecordZoneID?) -> String {
        guard let seed = zoneID.flatMap({ zoneSeeds[$0] }) ?? seed else { return random.nextUUID() }
        // 64 bits suffice: an operation has few writes, and other operations have other seeds.
        var content = FNV1a()
        content.add(path)
        content.add(body)
        let name = hex(seed.seed) + "-" + hex(content.hash)
        return seed.series.map { WireHeader.operationSeries + hex($0) + "." + name } ?? name
    }

    private func hex(_ number: UInt64) -> String { String(number, radix: 16) }
}
