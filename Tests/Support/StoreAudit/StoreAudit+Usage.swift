import CloudStore
import CloudWire

/// What users have, and the files that their records hold.
extension StoreAudit {
    /// The files of a record: SHA-256 in hexadecimal, and bytes.
    func files(of record: Record) -> [String: Int64] {
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
        let found = placed(
            try rows("SELECT scope, owner, zone, name, hex(digest), bytes FROM recordAssets", columns: 6))
        compare(Set(found), expected, "file")
    }

    /// Tombstones and rows of zones, which count too.
    mutating func checkRows() throws {
        let kept = try rows(
            "SELECT scope, user, tombstones, zones FROM usage WHERE tombstones <> 0 OR zones <> 0", columns: 4
        )
        var counts: [[String]: (tombstones: Int, zones: Int)] = [:]
        var ofZones: [[String]: Int] = [:]
        for record in records where record.isDeleted {
            let place = record.place
            counts[["\(place.scope)", place.owner], default: (0, 0)].tombstones += 1
            ofZones[["\(place.scope)", place.owner, place.zone], default: 0] += 1
        }
        for row in try rows("SELECT scope, owner, zone, tombstones FROM zones", columns: 4) {
            counts[Array(row.prefix(2)), default: (0, 0)].zones += 1
            let found = ofZones[Array(row.prefix(3))] ?? 0
            find(Int(row[3]) != found, "zone \(row) has \(found) tombstones")
        }
        let expected = counts.map { $0.key + ["\($0.value.tombstones)", "\($0.value.zones)"] }
        compare(Set(kept), Set(expected), "count of rows")
    }

    mutating func checkAnswers() throws {
        let counted = try rows(
            "SELECT user, rows, bytes FROM answerTotals WHERE rows <> 0 OR bytes <> 0", columns: 3)
        let found = try rows(
            "SELECT user, count(*), sum(length(answer)) FROM answers GROUP BY user", columns: 3)
        compare(Set(counted), Set(found), "total of kept answers")
    }

    mutating func checkUsage() throws {
        struct Usage: Equatable {
            var records = 0
            var recordBytes: Int64 = 0
            var assetBytes: Int64 = 0
            var indexBytes: Int64 = 0
        }
        var expected: [[String]: Usage] = [:]
        for record in records {
            let place = record.place
            let users = place.scope == 1 ? [record.creator, ""] : [place.owner]
            let zone = ["\(place.scope)", place.owner, place.zone]
            for subject in users.map({ ["\(place.scope)", $0] }) + [zone] {
                var usage = expected[subject] ?? Usage()
                usage.records += record.isDeleted ? 0 : 1
                usage.recordBytes += Int64(record.bytes)
                usage.indexBytes += record.row.indexBytes
                usage.assetBytes += files(of: record).values.reduce(0, +)
                expected[subject] = usage
            }
        }
        var found: [[String]: Usage] = [:]
        func usage(_ row: ArraySlice<String>) -> Usage {
            let numbers = row.map { Int64($0) ?? -1 }
            return Usage(
                records: Int(numbers[0]), recordBytes: numbers[1], assetBytes: numbers[2],
                indexBytes: numbers[3])
        }
        let sizes = "records, recordBytes, assetBytes, indexBytes"
        for row in try rows("SELECT scope, user, \(sizes) FROM usage", columns: 6) {
            found[[row[0], row[1]]] = usage(row[2...])
        }
        for row in try rows("SELECT scope, owner, zone, \(sizes) FROM zones", columns: 7) {
            found[Array(row.prefix(3))] = usage(row[3...])
        }
        // A default zone has no row.
        expected = expected.filter { $0.key.count < 3 || $0.key[2] != ZoneID.defaultZoneName }
        for key in Set(found.keys).union(expected.keys).sorted(by: { "\($0)" < "\($1)" }) {
            let (kept, counted) = (found[key] ?? Usage(), expected[key] ?? Usage())
            find(kept != counted, "usage of \(key) is \(kept), counted \(counted)")
        }
    }
}
