import Crypto

/// Encrypts and authenticates bytes with a secret. Deterministic, so equal responses have equal bytes.
///
/// The construction is SIV: the content's authentication code comes first and is the seed of the key stream, so
/// different contents have different key streams.
struct Seal {
    private static let codeBytes = 16
    private let codeKey: [UInt8]
    private let mixKey: [UInt8]

    /// - Parameter purpose: bytes that were sealed for another purpose can't be opened.
    init(secret: [UInt8], purpose: String) throws {
        codeKey = try HMACSHA256.code(of: "\(purpose) code", key: secret)
        mixKey = try HMACSHA256.code(of: "\(purpose) mix", key: secret)
    }

    func sealed(_ content: [UInt8]) throws -> [UInt8] {
        let code = try code(of: content)
        return code + (try mixed(content, code))
    }

    /// Returns nil for bytes that `sealed` hasn't made.
    func opened(_ bytes: [UInt8]) throws -> [UInt8]? {
        guard bytes.count >= Self.codeBytes else { return nil }
        let code = Array(bytes.prefix(Self.codeBytes))
        let content = try mixed(Array(bytes.dropFirst(Self.codeBytes)), code)
        return ConstantTime.equal(code, try self.code(of: content)) ? content : nil
    }

    private func code(of content: [UInt8]) throws -> [UInt8] {
        Array(try HMACSHA256.code(of: content, key: codeKey).prefix(Self.codeBytes))
    }

    private func mixed(_ content: [UInt8], _ code: [UInt8]) throws -> [UInt8] {
        var mixed = content
        for start in stride(from: 0, to: content.count, by: SHA256.digestBytes) {
            let block = try HMACSHA256.code(of: code + OrderedBytes.bigEndian(UInt64(start)), key: mixKey)
            for offset in 0..<min(block.count, content.count - start) {
                mixed[start + offset] ^= block[offset]
            }
        }
        return mixed
    }
}
