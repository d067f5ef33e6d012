import CloudStore
import CloudWire
import Crypto

/// A signed statement about a file: it may be uploaded, it was uploaded, or it may be downloaded. The store needs no
/// row for it.
struct AssetClaims: Hashable, Sendable {
    /// The purpose of the signature. A claim of one purpose is never accepted for another.
    enum Purpose: UInt8 {
        case upload = 1
        case receipt = 2
        case download = 3
    }

    private static let version: UInt8 = 1
    /// Maximum bytes of a claim. A longer text isn't one of ours.
    private static let textBytesMax = 4_096

    var purpose: Purpose
    /// Time at which it expires.
    var expiresMilliseconds: Int64
    var database: StoredDatabaseKey
    /// Empty in a download.
    var zoneName = ""
    /// Empty if any record may hold the file.
    var recordName = ""
    /// Empty if a record of any type may hold the file.
    var recordType = ""
    /// Empty if any field may hold the file.
    var fieldName = ""
    /// The calling user. Empty in a download.
    var user = ""
    /// The file, or nil in an upload.
    var file: StoredAsset?

    /// Returns the claims and a signature of them, as text for addresses.
    func signed(_ secret: [UInt8]) throws -> String {
        var writer = BinaryWriter()
        writer.byte(Self.version)
        writer.byte(purpose.rawValue)
        writer.signed(expiresMilliseconds)
        writer.unsigned(UInt64(database.scope.rawValue))
        for text in [database.owner, zoneName, recordName, recordType, fieldName, user] { writer.text(text) }
        writer.blob(file?.digest ?? [])
        writer.signed(file?.bytes ?? 0)
        return Base64URL.encoded(writer.bytes + (try HMACSHA256.code(of: writer.bytes, key: secret)))
    }

    /// Reads claims that this service has signed for `purpose` and that haven't expired. Returns nil for any
    /// other text.
    static func checked(
        _ text: String, for purpose: Purpose, secret: [UInt8], nowMilliseconds: Int64
    ) throws -> AssetClaims? {
        guard text.utf8.count <= textBytesMax, let bytes = Base64URL.decoded(text),
            bytes.count > SHA256.digestBytes
        else { return nil }
        let content = Array(bytes.dropLast(SHA256.digestBytes))
        let code = try HMACSHA256.code(of: content, key: secret)
        guard ConstantTime.equal(code, Array(bytes.suffix(SHA256.digestBytes))),
            let claims = try? AssetClaims(content), claims.purpose == purpose,
            nowMilliseconds < claims.expiresMilliseconds
        else { return nil }
        return claims
    }

    private init?(_ content: [UInt8]) throws(BinaryError) {
        var reader = BinaryReader(content[...])
        guard try reader.byte() == Self.version, let purpose = Purpose(rawValue: try reader.byte()) else {
            return nil
        }
        self.purpose = purpose
        expiresMilliseconds = try reader.signed()
        guard let scope = StoredDatabaseKey.Scope(rawValue: Int64(bitPattern: try reader.unsigned())) else {
            return nil
        }
        let owner = try reader.text()
        database = scope == .publicDatabase ? .publicDatabase : .privateDatabase(of: owner)
        zoneName = try reader.text()
        recordName = try reader.text()
        recordType = try reader.text()
        fieldName = try reader.text()
        user = try reader.text()
        let digest = try reader.blob()
        let bytes = try reader.signed()
        file = digest.isEmpty ? nil : StoredAsset(digest: digest, bytes: bytes)
        try reader.expectEnd()
    }

    init(_ purpose: Purpose, database: StoredDatabaseKey, expiresMilliseconds: Int64) {
        self.purpose = purpose
        self.database = database
        self.expiresMilliseconds = expiresMilliseconds
    }
}
