import CloudStore
import CloudWire
import System

/// A file in stored form: an asset with only its size, and the SHA-256 of its bytes in place of the receipt.
/// The form for clients is made when a response is written.
struct StoredAsset: Hashable {
    static let digestBytes = 32

    let digest: [UInt8]
    let bytes: Int64

    init(digest: [UInt8], bytes: Int64) {
        self.digest = digest
        self.bytes = bytes
    }

    /// Returns nil for an asset in another form, such as a client's.
    init?(_ asset: Asset) {
        guard asset.fileChecksum == nil, let size = asset.size, let text = asset.receipt,
            let digest = Base64URL.decoded(text), digest.count == Self.digestBytes
        else { return nil }
        self.init(digest: digest, bytes: size)
    }

    /// The stored form.
    var kept: Asset { Asset(size: bytes, receipt: Base64URL.encoded(digest)) }

    var use: AssetUse { AssetUse(digest: digest, bytes: bytes) }
}

extension [String: Field] {
    /// The files of a stored record's fields, sorted, without duplicates.
    var assetUses: [AssetUse] {
        var uses: Set<AssetUse> = []
        for field in values {
            switch field.value {
            case .asset(let asset): if let stored = StoredAsset(asset) { uses.insert(stored.use) }
            case .list(_, let elements):
                for case .asset(let asset) in elements {
                    if let stored = StoredAsset(asset) { uses.insert(stored.use) }
                }
            default: continue
            }
        }
        return uses.sorted()
    }
}

/// Base64 for addresses: with `-` and `_`, and without padding.
enum Base64URL {
    private static let symbols = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let values: [UInt8] = {
        var table = [UInt8](repeating: 0xFF, count: 256)
        for (value, symbol) in symbols.enumerated() { table[Int(symbol)] = UInt8(value) }
        return table
    }()

    static func encoded(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var word: UInt32 = 0
        var bits: UInt32 = 0
        for byte in bytes {
            word = word << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(symbols[Int(word >> bits & 63)])
            }
        }
        if bits > 0 { text.append(symbols[Int(word << (6 - bits) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns nil for text that `encoded` can't have made, so that each text has one form.
    static func decoded(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 3 / 4)
        var word: UInt32 = 0
        var bits: UInt32 = 0
        for symbol in text.utf8 {
            let value = values[Int(symbol)]
            guard value != 0xFF else { return nil }
            word = word << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: word >> bits))
            }
        }
        return bits < 6 && word & (1 << bits - 1) == 0 ? bytes : nil
    }
}

// MARK: - What clients see

extension StoredAsset {
    private static let signatureBytes = 20

    /// In Apple's form: a byte for the kind of checksum, and 20 bytes of it, here of the SHA-256.
    var fileChecksum: String { Base64.encoded([1] + digest.prefix(Self.signatureBytes)) }

    /// The same in the form for addresses.
    var checksumInAddress: String { Base64URL.encoded([1] + digest.prefix(Self.signatureBytes)) }

    /// Returns the file as clients receive it. In a private database Apple's protocol has two more keys, which
    /// clients send back and which have no meaning here.
    func told(in database: StoredDatabaseKey.Scope) -> Asset {
        var asset = Asset(fileChecksum: fileChecksum, size: bytes)
        guard database == .privateDatabase else { return asset }
        asset.wrappingKey = Base64.encoded(Array(digest.suffix(16)))
        asset.referenceChecksum = Base64.encoded([1] + digest.suffix(Self.signatureBytes))
        return asset
    }
}
