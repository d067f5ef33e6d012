import Yap

extension DatabaseFile.Row {
    /// The row as a line of `yap db dump`. `DumpLine` reads it back to the same bytes.
    var json: JSON {
        var members: [(String, JSON)] = [("collection", .string(collection)), ("key", .string(key))]
        if stored.version != 1 { members.append(("version", .integer(Int64(stored.version)))) }
        members.append(("object", JSON(object)))
        if let kept = stored.kept {
            members += [("kept", JSON(kept)), ("keptVersion", .integer(Int64(stored.keptVersion)))]
        }
        if let metadata { members.append(("metadata", JSON(metadata))) }
        if let unlikeBytes { members.append(("storedObject", .base64(unlikeBytes))) }
        if let unlikeMetadataBytes { members.append(("storedMetadata", .base64(unlikeMetadataBytes))) }
        return .object(members)
    }
}

/// A parsed line of `yap db dump`.
struct DumpLine {
    let collection: String
    let key: String
    let bytes: YapDatabaseReadWriteTransaction.StoredBytes

    private struct Members {
        var collection: String?
        var key: String?
        var version = 1
        var object: StoredValue?
        var kept: StoredValue?
        var keptVersion: Int?
        var metadata: StoredValue?
        var storedObject: [UInt8]?
        var storedMetadata: [UInt8]?
        var names: Set<String> = []

        mutating func read(_ name: String, _ reader: inout StoredValueReader) throws {
            switch name {
            case "collection": collection = try reader.string()
            case "key": key = try reader.string()
            case "version": version = try reader.integer(in: StoredObject.versions)
            case "object": object = try reader.value(allowsForeign: true)
            case "kept": kept = try reader.value()
            case "keptVersion": keptVersion = try reader.integer(in: 0...StoredObject.versions.upperBound)
            case "metadata": metadata = try reader.value(allowsForeign: true)
            case "storedObject": storedObject = try reader.base64()
            case "storedMetadata": storedMetadata = try reader.base64()
            default:
                throw PlaceError(column: 1, text: "a row has no member \(Shown.word(name))")
            }
        }
    }

    /// - Throws: `PlaceError`.
    init(_ line: [UInt8]) throws {
        var reader = StoredValueReader(line)
        var members = Members()
        try reader.object { reader, name in
            guard members.names.insert(name).inserted else {
                throw PlaceError(column: 1, text: "\(Shown.word(name)) occurs twice")
            }
            try members.read(name, &reader)
        }
        try reader.end()
        guard let collection = members.collection, let key = members.key, let object = members.object else {
            throw PlaceError(column: 1, text: "a row has collection, key and object")
        }
        let stored = StoredObject(
            object, version: members.version, kept: members.kept,
            keptVersion: members.keptVersion ?? (members.kept == nil ? 0 : members.version))
        if let kept = members.kept {
            guard case .map = kept else { throw PlaceError(column: 1, text: "kept is an object") }
        } else if members.keptVersion != nil {
            throw PlaceError(column: 1, text: "keptVersion without kept")
        }
        self.collection = collection
        self.key = key
        bytes = YapDatabaseReadWriteTransaction.StoredBytes(
            data: try Self.object(stored, members.storedObject),
            metadata: try Self.metadata(members.metadata, members.storedMetadata))
    }

    private static func object(_ said: StoredObject, _ exact: [UInt8]?) throws -> [UInt8] {
        guard let exact else {
            let bytes = said.bytes
            let read = bytes.withUnsafeBytes { StoredObject($0) }
            try check(said.object, read.object)
            if let kept = said.kept { try check(kept, read.kept ?? .foreign([])) }
            return bytes
        }
        let read = exact.withUnsafeBytes { StoredObject($0) }
        let isSame =
            text(read.object) == text(said.object) && read.version == said.version
            && read.kept.map(text) == said.kept.map(text) && read.keptVersion == said.keptVersion
        guard isSame else {
            throw PlaceError(
                column: 1, text: "storedObject is another object than object: remove it if you changed object"
            )
        }
        return exact
    }

    private static func metadata(_ said: StoredValue?, _ exact: [UInt8]?) throws -> [UInt8]? {
        guard let exact else {
            guard let said else { return nil }
            let bytes = said.cbor
            try check(said, bytes.withUnsafeBytes { StoredValue(cbor: $0) })
            return bytes
        }
        guard let said, text(exact.withUnsafeBytes { StoredValue(cbor: $0) }) == text(said) else {
            throw PlaceError(
                column: 1,
                text: "storedMetadata is another value than metadata: remove it if you changed metadata")
        }
        return exact
    }

    private static func text(_ value: StoredValue) -> String { JSON(value).text }

    /// Rejects a value that couldn't be read again.
    private static func check(_ said: StoredValue, _ read: StoredValue) throws {
        switch (said, read) {
        case (.foreign, .foreign): return
        case (.foreign, _):
            throw PlaceError(column: 1, text: "the bytes of $foreign are those of a value: write the value")
        case (_, .foreign):
            throw PlaceError(column: 1, text: "the value has more than 128 levels, or more than 256 MB")
        default: return
        }
    }
}
