import FoundationEssentials
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A folder in memory for the files of one database. It is deleted with the database.
///
/// A lock that is held until the process ends marks the folder as in use. The folders of killed processes are
/// deleted when the next one is made.
final class MemoryFolder: Sendable {
    private static let memoryPath = "/dev/shm"
    private static let prefix = "yap-memory-"
    private static let lockName = "lock"

    let path: String
    private let lock: OpenFile

    var file: String { path + "/memory.yap" }

    /// Makes the folder.
    ///
    /// - Throws: `YapDatabaseError` of code `cannotOpen`.
    convenience init() throws {
        let isThere = access(Self.memoryPath, W_OK | X_OK) == 0
        try self.init(in: isThere ? Self.memoryPath : FileManager.default.temporaryDirectory.path)
    }

    /// Makes it in another folder, for tests.
    init(in parent: String, calls: FileCalls = .system) throws {
        Self.removeUnused(in: parent)
        let template = parent + "/" + Self.prefix + "XXXXXX"
        let made = template.withCString { text -> String? in
            guard let copy = strdup(text) else { return nil }
            defer { free(copy) }
            return mkdtemp(copy).map { String(cString: $0) }
        }
        guard let made else {
            throw YapDatabaseError(
                .cannotOpen, "no folder can be made in \(parent): \(String(cString: strerror(errno)))")
        }
        path = made
        // Renamed after it is locked, so that no process finds it unlocked before.
        let new = made + "/" + Self.lockName + "-new"
        do throws(FileError) {
            lock = try OpenFile(new, .updatingOrCreating, calls: calls)
            guard try lock.lock(waits: false) else { throw FileError(.lock, new, EWOULDBLOCK) }
            // Not synced, because no file in it is used after the process has ended.
            try FileCalls.system(.rename, new) { rename(new, made + "/" + Self.lockName) }
        } catch {
            Self.remove(made)
            throw YapDatabaseError(.cannotOpen, "no file can be locked in \(made): \(error.reason)")
        }
    }

    deinit { remove() }

    /// Deletes the folder and its files. The space of open files is freed when they are closed.
    func remove() { Self.remove(path) }

    private static func remove(_ path: String) { _ = try? FileManager.default.removeItem(atPath: path) }

    private static func removeUnused(in parent: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let folder = parent + "/" + name
            let lock = try? OpenFile(folder + "/" + lockName, .updating, followsLinks: false)
            if (try? lock?.lock(waits: false)) == true { remove(folder) }
        }
    }
}
