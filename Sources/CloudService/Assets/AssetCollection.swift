import CloudStore
import System

/// Progress of the search for unused files.
private struct CollectionState {
    /// The last checked file, or nil before the first.
    var after: [UInt8]?
    /// The time at which the next step is due.
    var nextMilliseconds = Int64.min
}

/// Deletes files that aren't in any record. The progress is kept in memory only, so it starts over after a
/// restart.
final class AssetCollection: Sendable {
    /// Maximum files that one step checks.
    private static let collectedFilesMax = 64

    private let store: any CloudStore
    private let clock: any TimeSource
    private let files: any AssetStore
    private let limits: AssetLimits
    private let collection = Lock(CollectionState())

    init(store: any CloudStore, clock: any TimeSource, files: any AssetStore, limits: AssetLimits) {
        (self.store, self.clock, self.files, self.limits) = (store, clock, files, limits)
    }

    var isDue: Bool { clock.nowMilliseconds() >= collection.withLock { $0.nextMilliseconds } }

    /// One step of the collection, run by the upkeep. Errors, such as an unreadable folder, are retried at
    /// the next step.
    func collectInTurn() {
        let hasMore = (try? collectUnused()) ?? false
        guard !hasMore else { return }
        collection.withLock {
            $0.nextMilliseconds = clock.nowMilliseconds() + limits.collectionMilliseconds
        }
    }

    /// One bounded step. Returns true if there may be more.
    func collectUnused() throws -> Bool {
        guard let hold = try files.holdForCollection() else { return false }
        defer { withExtendedLifetime(hold) {} }
        let found = try files.files(
            after: collection.withLock { $0.after }, filesMax: Self.collectedFilesMax)
        let limit =
            clock.nowMilliseconds() - limits.receiptMilliseconds - limits.unusedMilliseconds
        let old = found.filter { $0.atMilliseconds < limit }.map(\.digest)
        if !old.isEmpty {
            var wanted = StoreLoad()
            wanted.assets.digests = old
            let question = wanted
            let used = try store.read { try $0.load(question) }.assets.usedDigests
            for digest in old where !used.contains(digest) {
                // A file that can't be removed is retried later, and doesn't block others.
                _ = try? files.remove(digest, ifOlderThan: limit)
            }
        }
        let hasMore = found.count == Self.collectedFilesMax
        collection.withLock { $0.after = hasMore ? found.last?.digest : nil }
        return hasMore
    }
}
