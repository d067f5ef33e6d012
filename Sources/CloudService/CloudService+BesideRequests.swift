import CloudStore
import CloudWire

// MARK: - Files

extension CloudService {
    /// Begins to take a file that is sent to an address of `assets/upload`. Blocks.
    ///
    /// - Parameter ticket: the item `t` of the address.
    /// - Throws: when the address is not one of this service's, or has expired.
    public func beginUpload(ticket: String) throws(WireError) -> AssetUpload {
        try transfers.begin(ticket: ticket)
    }

    /// Opens the file that an address in a record leads to, as long as some record of that database holds it. Blocks.
    ///
    /// - Parameters:
    ///   - checksum: the part of the address that names the file.
    ///   - ticket: the item `t` of the address.
    /// - Throws: when the address is not one of this service's or has expired, or the file is gone: which of these
    ///   is not told.
    public func openAsset(checksum: String, ticket: String) throws(WireError) -> AssetDownload {
        try transfers.open(checksum: checksum, ticket: ticket)
    }

    /// Removes files that no record of the environment holds, and that are too old for anybody to save one with them.
    /// One bounded step; true when there may be more.
    ///
    /// `CloudServiceThread` does it by itself. Nothing is removed while a backup is made.
    ///
    /// - Throws: `CloudStoreError`; then nothing was removed.
    @discardableResult public func collectUnusedFiles() throws -> Bool { try collection.collectUnused() }
}

// MARK: - Pushes and upkeep

extension CloudService {
    /// Lets `listener` know the tokens of the devices for which pushes wait, when they are on disk. It is called on the
    /// thread that wrote them, and must not wait.
    public func setPushListener(_ listener: (@Sendable (_ apnsTokens: [String]) -> Void)?) {
        pushes.setListener(listener)
    }

    /// Makes pushes for changes with pending notifications: one bounded step, in a transaction of its own.
    /// True when there may be more.
    ///
    /// `CloudServiceThread` does it by itself, also at its start, for what was left before. Call this after `respond`
    /// and `commitGroup`.
    ///
    /// - Throws: `CloudStoreError`; then the changes wait for the next step.
    @discardableResult public func preparePushes() throws -> Bool { try pushes.prepare() }

    /// Lets `listener` know what the upkeep has pruned, when that is on disk. It is called on the thread that wrote it,
    /// and must not wait.
    public func setPruneListener(_ listener: (@Sendable (PrunedCounts) -> Void)?) {
        pruning.setListener(listener)
    }

    /// Discards expired data: kept responses, pending pushes, inactive devices, and tombstones of records and zones.
    /// One bounded step. Returns true if there may be more.
    ///
    /// `CloudServiceThread` does it by itself.
    ///
    /// - Throws: `CloudStoreError`; then nothing was discarded.
    @discardableResult public func pruneOutdated() throws -> Bool { try pruning.pruneOutdated() }

    /// Does each step of the upkeep that is due, pushes first. True when there may be more.
    package func keepUp() throws -> Bool { try upkeep.keepUp() }
}

// MARK: - Pushes of devices

extension CloudService {
    /// A push that waits for the device; nil when none does. It waits until it is acknowledged.
    ///
    /// - Parameters:
    ///   - apnsToken: the device's secret, which `tokens/create` has given it.
    ///   - notificationID: a push that the device has got, which is deleted first.
    ///   - taking: which of them.
    /// - Throws: `WireError`: NOT_FOUND when there is no such token (any more).
    public func takePush(
        apnsToken: String, acknowledging notificationID: String? = nil, taking: PushTaking = .each
    ) throws -> CourierPush? {
        try devicePushes.take(
            apnsToken: apnsToken, acknowledging: notificationID.map { .one($0) }, taking: taking)
    }

    /// Deletes a push that the device has got. Nothing happens when another has come in its place meanwhile.
    ///
    /// - Throws: `WireError`, as `takePush`.
    public func acknowledgePush(apnsToken: String, notificationID: String) throws {
        _ = try takePush(apnsToken: apnsToken, acknowledging: notificationID)
    }

    /// Deletes what waited for the device when it got `push` as the newest.
    ///
    /// - Throws: `WireError`, as `takePush`.
    public func acknowledgePushes(apnsToken: String, through push: CourierPush) throws {
        _ = try devicePushes.take(
            apnsToken: apnsToken, acknowledging: .through(push.number), taking: .newest)
    }
}

// MARK: - Exports

extension CloudService {
    /// A line has one record of up to `recordBytesMax`, and each control character takes six bytes.
    public static let exportLineBytesMax = 16 << 20

    /// Writes all of a user's private database, or of the environment, as lines of JSON, of one committed moment.
    ///
    /// The same data gives the same bytes: everything is sorted, and users are called by the names of their accounts.
    /// It holds a page of records at a time.
    ///
    /// - Parameters:
    ///   - names: what users are called.
    ///   - write: takes lines, each with its end.
    /// - Throws: `ExportError`, `CloudStoreError`, what `write` throws.
    public func export(
        _ scope: ExportScope, names: ExportNames, write: ([UInt8]) throws -> Void
    ) throws -> ExportSummary { try exporting.export(scope, names: names, write: write) }

    /// Writes what an export holds, record by record with their stamps, while clients go on: they learn of it as of
    /// any change.
    ///
    /// All lines are read and checked before anything is written. Then a few hundred records are written at a time;
    /// one that isn't there is made, one of the same name is replaced. When it fails in between, what came before
    /// stays, and it can be done again with `merges`. References needn't lead anywhere; quotas don't count.
    ///
    /// - Parameters:
    ///   - merges: whether there may be data already.
    ///   - source: gives the lines, twice.
    ///   - progress: told after each batch; throws to give up.
    /// - Throws: `ExportError`, `CloudStoreError`, what `source` and `progress` throw.
    public func importExport(
        into scope: ExportScope, names: ExportNames, merges: Bool, from source: ExportSource,
        progress: (ExportSummary) throws -> Void = { _ in }
    ) throws -> ExportSummary {
        try importing.importExport(
            into: scope, names: names, merges: merges, from: source, progress: progress)
    }
}
