internal import Crypto
package import Foundation
internal import System

/// The folder of fetched files, named by their checksums. Its size is bounded: the least recently used files are
/// removed first.
package struct AssetCache: Sendable {
    /// The folder.
    package var folder: URL
    /// Maximum bytes of all files together. Files of the last hour aren't counted.
    package var bytesMax: Int64

    /// Default of `bytesMax`.
    package static let defaultBytesMax: Int64 = 1 << 30
    /// Seconds for which a file counts as in use, and isn't removed.
    static let keptSeconds = 3_600.0
    /// The folder is scanned after files of this part of `bytesMax` were added, not after each file.
    static let partBeforeTrim: Int64 = 16

    /// Bytes added since the last scan; nil before the first.
    private let grown = Lock<Int64?>(nil)

    /// Makes a cache in `folder`, which is created when it is first needed.
    package init(folder: URL, bytesMax: Int64 = AssetCache.defaultBytesMax) {
        self.folder = folder
        self.bytesMax = bytesMax
    }

    /// Returns the URL of the file with this checksum, even if it doesn't exist.
    func place(checksum: String) -> URL {
        folder.appendingPathComponent(String(Hex.text(Array(checksum.utf8)).suffix(200)))
    }

    /// Creates the folder, and marks an existing file as recently used.
    /// - Parameter bytes: the file's size, if known. A file of another size is the remains of a crash.
    /// - Returns: true if the file exists.
    func prepare(_ place: URL, bytes: Int64?) throws(CKError) -> Bool {
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CKError(
                .internalError, "The folder \(folder.path) of fetched files can't be made: \(error)")
        }
        var status = stat()
        guard stat(place.path, &status) == 0, bytes == nil || bytes == Int64(status.st_size) else {
            return false
        }
        // Sets the current time of the disk's clock.
        return utimes(place.path, nil) == 0
    }

    /// Removes all files.
    func removeAll() {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Removes the least recently used files until the rest fit, if enough was added since the last scan.
    /// - Parameter bytes: size of the file that was just added.
    func trim(after bytes: Int64) {
        let isDue = grown.withLock { grown in
            guard let before = grown, before + bytes <= bytesMax / Self.partBeforeTrim else {
                grown = 0
                return true
            }
            grown = before + bytes
            return false
        }
        if isDue { trim() }
    }

    private func trim() {
        let keys: Set<URLResourceKey> = [.contentModificationDateKey, .fileSizeKey]
        guard
            let urls = try? FileManager.default.contentsOfDirectory(
                at: folder, includingPropertiesForKeys: Array(keys))
        else { return }
        var files = urls.compactMap { url -> (url: URL, date: Date, bytes: Int64)? in
            guard let values = try? url.resourceValues(forKeys: keys),
                let date = values.contentModificationDate,
                let bytes = values.fileSize
            else { return nil }
            return (url, date, Int64(bytes))
        }
        var total = files.reduce(0) { $0 + $1.bytes }
        guard total > bytesMax, let newest = files.map(\.date).max() else { return }
        files.sort { $0.date < $1.date }
        for file in files where total > bytesMax && newest.timeIntervalSince(file.date) > Self.keptSeconds {
            guard (try? FileManager.default.removeItem(at: file.url)) != nil else { continue }
            total -= file.bytes
        }
    }
}
