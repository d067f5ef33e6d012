import Foundation

/// A file of an object: a photo, a scan, a recording.
///
/// The value is the file's checksum and its size. The bytes are in a folder beside the database, and in the cloud. Two
/// values are equal if their bytes are. `CloudSync.files` adds files, finds their bytes and fetches them.
///
/// ```swift
/// struct Note: CloudModel {
///     var text = ""
///     var photo: CloudFile?
///
///     static let recordType = "note"
///     static let fields = CloudFields<Note> {
///         $0.field(\.text)
///         $0.field(\.photo)
///     }
/// }
///
/// var note = Note(text: "The garden in June")
/// note.photo = try await sync.files.add(jpegData)
/// ```
public struct CloudFile: Hashable, Sendable {
    /// When a device fetches the bytes of a file that another device added.
    public enum Fetching: Sendable {
        /// With the object. If the server can't send the file, the object is stored without its bytes.
        case withObject
        /// When `CloudFiles.fetch(_:ofObjectForKey:inCollection:)` is called.
        case onRequest
    }

    /// Number of bytes.
    public let sizeBytes: Int64
    /// The first 20 bytes of the SHA-256, in hexadecimal.
    let digest: String

    /// Number of hexadecimal digits in a digest.
    static let digestDigits = 40
    /// The beginning of the value's text. Unused files are found by it, in all objects.
    static let scheme = "cloudfile:"

    init(digest: String, sizeBytes: Int64) {
        self.digest = digest
        self.sizeBytes = sizeBytes
    }

    /// The name of the file in its folder.
    var name: String { "\(digest)-\(sizeBytes)" }

    /// Reads the name of a file in its folder. Returns nil for other names.
    init?(name: some StringProtocol) {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == Self.digestDigits,
            parts[0].utf8.allSatisfy({ Self.isDigit($0) }), let size = Int64(parts[1]), size >= 0,
            "\(size)" == parts[1]
        else { return nil }
        self.init(digest: String(parts[0]), sizeBytes: size)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    /// The value as text, in objects and in the queue.
    var text: String { Self.scheme + name }

    /// Reads the value's text. Returns nil for other texts.
    init?(text: String) {
        guard text.hasPrefix(Self.scheme) else { return nil }
        self.init(name: text.dropFirst(Self.scheme.count))
    }
}

extension CloudFile: Codable {
    /// Reads the text that `encode(to:)` writes.
    /// - Throws: `DecodingError.dataCorrupted` for another text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let file = CloudFile(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a CloudFile")
        }
        self = file
    }

    /// Writes checksum and size as one text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension CloudFile: CustomStringConvertible {
    /// The size, and the beginning of the checksum.
    public var description: String { "file of \(sizeBytes) bytes (\(digest.prefix(8)))" }
}
