import COpenSSL

/// Errors of hashes, passwords, keys and random bytes.
public enum CryptoError: Error, Hashable, Sendable, CustomStringConvertible {
    /// OpenSSL failed: no memory, or no generator of random bytes. `reason` is OpenSSL's text.
    case failed(operation: String, reason: String)
    /// The password is longer than `bytesMax` bytes of UTF-8.
    case passwordTooLong(bytesMax: Int)
    /// The stored text isn't a password hash.
    case damagedPasswordHash
    /// The bytes aren't a public key on the curve P-256.
    case notAPublicKey
    /// The bytes aren't a private key on the curve P-256.
    case notAPrivateKey

    /// Description and remedy, for a log.
    public var description: String {
        switch self {
        case .failed(let operation, let reason):
            "OpenSSL can't do \(operation): \(reason). Check the machine's memory and its installation of OpenSSL 3."
        case .passwordTooLong(let bytesMax):
            "The password is longer than \(bytesMax) bytes. Choose a shorter one."
        case .damagedPasswordHash:
            "The stored password can't be read. Set a new one, or restore a backup of the file that keeps it."
        case .notAPublicKey:
            "This is no public key on the curve P-256. Make one with: openssl ec -in key.pem -pubout"
        case .notAPrivateKey:
            "This is no private key on the curve P-256. Make one with: "
                + "openssl ecparam -name prime256v1 -genkey -noout"
        }
    }

    /// Returns the error in OpenSSL's queue for `operation`, and empties the queue.
    static func last(_ operation: String) -> CryptoError {
        var text = [UInt8](repeating: 0, count: 256)
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return .failed(operation: operation, reason: "no reason given") }
        text.withUnsafeMutableBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            ERR_error_string_n(code, start, bytes.count)
        }
        return .failed(
            operation: operation, reason: String(decoding: text.prefix { $0 != 0 }, as: UTF8.self))
    }
}
