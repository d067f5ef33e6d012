public import Foundation

/// A field's value that is a file. It can be held and read; uploading files to the service isn't there yet,
/// and a save of a record with an asset fails with `CKError.assetNotAvailable`.
public final class CKAsset: NSObject, NSSecureCoding, Sendable {
    /// Where the file is; nil for the server's copy of an asset that wasn't downloaded.
    public let fileURL: URL?

    /// Makes an asset of the file at `fileURL`, which must be there when the record is saved.
    public init(fileURL: URL) {
        self.fileURL = fileURL
    }

    package init(notDownloaded: Void) {
        fileURL = nil
    }

    /// Whether `object` is an asset of the same file.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKAsset else { return false }
        return self === other || (fileURL != nil && fileURL == other.fileURL)
    }

    /// The same for equal assets.
    public override var hash: Int { fileURL?.hashValue ?? ObjectIdentifier(self).hashValue }

    // MARK: Archives

    /// Assets can be read from archives that name the classes they expect.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the asset's place, not its bytes, to a keyed archive.
    public func encode(with coder: NSCoder) {
        if let fileURL { coder.encode(fileURL.absoluteString as NSString, forKey: "AssetFileURL") }
    }

    /// Reads an asset from a keyed archive.
    public init?(coder: NSCoder) {
        fileURL = coder.string(forKey: "AssetFileURL").flatMap { URL(string: $0) }
    }
}
