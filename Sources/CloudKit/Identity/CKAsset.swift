internal import CloudWire
public import Foundation

/// A file as the value of a field. A save uploads the file. A fetch downloads it into a folder of the framework; copy
/// it from there to keep it.
public final class CKAsset: NSObject, NSSecureCoding, Sendable {
    /// The URL of the file; nil for the server's copy of an asset that wasn't downloaded.
    public let fileURL: URL?
    /// The server's description of a fetched file.
    let fetched: FetchedAsset?

    /// Makes an asset of the file at `fileURL`, which must exist when the record is saved.
    public init(fileURL: URL) {
        self.fileURL = fileURL
        fetched = nil
    }

    init(_ fetched: FetchedAsset?, fileURL: URL? = nil) {
        self.fileURL = fileURL
        self.fetched = fetched
    }

    /// Returns true if `object` is an asset of the same file and, if fetched, of the same contents.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKAsset else { return false }
        return fileURL == other.fileURL && contents == other.contents
    }

    /// The same for equal assets.
    public override var hash: Int { fileURL.hashValue ^ contents.hashValue }

    /// Identifies the contents of a fetched file.
    private var contents: String? { fetched?.asset.fileChecksum }

    // MARK: Archives

    /// Assets can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the asset's URL, not its contents, in a keyed archive; for a fetched file also its description, so that
    /// it isn't uploaded again with its own field.
    public func encode(with coder: NSCoder) {
        if let fileURL { coder.encode(fileURL.absoluteString as NSString, forKey: "AssetFileURL") }
        guard let fetched, let checksum = fetched.asset.fileChecksum else { return }
        coder.encode(checksum as NSString, forKey: "FetchedChecksum")
        coder.encode(fetched.recordID, forKey: "FetchedRecordID")
        coder.encode(fetched.key as NSString, forKey: "FetchedKey")
        for (value, key) in [
            (fetched.asset.wrappingKey, "FetchedWrappingKey"),
            (fetched.asset.referenceChecksum, "FetchedReferenceChecksum"),
            (fetched.asset.receipt, "FetchedReceipt"), (fetched.asset.size.map { "\($0)" }, "FetchedSize"),
        ] {
            if let value { coder.encode(value as NSString, forKey: key) }
        }
    }

    /// Reads an asset from a keyed archive.
    public init?(coder: NSCoder) {
        // Apple encodes a URL; this framework encodes a text.
        let place = coder.object(forKey: "AssetFileURL")
        fileURL = (place as? NSURL).map { $0 as URL } ?? (place as? String).flatMap { URL(string: $0) }
        guard let checksum = coder.string(forKey: "FetchedChecksum"),
            let recordID = coder.object(CKRecordID.self, forKey: "FetchedRecordID"),
            let key = coder.string(forKey: "FetchedKey")
        else {
            fetched = nil
            return
        }
        let asset = Asset(
            fileChecksum: checksum, size: coder.string(forKey: "FetchedSize").flatMap { Int64($0) },
            wrappingKey: coder.string(forKey: "FetchedWrappingKey"),
            referenceChecksum: coder.string(forKey: "FetchedReferenceChecksum"),
            receipt: coder.string(forKey: "FetchedReceipt"))
        fetched = FetchedAsset(asset: asset, recordID: recordID, key: key)
    }
}
