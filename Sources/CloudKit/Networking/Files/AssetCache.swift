internal import Crypto
package import Foundation
internal import System

/// The folder of files that were fetched, named by their checksums. Bounded: the ones that nobody asked for longest go.
package struct AssetCache: Sendable {
    /// The folder.
    package var folder: URL
    /// Bytes that all files may have together, beyond those of the last hour.
    package var bytesMax: Int64

    /// Bytes of all files together, when nobody says otherwise.
    package static let defaultBytesMax: Int64 = 1 << 30
    /// What was asked for a short while ago is in use, whatever its size.
    static let keptSeconds = 3_600.0
    /// The folder is looked through when files came that are together such a part of its bound: not for each one.
    static let partBeforeTrim: Int64 = 16

    /// Bytes that came since the folder was looked through; nil: it wasn't yet.
    private let grown = Lock<Int64?>(nil)

    /// Makes a cache in `folder`, which is made when it is first needed.
    package init(folder: URL, bytesMax: Int64 = AssetCache.defaultBytesMax) {
        self.folder = folder
        self.bytesMax = bytesMax
    }

    /// Where the file with this checksum is, or would be.
    func place(checksum: String) -> URL {
        folder.appendingPathComponent(String(Hex.text(Array(checksum.utf8)).suffix(200)))
    }

    /// Makes the folder, and says whether the file at `place` is there already, with so many bytes if they are known;
    /// then it is young again. What a power failure or an app left of it isn't the file.
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
        // Now, by the disk's clock.
        return utimes(place.path, nil) == 0
    }

    /// Removes all files.
    func removeAll() {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Removes files until the rest fit, longest unused first, when enough has come since the last time.
    /// - Parameter bytes: of the file that came just now.
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
