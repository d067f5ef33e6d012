internal import Crypto
import Foundation

/// What has to be known of a kept operation before it is made again.
///
/// Its file: a line with the form's name, its version and the SHA-256 of the rest in hexadecimal; the header as JSON in
/// one line; the operation as a keyed archive.
struct OperationHeader: Codable, Sendable {
    private static let firstWords = "yap operation 1 "

    var operationID: String
    /// Which class it is of.
    var kind: String
    /// The database that it asks.
    var scope: Int
    var owner: OperationOwner
    /// What its writes are named by.
    var seed: UInt64
    /// The copies of the files that it sends, by the paths of the app's own.
    var files: [String: String] = [:]

    /// The file's bytes, with `archive` behind the header.
    func file(_ archive: [UInt8]) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let rest = [UInt8](try encoder.encode(self)) + [UInt8(ascii: "\n")] + archive
        return Array((Self.firstWords + (try Self.checksum(rest)) + "\n").utf8) + rest
    }

    /// Reads what `file` made; nil for anything else, also for what a later version made.
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
