import CloudWire

/// What users have, and the files that their records hold.
extension StoreAudit {
    /// The files of a record: SHA-256 in hexadecimal, and bytes.
    private func files(of record: Record) -> [String: Int64] {
        var files: [String: Int64] = [:]
        func add(_ value: FieldValue?) {
            switch value {
            case .asset(let asset)?:
                guard let text = asset.receipt, let digest = Self.digest(text) else { return }
                files[digest] = asset.size ?? 0
            case .list(_, let values)?: values.forEach(add)
            default: break
            }
        }
        record.fields.values.forEach { add($0.value) }
        return files
    }

    /// A kept digest is base64 for addresses, without padding.
    private static func digest(_ text: String) -> String? {
        let symbols = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var bits = ""
        for symbol in text {
            guard let value = symbols.firstIndex(of: symbol) else { return nil }
            let digits = String(value, radix: 2)
            bits += String(repeating: "0", count: 6 - digits.count) + digits
        }
        var rest = Substring(bits)
        var hexadecimal = ""
        while rest.count >= 8 {
            let byte = Int(rest.prefix(8), radix: 2) ?? 0
            hexadecimal += (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            rest = rest.dropFirst(8)
        }
        return hexadecimal
    }

    mutating func checkAssets() throws {
        var expected: Set<[String]> = []
        for record in records where !record.isDeleted {
            let place = record.place
            for (digest, bytes) in files(of: record) {
                expected.insert(["\(place.scope)", place.owner, place.zone, place.name, digest, "\(bytes)"])
            }
        }
        let found = try rows(
            "SELECT scope, owner, zone, name, hex(digest), bytes FROM recordAssets", columns: 6)
        compare(Set(found), expected, "file")
    }

    mutating func checkUsage() throws {
        struct Usage: Equatable {
            var records = 0
            var recordBytes: Int64 = 0
            var assetBytes: Int64 = 0
        }
        var expected: [[String]: Usage] = [:]
        for record in records where !record.isDeleted {
            let place = record.place
            let users = place.scope == 1 ? [record.creator, ""] : [place.owner]
            for user in users {
                var usage = expected[["\(place.scope)", user]] ?? Usage()
                usage.records += 1
                usage.recordBytes += Int64(record.bytes)
                usage.assetBytes += files(of: record).values.reduce(0, +)
                expected[["\(place.scope)", user]] = usage
            }
        }
        var found: [[String]: Usage] = [:]
        for row in try rows("SELECT scope, user, records, recordBytes, assetBytes FROM usage", columns: 5) {
            found[[row[0], row[1]]] = Usage(
                records: Int(row[2]) ?? -1, recordBytes: Int64(row[3]) ?? -1, assetBytes: Int64(row[4]) ?? -1)
        }
        for key in Set(found.keys).union(expected.keys).sorted(by: { "\($0)" < "\($1)" }) {
            let (kept, counted) = (found[key] ?? Usage(), expected[key] ?? Usage())
            find(kept != counted, "usage of \(key) is \(kept), counted \(counted)")
        }
    }
}
