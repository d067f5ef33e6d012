import Foundation

/// The disk's own files.
///
/// A file is copied, never linked: an app that writes its file anew in place would change a linked copy with it, after
/// the commit had said what is sent.
package struct DiskAssetFiles: AssetFiles {
    private static let bufferBytes = 256 * 1024

    package init() {}

    package func copy(_ source: String, to target: String) throws {
        let from = open(source, O_RDONLY | O_CLOEXEC)
        guard from >= 0 else { throw AssetFileError.unreadable(path: source, errno: errno) }
        defer { close(from) }
        var status = stat()
        guard fstat(from, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw AssetFileError.unreadable(path: source, errno: EISDIR)
        }
        try create(target) { try copy(from, source, to: $0, target) }
    }

    package func write(_ bytes: Data, to target: String) throws {
        try create(target) { to in try bytes.withUnsafeBytes { try write($0, to: to, target) } }
    }

    package func move(_ source: String, to target: String) throws {
        guard rename(source, target) == 0 else { throw AssetFileError.notWritten(path: target, errno: errno) }
        try sync(Self.folder(of: target))
    }

    private static func folder(of path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    }

    /// Creates a file, lets `fill` write it, and brings it to the disk.
    private func create(_ target: String, _ fill: (_ descriptor: Int32) throws -> Void) throws {
        let folder = Self.folder(of: target)
        let isNewFolder = mkdir(folder, 0o700) == 0
        let to = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard to >= 0 else { throw AssetFileError.notWritten(path: target, errno: errno) }
        do {
            try fill(to)
            guard fsync(to) == 0 else { throw AssetFileError.notWritten(path: target, errno: errno) }
            close(to)
        } catch {
            close(to)
            unlink(target)
            throw error
        }
        try sync(folder)
        if isNewFolder { try sync(folder + "/..") }
    }

    private func copy(_ from: Int32, _ source: String, to: Int32, _ target: String) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferBytes, alignment: 1)
        defer { buffer.deallocate() }
        while true {
            let count = read(from, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw AssetFileError.unreadable(path: source, errno: errno) }
            guard count > 0 else { return }
            try write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: to, target)
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ target: String) throws {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let step = Foundation.write(descriptor, rest.baseAddress, rest.count)
            if step < 0, errno == EINTR { continue }
            guard step >= 0 else { throw AssetFileError.notWritten(path: target, errno: errno) }
            written += step
        }
    }

    private func sync(_ folder: String) throws {
        let file = open(folder, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw AssetFileError.notWritten(path: folder, errno: errno) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw AssetFileError.notWritten(path: folder, errno: errno) }
    }

    package func remove(_ path: String) {
        unlink(path)
    }

    package func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { start in
                start.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: start.pointee)) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
