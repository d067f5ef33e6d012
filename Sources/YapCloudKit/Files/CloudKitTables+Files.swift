internal import SQLite

extension CloudKitTables {
    /// The files that the app's rows and the queue name. A search for the beginning of their text finds them in every
    /// object and property.
    func usedFiles() throws -> Set<CloudFile> {
        var files: Set<CloudFile> = []
        for (table, column) in [
            ("database2", "data"), ("database2", "metadata"), (table("change"), "fields"),
            (table("change"), "originals"), (table("stash"), "fields"),
        ] {
            try sqlite.withStatement("SELECT \(column) FROM \(table) WHERE instr(\(column), ?1) > 0") {
                try $0.bind(Array(CloudFile.scheme.utf8), at: 1)
                while try $0.step() { files.formUnion(CloudFile.named(in: $0.bytes(at: 0))) }
            }
        }
        return files
    }
}

extension CloudFile {
    /// The files whose text is among the bytes.
    static func named(in bytes: [UInt8]) -> Set<CloudFile> {
        let scheme = Array(scheme.utf8)
        var files: Set<CloudFile> = []
        var rest = bytes[...]
        while let found = rest.firstRange(of: scheme) {
            rest = rest[found.upperBound...]
            // The digits of the size end where the text ends, or run into what follows: each beginning may be the size.
            let name = rest.prefix(digestDigits + 1 + String(Int64.max).count)
            for length in name.indices.dropFirst(digestDigits + 1) {
                if let file = CloudFile(name: String(decoding: name[...length], as: UTF8.self)) {
                    files.insert(file)
                }
            }
        }
        return files
    }
}
