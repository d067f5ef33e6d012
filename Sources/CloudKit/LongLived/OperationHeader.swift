internal import Crypto
import Foundation
internal import System

/// The header of a stored operation.
///
/// The file: a line with the format's name, its version and the SHA-256 of the rest in hexadecimal; the header as JSON
/// in one line; the operation as a keyed archive.
struct OperationHeader: Codable, Sendable {
    private static let firstWords = "yap operation 1 "

    var operationID: String
    /// The name of its class.
    var kind: String
    /// The scope of its database.
    var scope: Int
    var owner: OperationOwner
    /// The seed of its idempotency keys.
    var seed: UInt64
    /// The stored copies of the files to upload, by the paths of the originals.
    var files: [String: String] = [:]

    /// Returns the file's bytes, with `archive` after the header.
    func file(_ archive: [UInt8]) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let rest = [UInt8](try encoder.encode(self)) + [UInt8(ascii: "\n")] + archive
        return Array((Self.firstWords + (try Self.checksum(rest)) + "\n").utf8) + rest
    }

    /// Reads the result of `file`; nil for anything else, including later versions.
    static func read(_ file: [UInt8]) -> (header: OperationHeader, archive: Data)? {
        let parts = file.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let checksum = try? checksum(Array(parts[1])),
            parts[0].elementsEqual((firstWords + checksum).utf8)
        else { return nil }
        let rest = parts[1].split(
            separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        guard rest.count == 2,
            let header = try? JSONDecoder().decode(OperationHeader.self, from: Data(rest[0]))
        else { return nil }
        return (header, Data(rest[1]))
    }

    private static func checksum(_ bytes: [UInt8]) throws -> String {
        Hex.text(try SHA256.hash(bytes))
    }
}
