import CloudStore
import CloudWire

// MARK: - Files

extension CloudService {
    /// Begins an upload to an address of `assets/upload`. Blocks.
    ///
    /// - Parameter ticket: the item `t` of the address.
    /// - Throws: if the address wasn't issued by this service, or has expired.
    package func beginUpload(ticket: String) throws(WireError) -> AssetUpload {
        try transfers.begin(ticket: ticket)
    }

    /// Opens the file at an address in a record, if some record of that database holds it. Blocks.
    ///
    /// - Parameters:
    ///   - checksum: the part of the address that names the file.
    ///   - ticket: the item `t` of the address.
    /// - Throws: if the address wasn't issued by this service or has expired, or the file doesn't exist. The
    ///   error doesn't distinguish these.
    package func openAsset(checksum: String, ticket: String) throws(WireError) -> AssetDownload {
        try transfers.open(checksum: checksum, ticket: ticket)
    }

    /// Removes files that no record of the environment holds, and whose receipts have expired. One bounded
    /// step. Returns true if there may be more.
    ///
    /// `CloudServiceThread` calls it automatically. Nothing is removed during a backup.
    ///
    /// - Throws: `CloudStoreError`; then nothing was removed.
    @discardableResult public func collectUnusedFiles() throws -> Bool { try collection.collectUnused() }
}

// MARK: - Pushes and upkeep

extension CloudService {
    /// Sets the listener for the tokens of devices with pending pushes. It is called when the pushes are
    /// durable, on the thread that wrote them, and must not block.
    public func setPushListener(_ listener: (@Sendable (_ apnsTokens: [String]) -> Void)?) {
        pushes.setListener(listener)
    }

    /// Makes pushes for changes with pending notifications: one bounded step, in a transaction of its own.
    /// Returns true if there may be more.
    ///
    /// `CloudServiceThread` calls it automatically, also at its start, for tasks of an earlier process. Call
    /// this after `respond` and `commitGroup`.
    ///
    /// - Throws: `CloudStoreError`; then the changes stay pending for the next step.
    @discardableResult public func preparePushes() throws -> Bool { try pushes.prepare() }

    /// Sets the listener for data that the upkeep has discarded. It is called when the change is durable, on
    /// the thread that wrote it, and must not block.
    public func setPruneListener(_ listener: (@Sendable (PrunedCounts) -> Void)?) {
        pruning.setListener(listener)
    }

    /// Discards expired data: kept responses, pending pushes, inactive devices, and tombstones of records and
    /// zones. One bounded step. Returns true if there may be more.
    ///
    /// `CloudServiceThread` calls it automatically.
    ///
    /// - Throws: `CloudStoreError`; then nothing was discarded.
    @discardableResult public func pruneOutdated() throws -> Bool { try pruning.pruneOutdated() }

    /// Does each step of the upkeep that is due, pushes first. Returns true if there may be more.
    package func keepUp() throws -> Bool { try upkeep.keepUp() }
}

// MARK: - Pushes of devices

extension CloudService {
    /// Returns a pending push of the device, or nil if there is none. It stays pending until it is
    /// acknowledged.
    ///
    /// - Parameters:
    ///   - apnsToken: the device's secret from `tokens/create`.
    ///   - notificationID: a push that the device has received, which is deleted first.
    ///   - taking: which push to return.
    /// - Throws: `WireError`: NOT_FOUND if the token doesn't exist.
    public func takePush(
        apnsToken: String, acknowledging notificationID: String? = nil, taking: PushTaking = .each
    ) throws -> CourierPush? {
        try devicePushes.take(
            apnsToken: apnsToken, acknowledging: notificationID.map { .one($0) }, taking: taking)
    }

    /// Deletes a push that the device has received. Does nothing if another one has replaced it in the
    /// meantime.
    ///
    /// - Throws: `WireError`, as `takePush`.
    public func acknowledgePush(apnsToken: String, notificationID: String) throws {
        _ = try takePush(apnsToken: apnsToken, acknowledging: notificationID)
    }

    /// Deletes the device's pending pushes up to `push`.
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

    /// Writes a user's private database, or the whole environment, as lines of JSON of one snapshot.
    ///
    /// The same data gives the same bytes: everything is sorted, and users are named by their accounts. It
    /// keeps one page of records in memory at a time.
    ///
    /// - Parameters:
    ///   - names: the export names of users.
    ///   - write: receives lines, each with its line end.
    /// - Throws: `ExportError`, `CloudStoreError`, the error of `write`.
    public func export(
        _ scope: ExportScope, names: ExportNames, write: ([UInt8]) throws -> Void
    ) throws -> ExportSummary { try exporting.export(scope, names: names, write: write) }

    /// Writes an export's contents, record by record with their stamps, while clients are active. They
    /// receive the records as normal changes.
    ///
    /// All lines are read and validated before anything is written. Then a few hundred records are written at
    /// a time. Missing records are created, and existing ones are replaced. If it fails in between, written
    /// records stay, and the import can be repeated with `merges`. References may have missing targets, and
    /// quotas don't apply.
    ///
    /// - Parameters:
    ///   - merges: whether existing data is allowed.
    ///   - source: returns the lines, twice.
    ///   - progress: called after each batch. It throws to cancel.
    /// - Throws: `ExportError`, `CloudStoreError`, the error of `source` or `progress`.
    public func importExport(
        into scope: ExportScope, names: ExportNames, merges: Bool, from source: ExportSource,
        progress: (ExportSummary) throws -> Void = { _ in }
    ) throws -> ExportSummary {
        try importing.importExport(
            into: scope, names: names, merges: merges, from: source, progress: progress)
    }
}
