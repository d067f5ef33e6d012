internal import CloudKit
import Foundation
internal import System
internal import Yap

/// The files of a sync's objects. Available as `CloudSync.files`.
public struct CloudFiles: Sendable {
    let sync: CloudSync

    // MARK: Adding

    /// Stores bytes on this device. Put the value into an object to send them.
    ///
    /// The bytes are on disk when this returns. Put the value into an object within a day: a file that isn't
    /// in any object is removed later.
    /// - Throws: `YapDatabaseCloudKitError.fileNotWritten`, `notRegistered`.
    public func add(_ bytes: Data) async throws -> CloudFile {
        try await outsideOfThePool { try addInline(bytes) }
    }

    /// Stores a copy of a file on this device. Put the value into an object to send it.
    ///
    /// - Throws: `YapDatabaseCloudKitError.fileUnreadable`, `fileNotWritten`, `notRegistered`.
    public func add(copyOf url: URL) async throws -> CloudFile {
        try await outsideOfThePool { try adding { try $0.add(copyOf: url.path) } }
    }

    /// `add(_:)` on the caller's thread.
    package func addInline(_ bytes: Data) throws -> CloudFile {
        try adding { try $0.add(bytes) }
    }

    private func adding(_ add: (FileFolder) throws -> CloudFile) throws -> CloudFile {
        let folder = try folder
        let file = try withPublicErrors { try add(folder) }
        try liftWaiting(for: file)
        return file
    }

    // MARK: Finding

