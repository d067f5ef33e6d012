internal import CloudWire
internal import Crypto
import Foundation
internal import System

/// A key by which a server of the app's developer asks, instead of a user.
package struct ServerKey: Hashable, Sendable {
    /// The key's name, as the console shows it.
    package var keyID: String
    /// Read once: reading costs more than a signature.
    private var key: P256PrivateKey

    /// Bytes that a file with a key may have.
    private static let fileBytesMax = 64 << 10

    /// Takes a private key on the curve P-256.
    /// - Throws: `CKError.badContainer` when `pem` holds none.
    package init(keyID: String, pem: String) throws(CKError) {
        self.keyID = keyID
        do {
            key = try P256PrivateKey(pem: pem)
        } catch {
            throw CKError(
                .badContainer, "The server's key \(keyID) is no private key on the curve P-256: \(error)")
        }
    }

    /// Reads the private key from a file.
    /// - Throws: `CKError.badContainer` when there is none.
    package init(keyID: String, file: String) throws(CKError) {
        guard let data = FileManager.default.contents(atPath: file), data.count <= Self.fileBytesMax else {
            throw CKError(.badContainer, "The file \(file) with the server's key \(keyID) can't be read.")
        }
        try self.init(keyID: keyID, pem: String(decoding: data, as: UTF8.self))
    }

    /// The headers that say who asks: the key's name, the date, and the signature over the date, the body's hash and
    /// the path with its query as it goes out.
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

    /// What is signed: `date:hash of the body:path with its query`.
    static func message(_ date: String, _ target: String, _ body: [UInt8]) throws -> [UInt8] {
        Array("\(date):\(SignedRequest.base64(try SHA256.hash(body))):\(target)".utf8)
    }

    /// A time as `2016-01-25T22:15:43Z`: Apple's servers take no fraction of a second.
    static func text(ofMilliseconds milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: (Double(milliseconds) / 1000).rounded(.down)).formatted(.iso8601)
    }
}
