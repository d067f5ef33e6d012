import CloudStore
import System

/// Counts a user's uploads until records hold them. Kept in memory.
final class UnsavedFiles: Sendable {
    private let store: any CloudStore
    private let clock: any TimeSource
    private let limits: AssetLimits
    private let uploads = Lock(UnsavedUploads())

    init(store: any CloudStore, clock: any TimeSource, limits: AssetLimits) {
        (self.store, self.clock, self.limits) = (store, clock, limits)
    }

    /// Returns true if a user may upload one more file. Must not be called in a transaction.
    func admits(_ user: String) throws -> Bool {
        let now = clock.nowMilliseconds()
        let limits = limits
        let (isAdmitted, sentBytes) = uploads.withLock {
            ($0.admits(user, limits, now), $0.sentBytes(user, now))
        }
        guard isAdmitted, sentBytes >= limits.unsavedBytesMax else { return isAdmitted }
        var wanted = StoreLoad()
        wanted.usageOf = [.privateDatabase, .publicDatabase].map { UsageKey(scope: $0, user: user) }
        let question = wanted
        let usage = try store.read { try $0.load(question) }.usage
        return sentBytes - usage.values.reduce(0) { $0 + $1.size.assetBytes } < limits.unsavedBytesMax
    }

    /// Counts bytes of an upload in progress. Returns false if the user has uploaded too much.
    ///
    /// - Parameter ownBytes: bytes already counted for this upload.
    func grow(_ user: String, by bytes: Int64, ownBytes: Int64) -> Bool {
        let (limits, now) = (limits, clock.nowMilliseconds())
        return uploads.withLock { $0.grow(user, by: bytes, ownBytes: ownBytes, limits, now) }
    }

    /// Ends an upload, whether finished or cancelled.
    func end(_ user: String, bytes: Int64) { uploads.withLock { $0.end(user, bytes: bytes) } }

    func remember(_ use: AssetUse, of user: String) {
        let until = clock.nowMilliseconds() + limits.receiptMilliseconds + limits.unusedMilliseconds
        uploads.withLock { $0.add(use, of: user, untilMilliseconds: until) }
    }

    /// Removes files that records hold now from the count.
    func forget(_ rows: [RecordAssetsRow], of caller: ServiceCaller) {
        guard let user = caller.assetUser, !rows.isEmpty else { return }
        uploads.withLock { unsaved in
            for use in rows.lazy.flatMap(\.uses) { unsaved.remove(use.digest, of: user) }
        }
    }
}
