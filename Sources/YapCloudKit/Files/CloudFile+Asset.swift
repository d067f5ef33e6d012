internal import CloudKit
internal import CloudWire
internal import Crypto
import Foundation
internal import System

// A `CloudFile` as the value of a field is an asset with the file's text as its URL. Apple's framework accepts only
// file URLs, so it has that form, but no file has this path. The queue and the merge compare it as any other value. The
// path of the bytes replaces it when the record is sent.

extension CloudFile {
    /// The file as a record of this device holds it.
    var asset: CKAsset? { URL(string: Self.addressPrefix + text).map { CKAsset(fileURL: $0) } }

    private static let addressPrefix = "file:///"

    init?(_ asset: CKAsset) {
        guard let file = asset.fileURL.flatMap({ CloudFile(address: $0.absoluteString) }) else { return nil }
        self = file
    }

    init?(_ asset: Asset) {
        guard let file = asset.downloadURL.flatMap({ CloudFile(address: $0) }) else { return nil }
        self = file
    }

    private init?(address: String) {
        guard address.hasPrefix(Self.addressPrefix) else { return nil }
        self.init(text: String(address.dropFirst(Self.addressPrefix.count)))
    }

    /// Reads the checksum of a server of ours: in base64, a 1 and the first 20 bytes of the SHA-256. Returns nil for
    /// checksums of other servers.
    init?(serverChecksum: String, sizeBytes: Int64) {
        guard let bytes = Data(base64Encoded: serverChecksum), bytes.first == 1,
            bytes.count == 1 + Self.digestDigits / 2
        else { return nil }
        self.init(digest: Hex.text(Array(bytes.dropFirst())), sizeBytes: sizeBytes)
    }

    /// The checksum as a server of ours has it.
    var serverChecksum: String {
        Data([1] + (Hex.bytes(digest) ?? [])).base64EncodedString()
    }
}

extension Field {
    /// The files that the field names.
    var files: [CloudFile] { ["": self].assets.compactMap { CloudFile($0) } }
}
