import CloudStore
import Seams

/// How far the look for files that no record holds has come.
struct CollectionState {
    /// The last file that was looked at; nil: the next is the first.
    var after: [UInt8]?
    /// When the next step is due.
    var nextMilliseconds = Int64.min
}

extension CloudService {
    /// Files that one step looks at.
    private static let collectedFilesMax = 64

    var isCollectionDue: Bool { clock.nowMilliseconds() >= collection.withLock { $0.nextMilliseconds } }

    /// A step of the collection in the upkeep. What fails, as a folder that can't be read, is tried again the next
    /// time.
    func collectFilesNow() {
        let hasMore = (try? collectUnusedFiles()) ?? false
        guard !hasMore else { return }
        collection.withLock {
            $0.nextMilliseconds = clock.nowMilliseconds() + limits.assets.collectionMilliseconds
        }
    }

    /// Removes files that no record of the environment holds, and that are too old for anybody to save one with them.
    /// One bounded step; true when there may be more.
    ///
    /// `CloudServiceThread` does it by itself. Nothing is removed while a backup is made.
    ///
    /// - Throws: `CloudStoreError`; then nothing was removed.
    @discardableResult public func collectUnusedFiles() throws -> Bool {
        guard let hold = try assetFiles.holdForCollection() else { return false }
        defer { withExtendedLifetime(hold) {} }
        let files = try assetFiles.files(
            after: collection.withLock { $0.after }, filesMax: Self.collectedFilesMax)
        let limit =
            clock.nowMilliseconds() - limits.assets.receiptMilliseconds - limits.assets.unusedMilliseconds
        let old = files.filter { $0.atMilliseconds < limit }.map(\.digest)
        if !old.isEmpty {
            var wanted = StoreLoad()
            wanted.assets.digests = old
            let question = wanted
            let used = try store.read { try $0.load(question) }.assets.usedDigests
            for digest in old where !used.contains(digest) {
                // One that can't be removed is tried again the next time, and holds up no other.
                _ = try? assetFiles.remove(digest, ifOlderThan: limit)
            }
        }
        let hasMore = files.count == Self.collectedFilesMax
        collection.withLock { $0.after = hasMore ? files.last?.digest : nil }
        return hasMore
    }
}
