import Foundation
internal import System

/// A file that only its owner may read.
package struct PrivateFile: Sendable {
    /// The reason that a private file can't be used, with the remedy.
    package struct Failure: Error, Sendable {
        package var message: String
    }

    /// Identifies a version of the file without reading it.
    package struct Version: Hashable, Sendable {
        var inode: UInt64
        var byteCount: Int64
        var seconds: Int64
        var nanoseconds: Int64
    }

    /// Maximum bytes of a private file.
    package static let bytesMax = 1 << 20

    /// The file's path.
    package let path: String
    private let calls: FileCalls

    /// A file at `path`.
    package init(path: String) {
        self.init(path: path, calls: .system)
    }

    /// - Parameter calls: The system's calls with which the file is written.
    init(path: String, calls: FileCalls) {
        self.path = path
        self.calls = calls
    }

    /// The folder of the file.
    package var folder: String {
        let folder = (path as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }

    /// Returns the current version, or nil if the file doesn't exist.
    package func version() -> Version? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Version(status)
    }

    /// Reads the file; nil if it doesn't exist.
    /// - Throws: `Failure` if others may read it, or it can't be read.
    package func read(bytesMax: Int = PrivateFile.bytesMax) throws(Failure) -> (
        bytes: [UInt8], version: Version
    )? {
        let file: OpenFile, status: stat
        do throws(FileError) {
            file = try OpenFile(path, .reading)
            status = try file.status()
        } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw failure("can't be opened", error)
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(message: "\(path) is no file.") }
        guard status.st_uid == geteuid() else {
            throw Failure(message: "\(path) belongs to another user of this machine; it isn't used.")
        }
        guard status.st_mode & 0o077 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw Failure(
                message: """
                    \(path) holds a secret, and others may read it (its mode is \(mode)): it isn't used. \
                    Type: chmod 600 '\(path)'
                    """)
        }
        guard status.st_size <= bytesMax else {
            throw Failure(message: "\(path) has more than \(bytesMax) bytes.")
        }
        do throws(FileError) {
            return (try file.readToEnd(bytesMax: Int(status.st_size)), Version(status))
        } catch {
            throw failure("can't be read", error)
        }
    }

    /// Replaces the file with `bytes`, atomically and durably.
    ///
    /// - Parameter replacing: False leaves an existing file unchanged.
    package func write(_ bytes: [UInt8], replacing: Bool = true) throws(Failure) {
        try makeFolder()
        do throws(FileError) {
            DraftFile.sweep(path)
            try DurableFile.write(bytes, to: path, replacing: replacing, calls: calls)
        } catch {
            // The file was replaced; only its folder couldn't be synced.
            if error.path == Folders.parent(of: path) { return }
            // Another process was first.
            if !replacing, error.code == EEXIST { return }
            throw failure("can't be written", error)
        }
    }

    /// Runs `body` while no other process does so with a file of this folder.
    package func withFolderLocked<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        try makeFolder()
        let lock: OpenFile
        do throws(FileError) {
            lock = try OpenFile(folder, .folder)
            try lock.lock(waits: true)
        } catch {
            throw failure("lies in a folder that can't be locked", error)
        }
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    private func makeFolder() throws(Failure) {
        var status = stat()
        if stat(folder, &status) == 0 { return }
        let parent = (folder as NSString).deletingLastPathComponent
        try? FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw failure("can't be kept: its folder can't be made")
        }
    }

    private func failure(_ problem: String) -> Failure {
        failure(problem, FileError(.status, path, errno))
    }

    private func failure(_ problem: String, _ error: FileError) -> Failure {
        Failure(message: "\(path) \(problem): \(error.reason).")
    }
}

extension PrivateFile.Version {
    fileprivate init(_ status: stat) {
        self.init(
            inode: UInt64(status.st_ino), byteCount: Int64(status.st_size),
            seconds: Int64(status.st_mtim.tv_sec), nanoseconds: Int64(status.st_mtim.tv_nsec))
    }
}
