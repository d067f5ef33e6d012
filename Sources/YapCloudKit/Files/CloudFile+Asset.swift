internal import CloudKit
internal import CloudWire
import Foundation

// A `CloudFile` as the value of a field: an asset whose address is the file's text, as a URL of a file that doesn't
// exist, because Apple's framework takes no other URLs. The queue and the merge compare it as any other value. It
// becomes the path of the bytes only when it is sent.

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
        self.init(digest: Self.hex(bytes.dropFirst()), sizeBytes: sizeBytes)
    }

    /// The checksum as a server of ours has it.
    var serverChecksum: String {
        let digits = Array(digest)
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
        return Data([1] + bytes).base64EncodedString()
    }

    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension Field {
    /// The files that the field names.
    var files: [CloudFile] { ["": self].assets.compactMap { CloudFile($0) } }
}
