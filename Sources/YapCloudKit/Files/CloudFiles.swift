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
        let file = try await outsideOfThePool {
            do {
                return try add(folder)
            } catch let error as AssetFileError {
                throw YapDatabaseCloudKitError(error)
            }
        }
        try await liftWaiting(for: file)
        return file
    }

    // MARK: Finding

    /// The place of the bytes, or nil if they aren't on this device. Read them there, and don't change them.
    ///
    /// They stay as long as an object has the value, and at least a day longer.
    public func url(of file: CloudFile) -> URL? {
        guard let folder = try? folder, folder.contains(file) else { return nil }
        return folder.url(of: file)
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
        let folder = try folder
        let records = try await records(key, collection, with: file)
        try await outsideOfThePool { [map = sync.map] in
            do {
                for record in records { try map.takeFiles(of: record, map.fileFields, into: folder) }
            } catch let error as AssetFileError {
                throw YapDatabaseCloudKitError(error)
            }
        }
        guard let url = url(of: file) else {
            throw CKError.saying(
                .assetNotAvailable, "the record of \"\(key)\" has another file now: read the object again")
        }
        try await liftWaiting(for: file)
        return url
    }

    /// Lets the changes go that waited for the file.
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

    /// The records that may have a file on the server, with that file: the object's own, and others with the value.
    private func records(
        _ key: String, _ collection: String, with file: CloudFile
    ) async throws -> [CKRecord] {
        let name = sync.registeredName
        let recordIDs = try await sync.connection.read { transaction in
            let ext = try transaction.ext(name, as: YapDatabaseCloudKit.self)
            guard let owner = try ext.owner(key, collection) else { return [CKRecord.ID]() }
            let others = try ext.tables.recordsWithFile(
                file, named: owner.recordID.recordName, owner.database)
            return [owner.recordID] + others.filter { $0 != owner.recordID }
        }
        guard let first = recordIDs.first else {
            throw CKError.saying(
                .unknownItem, "\"\(key)\" of \"\(collection)\" has no record: is it a collection of the sync?"
            )
        }
        let operation = CKFetchRecordsOperation(recordIDs: recordIDs)
        operation.desiredKeys = sync.map.fileFields
        operation.handleFiles { _, _, _, asset in
            asset.knownFile.map { $0 == file } ?? true ? .required : .left
        }
        let results = try await withCheckedThrowingContinuation { continuation in
            operation.collect { continuation.resume(with: $0) }
            sync.container.privateCloudDatabase.add(operation)
        }
        let records = results.values.compactMap { try? $0.get() }
        // The error of the object's own record says most.
        if records.isEmpty { _ = try results[first]?.get() }
        return records
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
        do {
            try folder.removeUnused(unusedSeconds: unusedSeconds) {
                // A connection of its own: it reads for long.
                try database.newConnection().blocking.read { transaction in
                    let collections = try transaction.allCollections()
                    guard collections.allSatisfy({ database.isSearchable($0) }) else { return nil }
                    return try transaction.ext(name, as: YapDatabaseCloudKit.self).tables.usedFiles()
                }
            }
        } catch let error as AssetFileError {
            throw YapDatabaseCloudKitError(error)
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

extension CKFetchRecordsOperation {
    /// Calls `completion` once with the result for each record.
    fileprivate func collect(
        _ completion:
            @escaping @Sendable (Result<[CKRecord.ID: Result<CKRecord, any Error>], any Error>) -> Void
    ) {
        let results = Lock<[CKRecord.ID: Result<CKRecord, any Error>]>([:])
        perRecordResultBlock = { recordID, result in results.withLock { $0[recordID] = result } }
        fetchRecordsResultBlock = { whole in
            let results = results.withLock { $0 }
            if case .failure(let error) = whole, results.isEmpty { return completion(.failure(error)) }
            completion(.success(results))
        }
    }
}

/// Runs what blocks on a thread of its own kind.
private func outsideOfThePool<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global(qos: .utility).async { continuation.resume(with: Result { try work() }) }
    }
}
