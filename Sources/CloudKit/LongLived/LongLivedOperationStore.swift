package import Foundation
package import System

/// The long-lived operations of a container. Each has a folder named by its ID, with three items: `operation` has its
/// stored form, `replies` its responses, `files` the files to upload.
///
/// A process that runs an operation has locked its `replies`, and the system releases the lock of a killed process. An
/// operation is removed a day after its last response, because the server remembers a write for a day.
package struct LongLivedOperationStore: Sendable {
    /// The folder of all operations.
    package let folder: String
    /// The clock for the age of operations.
    package let clock: any TimeSource
    /// The system's calls with which the folder of an operation gets its name.
    var calls = FileCalls.system

    /// Milliseconds for which an operation is kept after its last response.
    static let keptMilliseconds: Int64 = 86_400_000
    /// Maximum stored operations. Further ones run without being stored.
    static let operationsMax = 1_000
    /// Maximum bytes of stored responses of one operation. Further responses are requested again.
    static let repliesBytesMax: Int64 = 64 << 20
    /// Maximum bytes of an operation's stored form, without files.
    static let operationBytesMax = 256 << 20

    /// Makes a store in `folder`, which is created when it is first needed.
    package init(folder: URL, clock: any TimeSource = SystemTimeSource()) {
        self.folder = folder.path
        self.clock = clock
    }

    /// The result of `claim`.
    enum Claim {
        case run(LongLivedRun)
        /// This process runs it already. The follower will be called.
        case follows
        /// Another process runs it.
        case isElsewhere
        /// It has finished, is too old, or belongs to another user.
        case isGone
    }

    // MARK: Looking

    /// Returns the IDs of the owner's operations that no other process runs, in ascending order. Removes operations
    /// that are too old or another user's.
    func operationIDs(of owner: OperationOwner) -> [String] {
        removeRests(.gone)
        return names().filter { find($0, of: owner) != nil }.sorted()
    }

    /// Returns the stored form of an operation, or nil if it doesn't exist or isn't the owner's.
    func operation(_ operationID: String, of owner: OperationOwner) -> (
        header: OperationHeader, archive: Data
    )? {
        find(operationID, of: owner)
    }

    /// Returns the stored form of an operation, if it is the owner's. Removes one that is too old or another
    /// user's.
    private func find(_ name: String, of owner: OperationOwner) -> (header: OperationHeader, archive: Data)? {
        guard UUID(uuidString: name) != nil else { return nil }
        let running = RunningOperations.entries.withLock { $0[path(name)] }
        if let running {
            return running.isEnding ? nil : read(name).flatMap { $0.header.owner == owner ? $0 : nil }
        }
        guard !FileLock.isLocked(repliesPath(name)) else { return nil }
        let kept = read(name)
        let isOthers = kept.map { owner.takesThePlace(of: $0.header.owner) } ?? false
        if isOld(name) || isOthers {
            remove(name)
            return nil
        }
        return kept.flatMap { $0.header.owner == owner ? $0 : nil }
    }

    /// Claims the operation for one run.
    func claim(
        _ operationID: String, of owner: OperationOwner, follower: @escaping RunningOperations.Follower
    ) -> Claim {
        let path = path(operationID)
        let isFirst = RunningOperations.entries.withLock { entries in
            entries[path]?.followers.append(follower)
            if entries[path] == nil { entries[path] = RunningOperations.Entry() }
            return entries[path]?.followers.isEmpty ?? true
        }
        guard isFirst else { return .follows }
        guard let lock = FileLock(repliesPath(operationID)) else {
            let isThere = FileManager.default.fileExists(atPath: path)
            for follower in RunningOperations.take(path) { follower(nil) }
            return isThere ? .isElsewhere : .isGone
        }
        guard let header = header(operationID), header.owner == owner, !isOld(operationID) else {
            for follower in RunningOperations.take(path) { follower(nil) }
            return .isGone
        }
        return .run(LongLivedRun(header, folder: path, lock: lock, store: self))
    }

    /// Removes an operation that isn't running.
    func remove(_ operationID: String) {
        guard let lock = FileLock(repliesPath(operationID)) else { return }
        Self.remove(path(operationID))
        withExtendedLifetime(lock) {}
    }

    /// Removes the folder of an operation, which the caller has locked: renames it first, then deletes its files.
    static func remove(_ path: String) {
        let folder = URL(fileURLWithPath: path)
        let gone =
            folder.deletingLastPathComponent().path + "/" + Rest.gone.rawValue + folder.lastPathComponent
        guard rename(path, gone) == 0 else { return }
        try? FileManager.default.removeItem(atPath: gone)
    }

    /// Prefixes of folders that are incomplete or being removed. A killed process leaves them behind.
    private enum Rest: String {
        case new = ".new-"
        case gone = ".gone-"
    }

    private func removeRests(_ rest: Rest) {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in all
        where name.hasPrefix(rest.rawValue) && !FileLock.isLocked(folder + "/\(name)/replies") {
            try? FileManager.default.removeItem(atPath: folder + "/" + name)
        }
    }

    // MARK: Keeping

    /// Stores an operation that begins now. It is durable when this returns.
    /// - Parameters:
    ///   - header: its header, without the files.
    ///   - archive: the operation.
    ///   - files: the files to send; missing ones are left out.
    /// - Throws: the error of the file system.
    func keep(_ header: OperationHeader, archive: [UInt8], files: [URL]) throws -> LongLivedRun {
        let name = header.operationID
        let staging = folder + "/" + Rest.new.rawValue + name
        guard archive.count < Self.operationBytesMax, names().count < Self.operationsMax else {
            throw CKError(.limitExceeded, "Too much is kept already.")
        }
        // Under the folder's lock, so that no process mistakes the unlocked folder for the remains of a
        // killed process.
        let lock = try PrivateFile(path: staging).withFolderLocked {
            () throws(PrivateFile.Failure) -> FileLock? in
            removeRests(.new)
            guard mkdir(staging, 0o700) == 0 else { return nil }
            return FileLock(staging + "/replies", isNew: true)
        }
        guard let lock else { throw CKError(.internalError, "\(staging) can't be made.") }
        do {
            var header = header
            header.files = try copies(of: files, in: staging)
            try DurableFile.write(header.file(archive), to: staging + "/operation")
            lock.setTime(clock.nowMilliseconds())
            let entry = RunningOperations.Entry()
            _ = RunningOperations.entries.withLock { $0.updateValue(entry, forKey: path(name)) }
            do throws(FileError) {
                try DurableFile.rename(staging, to: path(name), calls: calls)
            } catch {
                // If only the sync of the folder failed, the operation is stored, though a power loss may undo it.
                if error.step == .rename {
                    _ = RunningOperations.take(path(name))
                    throw error
                }
            }
            return LongLivedRun(header, folder: path(name), lock: lock, store: self)
        } catch {
            try? FileManager.default.removeItem(atPath: staging)
            throw error
        }
    }

    private func copies(of files: [URL], in staging: String) throws -> [String: String] {
        var copies: [String: String] = [:]
        guard !files.isEmpty else { return copies }
        guard mkdir(staging + "/files", 0o700) == 0 else {
            throw CKError(.internalError, "\(staging)/files can't be made.")
        }
        for url in files where copies[url.path] == nil {
            let name = "files/\(copies.count)"
            do throws(FileError) {
                // Left out are files that can't be read, and those that changed meanwhile.
                if try DurableFile.copy(url.path, to: staging + "/" + name) {
                    copies[url.path] = name
                } else {
                    unlink(staging + "/" + name)
                }
            } catch {
                guard error.path == url.path else { throw error }
            }
        }
        return copies
    }

    // MARK: Files

    private func path(_ operationID: String) -> String { folder + "/" + operationID }
    private func repliesPath(_ operationID: String) -> String { path(operationID) + "/replies" }

    private func names() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
            .filter { UUID(uuidString: $0) != nil }
    }

    private func isOld(_ operationID: String) -> Bool {
        var status = stat()
        guard stat(repliesPath(operationID), &status) == 0 else { return true }
        let then = Int64(status.st_mtim.tv_sec) * 1000 + Int64(status.st_mtim.tv_nsec) / 1_000_000
        return clock.nowMilliseconds() - then > Self.keptMilliseconds
    }

    private func header(_ operationID: String) -> OperationHeader? { read(operationID)?.header }

    private func read(_ operationID: String) -> (header: OperationHeader, archive: Data)? {
        guard UUID(uuidString: operationID) != nil else { return nil }
        let file = PrivateFile(path: path(operationID) + "/operation")
        guard let bytes = try? file.read(bytesMax: Self.operationBytesMax)?.bytes else { return nil }
        return OperationHeader.read(bytes)
    }
}
