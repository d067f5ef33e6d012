package import Foundation

/// An upload or download that an exchange requests. The exchange itself opens no file.
package struct FileTransfer: Sendable {
    /// The direction of a transfer.
    package enum Direction: Sendable {
        /// Uploads the whole file. The response has its receipt.
        case upload
        /// Downloads the file. It appears at `fileURL` when it is complete.
        case download
    }

    /// The direction.
    package var direction: Direction
    /// The server's URL. It grants access, so it is never logged.
    package var url: String
    /// The file on the device.
    package var fileURL: URL
    /// Size in bytes; nil if unknown.
    package var bytes: Int64?
    /// The server's checksum, which a download verifies.
    package var checksum: String?
    /// The record of the file, and the file's part of the record's progress; nil if no progress is reported.
    var progress: FileProgress?
}

/// The bytes of a file to upload. Used by one thread at a time.
package protocol UploadSource: AnyObject, Sendable {
    /// Size of the file in bytes.
    var byteCount: Int64 { get }
    /// Reads the next bytes into `buffer`.
    /// - Returns: their number; 0 only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

/// Receives the bytes of a downloaded file. Used by one thread at a time.
package protocol DownloadSink: AnyObject, Sendable {
    /// Begins a successful response.
    /// - Parameters:
    ///   - status: 200 for the whole file, 206 for a part.
    ///   - contentRange: the header `Content-Range`, which names the part.
    func begin(status: Int, contentRange: String?) throws
    /// Receives the next bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws
}

extension DownloadSink {
    package func begin(status: Int, contentRange: String?) throws {}
}

/// The HTTP request of an upload or download.
package struct FileRequest: Sendable {
    /// The whole URL.
    package var url: String
    /// The headers in order.
    package var headers: [(name: String, value: String)] = []
    /// The body of a POST request; nil for a GET request.
    package var source: (any UploadSource)?
    /// Receives the response body of a GET request.
    package var sink: (any DownloadSink)?
}
