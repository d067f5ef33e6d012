extension CloudFile {
    /// Returns the files that are named in the bytes.
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
