internal import CloudWire
public import Foundation

/// A field's value that is a file. A save sends the file, and what fetches the record fetches the file into a folder of
/// the framework's own: copy it from there to keep it.
public final class CKAsset: NSObject, NSSecureCoding, Sendable {
    /// Where the file is; nil for the server's copy of an asset that wasn't downloaded.
    public let fileURL: URL?
    /// What the server told of the file, for one that was fetched.
    let fetched: FetchedAsset?

    /// Makes an asset of the file at `fileURL`, which must be there when the record is saved.
    public init(fileURL: URL) {
        self.fileURL = fileURL
        fetched = nil
    }

    init(_ fetched: FetchedAsset?, fileURL: URL? = nil) {
        self.fileURL = fileURL
        self.fetched = fetched
    }

    /// Whether `object` is an asset of the same file, and for one that was fetched, of the same bytes.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKAsset else { return false }
        return fileURL == other.fileURL && contents == other.contents
    }

    /// The same for equal assets.
    public override var hash: Int { fileURL.hashValue ^ contents.hashValue }

    /// What is the same for the same bytes of a fetched file.
    private var contents: String? { fetched?.asset.fileChecksum }

    // MARK: Archives

    /// Assets can be read from archives that name the classes they expect.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the asset's place, not its bytes, to a keyed archive, and of one that was fetched which it is: so that it
    /// isn't sent again with its own field.
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
        // Apple's is an address; text is what is written here.
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
