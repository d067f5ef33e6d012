import CloudWire
import Crypto
import Foundation
import YapCloudKit

/// An object with files: one that comes with it, one on request, and a list.
package struct Album: Codable, Sendable {
    package var text = ""
    package var photo: CloudFile?
    package var scan: CloudFile?
    package var pages: [CloudFile] = []

    package init() {}
}

extension Album: CloudModel {
    package static let recordType = "album"
    package static let fields = CloudFields<Album> {
        $0.field(\.text)
        $0.field(\.photo)
        $0.field(\.scan, fetched: .onRequest)
        $0.field(\.pages)
    }
}

extension Album {
    init(_ todo: Todo) {
        text = todo.text
        photo = todo.photo.flatMap(CloudFile.init(ledgerText:))
        scan = todo.scan.flatMap(CloudFile.init(ledgerText:))
        pages = todo.pages.compactMap(CloudFile.init(ledgerText:))
    }

    /// The album as an item of the run.
    var todo: Todo {
        var todo = Todo(text: text)
        (todo.photo, todo.scan) = (photo?.ledgerText, scan?.ledgerText)
        todo.pages = pages.map(\.ledgerText)
        return todo
    }

    var files: [CloudFile] { [photo, scan].compactMap(\.self) + pages }
}

extension CloudFile {
    /// The file as the ledger names it: as its value is stored.
    var ledgerText: String {
        let json = (try? JSONEncoder().encode([self])) ?? Data()
        return (try? JSONDecoder().decode([String].self, from: json))?.first ?? "\(self)"
    }

    init?(ledgerText: String) {
        guard let json = try? JSONEncoder().encode([ledgerText]),
            let file = try? JSONDecoder().decode([CloudFile].self, from: json).first
        else { return nil }
        self = file
    }
}

/// A file that a person adds. Its bytes follow from the edit; all items of one commit get the same file.
package struct PersonsFile {
    package let bytes: [UInt8]
    /// The file as the ledger names it.
    package let text: String

    /// - Parameter value: That of the edit.
    package init(value: Int) {
        let commit = value / 4
        let line = Array("file \(commit)\n".utf8)
        // Most are small; some don't come in one piece.
        let count = commit % 16 == 0 ? 10_000 : commit % 3 + 1
        bytes = Array(repeatElement(line, count: count).joined())
        text = PersonsFile.text(digest: (try? SHA256.hash(bytes)) ?? [], sizeBytes: Int64(bytes.count))
    }

    fileprivate static func text(digest: some Sequence<UInt8>, sizeBytes: Int64) -> String {
        let digits = digest.prefix(20).map { String(UInt16($0) + 0x100, radix: 16).suffix(2) }.joined()
        return "cloudfile:\(digits)-\(sizeBytes)"
    }
}

extension Asset {
    /// The file as the ledger names it: of a record on the server, and of a device's merge log.
    var ledgerText: String? {
        if let downloadURL, downloadURL.hasPrefix("file:///cloudfile:") {
            return String(downloadURL.dropFirst("file:///".count))
        }
        guard let size else { return nil }
        // On the wire it has a checksum, and in the store the digest.
        if let checksum = fileChecksum.flatMap({ Data(base64Encoded: $0) }) {
            return PersonsFile.text(digest: checksum.dropFirst(), sizeBytes: size)
        }
        let base64 = receipt?.replacing("-", with: "+").replacing("_", with: "/").appending("=")
        return base64.flatMap { Data(base64Encoded: $0) }.map {
            PersonsFile.text(digest: $0, sizeBytes: size)
        }
    }
}

extension FieldValue {
    /// A file, or a list of them, as the ledger names it; nil for other values.
    var filesText: String? {
        switch self {
        case .asset(let asset): asset.ledgerText
        case .list(_, let elements):
            elements.isEmpty ? nil : Self.text(elements.map(\.filesText))
        default: nil
        }
    }

    private static func text(_ files: [String?]) -> String? {
        files.contains(nil) ? nil : files.compactMap(\.self).joined(separator: " ")
    }
}

extension CloudMergeLogEntry {
    var ledgerReplaced: String? { replacedValue?.value.filesText ?? replaced }
    var ledgerKept: String? { keptValue?.value.filesText ?? kept }
}
