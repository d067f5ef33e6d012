import CloudStore
import System

/// How far the look for files that no record holds has come.
private struct CollectionState {
    /// The last file that was looked at; nil: the next is the first.
    var after: [UInt8]?
    /// When the next step is due.
    var nextMilliseconds = Int64.min
}

/// Collects files that no record holds. Where it has come to lives as long as the service; a restart begins anew.
final class AssetCollection: Sendable {
    /// Files that one step looks at.
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

    /// A step of the collection in the upkeep. What fails, as a folder that can't be read, is tried again the next
    /// time.
    func collectInTurn() {
        let hasMore = (try? collectUnused()) ?? false
        guard !hasMore else { return }
        collection.withLock {
            $0.nextMilliseconds = clock.nowMilliseconds() + limits.collectionMilliseconds
        }
    }

    /// One bounded step; true when there may be more.
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
                // One that can't be removed is tried again the next time, and holds up no other.
                _ = try? files.remove(digest, ifOlderThan: limit)
            }
        }
        let hasMore = found.count == Self.collectedFilesMax
        collection.withLock { $0.after = hasMore ? found.last?.digest : nil }
        return hasMore
    }
}
