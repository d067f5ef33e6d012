internal import CloudKit
import Foundation
internal import Seams
internal import Yap

/// The files of a sync's objects. Get it from `CloudSync.files`.
public struct CloudFiles: Sendable {
    let sync: CloudSync

    // MARK: Adding

    /// Stores bytes on this device. Put the value into an object to send them.
    ///
    /// The bytes are on the disk when this returns. Put the value into an object within a day: a file that no object
    /// has is removed later.
    /// - Throws: `YapDatabaseCloudKitError.fileNotWritten`, `notRegistered`.
    public func add(_ bytes: Data) async throws -> CloudFile {
        try await adding { try $0.add(bytes) }
    }

    /// Stores a copy of a file on this device. Put the value into an object to send it.
    ///
    /// - Throws: `YapDatabaseCloudKitError.fileUnreadable`, `fileNotWritten`, `notRegistered`.
    public func add(copyOf url: URL) async throws -> CloudFile {
        try await adding { try $0.add(copyOf: url.path) }
    }

    private func adding(_ add: @escaping @Sendable (FileFolder) throws -> CloudFile) async throws -> CloudFile
    {
        let folder = try folder
        let file = try await outsideOfThePool { try add(folder) }
        try await liftWaiting(for: file)
        return file
    }

    // MARK: Finding

    /// The place of the bytes, or nil if they aren't on this device. Read them there, and don't change them.
    ///
    /// The bytes of a value that no object has are removed after a day.
    public func url(of file: CloudFile) -> URL? {
        guard let folder = try? folder, folder.paths.contain(file) else { return nil }
        return folder.paths.url(of: file)
    }

    /// Returns the place of the bytes, and fetches them first if they aren't on this device.
    ///
    /// ```swift
    /// let url = try await sync.files.fetch(photo, ofObjectForKey: key, inCollection: "notes")
    /// ```
    /// - Parameters:
    ///   - file: The value that the object has.
    ///   - key: The object's key.
    ///   - collection: The object's collection.
    /// - Throws: `CKError.unknownItem` if the object has no record, and `CKError.assetNotAvailable` if its record has
    ///   another file by now; what a fetch of the record throws; `YapDatabaseCloudKitError.fileNotWritten`.
    public func fetch(
        _ file: CloudFile, ofObjectForKey key: String, inCollection collection: String
    ) async throws -> URL {
        if let url = url(of: file) {
            try await liftWaiting(for: file)
            return url
        }
        let owner = try await owner(key, collection)
        let own = try await fetchRecords([owner.recordID], with: file)
        if url(of: file) == nil {
            // Another object may have a file that was moved from it and not sent since then.
            let others = try await otherRecords(with: file, than: owner)
            if !others.isEmpty { _ = try await fetchRecords(others, with: file) }
        }
        guard let url = url(of: file) else {
            // The error of the object's own record says most.
            _ = try own[owner.recordID]?.get()
            throw CKError.saying(
                .assetNotAvailable, "the record of \"\(key)\" has another file now: read the object again")
        }
        try await liftWaiting(for: file)
        return url
    }

    /// Makes the changes that wait for the file ready to be sent.
    private func liftWaiting(for file: CloudFile) async throws {
        let name = sync.registeredName
        let isWaitedFor = try await sync.connection.read {
            try $0.ext(name, as: YapDatabaseCloudKit.self).tables.isKnownAsset(file.text)
        }
        guard isWaitedFor else { return }
        try await sync.connection.readWrite {
            try $0.ext(name, as: YapDatabaseCloudKit.self).isQueueTouched = true
        }
    }

    /// The record of an object.
    private func owner(_ key: String, _ collection: String) async throws -> RecordRow {
        let name = sync.registeredName
        let owner = try await sync.connection.read {
            try $0.ext(name, as: YapDatabaseCloudKit.self).owner(key, collection)
        }
        guard let owner else {
            throw CKError.saying(
                .unknownItem, "\"\(key)\" of \"\(collection)\" has no record: is it a collection of the sync?"
            )
        }
        return owner
    }

    /// Other records that may have the file on the server.
    private func otherRecords(with file: CloudFile, than owner: RecordRow) async throws -> [CKRecord.ID] {
        guard let database = sync.cloudKit.runner.state.withLock({ $0.database }) else { return [] }
        let name = sync.registeredName
        // A connection of its own: the search reads all rows.
        return try await database.newConnection().read { transaction in
            let tables = try transaction.ext(name, as: YapDatabaseCloudKit.self).tables
            return try tables.recordsWithFile(file, named: owner.recordID.recordName, owner.database)
        }.filter { $0 != owner.recordID }
    }

    /// Fetches records with the file, and stores it.
    private func fetchRecords(
        _ recordIDs: [CKRecord.ID], with file: CloudFile
    ) async throws -> [CKRecord.ID: Result<CKRecord, CKError>] {
        let results = await withCheckedContinuation { continuation in
            let operation = CKFetchRecordsOperation.fetching(
                recordIDs,
                files: { _, _, _, asset in asset.knownFile.map { $0 == file } ?? true ? .required : .left }
            ) { continuation.resume(returning: $0) }
            operation.desiredKeys = sync.map.fileFields
            sync.container.privateCloudDatabase.add(operation)
        }
        let folder = try folder
        try await outsideOfThePool { [map = sync.map] in
            for result in results.values {
                guard let record = try? result.get() else { continue }
                try map.takeFiles(of: record, map.fileFields, into: folder)
            }
        }
        return results
    }

    // MARK: Removing

    /// Removes files that no object and no pending change has, if an earlier call found them unused at least a day ago.
    /// `CloudSync` does it when it begins.
    ///
    /// It does nothing if a collection isn't registered or has a serializer of the app's own, because files in its
    /// objects aren't found.
    /// - Throws: `YapDatabaseError`; `YapDatabaseCloudKitError.fileNotWritten`, `notRegistered`.
    public func removeUnused() async throws {
        let files = self
        try await outsideOfThePool { try files.removeUnusedInline() }
    }

    /// `removeUnused()` on the caller's thread.
    func removeUnusedInline(unusedSeconds: Double = FileFolder.unusedSeconds) throws {
        let (folder, name) = (try folder, sync.registeredName)
        guard let database = sync.cloudKit.runner.state.withLock({ $0.database }) else { return }
        try folder.removeUnused(unusedSeconds: unusedSeconds) {
            // A connection of its own: it reads for long.
            try database.newConnection().blocking.read { transaction in
                let collections = try transaction.allCollections()
                guard collections.allSatisfy({ database.isSearchable($0) }) else { return nil }
                return try transaction.ext(name, as: YapDatabaseCloudKit.self).tables.usedFiles()
            }
        }
    }

    /// - Throws: `YapDatabaseCloudKitError.notRegistered` before the sync has begun and after the database was closed.
    private var folder: FileFolder {
        get throws {
            guard let folder = sync.cloudKit.runner.fileFolder else {
                throw YapDatabaseCloudKitError.notRegistered
            }
            return folder
        }
    }
}

extension CloudSync {
    /// The files of the objects.
    public var files: CloudFiles { CloudFiles(sync: self) }
}

/// Runs work that blocks outside of the cooperative pool.
/// - Throws: What `work` throws, an `AssetFileError` as the `YapDatabaseCloudKitError` for it.
private func outsideOfThePool<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global(qos: .utility).async {
            let result = Result { try work() }.mapError { error in
                (error as? AssetFileError).map { YapDatabaseCloudKitError($0) } ?? error
            }
            continuation.resume(with: result)
        }
    }
}