    /// Returns the location of the bytes, or nil if they aren't on this device. Read the file there, and
    /// don't change it.
    ///
    /// The bytes of a value that isn't in any object are removed after a day.
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
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global(qos: .utility).async {
                fetchInline(file, ofObjectForKey: key, inCollection: collection) {
                    continuation.resume(with: $0)
                }
            }
        }
    }

    /// Starts `fetch(_:ofObjectForKey:inCollection:)` on the caller's thread.
    /// - Parameter completion: Called once, on the caller's thread or on one of the framework's.
    package func fetchInline(
        _ file: CloudFile, ofObjectForKey key: String, inCollection collection: String,
        completion: @escaping @Sendable (Result<URL, any Error>) -> Void
    ) {
        do {
            if let url = try arrived(file) { return completion(.success(url)) }
            let owner = try owner(key, collection)
            fetchRecords([owner.recordID], with: file) { result in
                complete(file, of: owner, result, completion)
            }
        } catch {
            completion(.failure(error))
        }
    }

    /// Completes a fetch after the object's own record was fetched. If that record doesn't have the file,
    /// fetches it from other records: the file may have been moved from another object, and the change not
    /// been sent yet.
    ///
    /// - Parameter own: Result of the fetch of the object's own record.
    private func complete(
        _ file: CloudFile, of owner: RecordRow, _ own: Result<Void, any Error>,
        _ completion: @escaping @Sendable (Result<URL, any Error>) -> Void
    ) {
        do {
            if let url = try arrived(file) { return completion(.success(url)) }
            let others = try otherRecords(with: file, than: owner)
            fetchRecords(others, with: file) { _ in
                completion(
                    Result {
                        if let url = try arrived(file) { return url }
                        // The error of the object's own record is the most useful one.
                        _ = try own.get()
                        throw CKError.saying(
                            .assetNotAvailable,
                            "the object's record has another file now: read the object again")
                    })
            }
        } catch {
            completion(.failure(error))
        }
    }

    /// Returns the location of a file that is on this device now. Marks the changes that wait for it as ready
    /// to be sent.
    private func arrived(_ file: CloudFile) throws -> URL? {
        guard let url = url(of: file) else { return nil }
        try liftWaiting(for: file)
        return url
    }

    /// Marks the changes that wait for the file as ready to be sent.
    private func liftWaiting(for file: CloudFile) throws {
        let name = sync.registeredName
        let isWaitedFor = try sync.connection.blocking.read {
            try $0.ext(name, as: YapDatabaseCloudKit.self).tables.queuedFiles.isKnownAsset(file.text)
        }
        guard isWaitedFor else { return }
        try sync.connection.blocking.readWrite {
            try $0.ext(name, as: YapDatabaseCloudKit.self).queue.touch()
        }
    }

    /// Returns the record of an object.
    private func owner(_ key: String, _ collection: String) throws -> RecordRow {
        let name = sync.registeredName
        let owner = try sync.connection.blocking.read {
            try $0.ext(name, as: YapDatabaseCloudKit.self).handled.owner(key, collection)
        }
        guard let owner else {
            throw CKError.saying(
                .unknownItem, "\"\(key)\" of \"\(collection)\" has no record: is it a collection of the sync?"
            )
        }
        return owner
    }

    /// Returns other records that may have the file on the server.
    private func otherRecords(with file: CloudFile, than owner: RecordRow) throws -> [CKRecord.ID] {
        guard let database = sync.cloudKit.runner.session.database else { return [] }
        let name = sync.registeredName
        // A separate connection, because the search reads all rows.
        return try database.newConnection().blocking.read { transaction in
            let tables = try transaction.ext(name, as: YapDatabaseCloudKit.self).tables
            return try tables.recordsWithFile(file, named: owner.recordID.recordName, owner.database)
        }.filter { $0 != owner.recordID }
    }

    /// Fetches the records until one has the file, and stores the file.
    ///
    /// - Parameter completion: Called once. The result is the error of the first record, or an error of the
    ///   disk.
    private func fetchRecords(
        _ recordIDs: [CKRecord.ID], with file: CloudFile,
        completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        guard let first = recordIDs.first else { return completion(.success(())) }
        let operation = CKFetchRecordsOperation.fetching(
            recordIDs,
            files: { _, _, _, asset in asset.knownFile.map { $0 == file } ?? true ? .required : .left }
        ) { results in
            completion(
                Result {
                    let folder = try folder
                    try withPublicErrors {
                        for result in results.values {
                            guard let record = try? result.get() else { continue }
                            try sync.map.takeFiles(of: record, sync.map.fileFields, into: folder)
                        }
                    }
                    _ = try results[first]?.get()
                })
        }
        operation.desiredKeys = sync.map.fileFields
        sync.container.privateCloudDatabase.add(operation)
    }

    // MARK: Removing

    /// Removes files that aren't in any object or pending change, if an earlier call found them unused at
    /// least a day ago. `CloudSync` calls this when it starts.
    ///
    /// Does nothing if a collection isn't registered or has a custom serializer of the app, because files in
    /// its objects can't be found.
    /// - Throws: `YapDatabaseError`; `YapDatabaseCloudKitError.fileNotWritten`, `notRegistered`.
    public func removeUnused() async throws {
        try await outsideOfThePool { try removeUnusedInline() }
    }

    /// `removeUnused()` on the caller's thread.
    package func removeUnusedInline() throws {
        try removeUnusedInline(unusedSeconds: FileFolder.unusedSeconds)
    }

    func removeUnusedInline(unusedSeconds: Double) throws {
        let (folder, name) = (try folder, sync.registeredName)
        guard let database = sync.cloudKit.runner.session.database else { return }
        try withPublicErrors {
            try folder.removeUnused(unusedSeconds: unusedSeconds) {
                // A separate connection, because it reads for a long time.
                try database.newConnection().blocking.read { transaction in
                    let collections = try transaction.allCollections()
                    guard collections.allSatisfy({ database.isSearchable($0) }) else { return nil }
                    return try transaction.ext(name, as: YapDatabaseCloudKit.self).tables.usedFiles()
                }
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

/// Throws the public error for an error of the file system.
private func withPublicErrors<Value>(_ work: () throws -> Value) throws -> Value {
    do {
        return try work()
    } catch let error as AssetFileError {
        throw YapDatabaseCloudKitError(error)
    }
}

/// Runs work that blocks outside of the cooperative pool.
private func outsideOfThePool<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global(qos: .utility).async { continuation.resume(with: Result { try work() }) }
    }
}
