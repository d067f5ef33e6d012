internal import CloudWire
internal import Crypto
import Foundation
internal import System

/// A key with which the app developer's own server signs its requests, in place of a user's token.
package struct ServerKey: Hashable, Sendable {
    /// The key's ID, as the console shows it.
    package var keyID: String
    /// Parsed once, because parsing costs more than a signature.
    private var key: P256PrivateKey

    /// Maximum bytes of a key file.
    private static let fileBytesMax = 64 << 10

    /// Makes a key from a private key on the curve P-256.
    /// - Throws: `CKError.badContainer` if `pem` has none.
    package init(keyID: String, pem: String) throws(CKError) {
        self.keyID = keyID
        do {
            key = try P256PrivateKey(pem: pem)
        } catch {
            throw CKError(
                .badContainer, "The server's key \(keyID) isn't a private key on the curve P-256: \(error)")
        }
    }

    /// Reads the private key from a file.
    /// - Throws: `CKError.badContainer` if the file can't be read or has no such key.
    package init(keyID: String, file: String) throws(CKError) {
        guard let data = FileManager.default.contents(atPath: file), data.count <= Self.fileBytesMax else {
            throw CKError(.badContainer, "The file \(file) with the server's key \(keyID) can't be read.")
        }
        try self.init(keyID: keyID, pem: String(decoding: data, as: UTF8.self))
    }

    /// Returns the headers that authenticate a request: the key's ID, the date, and the signature of the date, the
    /// body's hash and the path with the query.
    /// - Throws: `CKError.internalError` if the request can't be signed.
    func headers(
        target: String, body: [UInt8], clock: any TimeSource
    ) throws(CKError) -> [(name: String, value: String)] {
        let date = Self.text(ofMilliseconds: clock.nowMilliseconds())
        do {
            let signature = try key.signature(of: Self.message(date, target, body))
            return [
                (WireHeader.keyID, keyID), (WireHeader.signedDate, date),
                (WireHeader.signature, SignedRequest.base64(signature)),
            ]
        } catch {
            throw CKError(.internalError, "The request can't be signed: \(error)")
        }
    }

    /// Returns the signed bytes: `date:hash of the body:path with its query`.
    static func message(_ date: String, _ target: String, _ body: [UInt8]) throws -> [UInt8] {
        Array("\(date):\(SignedRequest.base64(try SHA256.hash(body))):\(target)".utf8)
    }

    /// Returns a time as `2016-01-25T22:15:43Z`. Apple's servers accept no fraction of a second.
    static func text(ofMilliseconds milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: (Double(milliseconds) / 1000).rounded(.down)).formatted(.iso8601)
    }
}
