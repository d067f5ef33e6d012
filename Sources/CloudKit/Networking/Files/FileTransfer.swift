package import Foundation

/// A file that is carried to the cloud or from it. What an exchange asks for; it touches no file itself.
package struct FileTransfer: Sendable {
    /// Which way.
    package enum Direction: Sendable {
        /// The whole file goes out; the answer has its receipt.
        case upload
        /// The bytes come in, and the file appears when they are whole.
        case download
    }

    /// Which way the bytes go.
    package var direction: Direction
    /// Where the other end is: a whole address, which is told to nobody.
    package var url: String
    /// The file on the device.
    package var fileURL: URL
    /// Bytes, where that is known before.
    package var bytes: Int64?
    /// The server's name for the contents, by which a download is checked.
    package var checksum: String?
    /// Whose file it is, and which part of what its record needs; nil where nobody wants to know.
    var progress: FileProgress?
}

/// The bytes of a file that goes out. Used by one thread at a time.
package protocol UploadSource: AnyObject, Sendable {
    /// Bytes of the whole.
    var byteCount: Int64 { get }
    /// Puts the next bytes into `buffer` and returns how many: 0 only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

/// Takes the bytes of a file that comes in. Used by one thread at a time.
package protocol DownloadSink: AnyObject, Sendable {
    /// An answer of success begins, with this status: 200 brings the whole file, 206 the part that the header
    /// `Content-Range` names.
    func begin(status: Int, contentRange: String?) throws
    /// Takes the next bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws
}

extension DownloadSink {
    package func begin(status: Int, contentRange: String?) throws {}
}

/// A file on its way through a transport.
package struct FileRequest: Sendable {
    /// The whole address.
    package var url: String
    /// The headers in order.
    package var headers: [(name: String, value: String)] = []
    /// What is sent by POST; nil for what is fetched by GET.
    package var source: (any UploadSource)?
    /// What takes the answer's body of a GET.
    package var sink: (any DownloadSink)?
}
