import CloudService
import CloudStore
import CloudWire

/// The zones' checksums, recounted from the records' fields.
extension StoreAudit {
    mutating func checkChecksums() throws {
        let stored = placed(
            try rows("SELECT scope, owner, zone, name, identity, content FROM records", columns: 6))
        var checksums: [[String]: [String]] = [:]
        for row in stored { checksums[Array(row.prefix(4))] = Array(row.suffix(2)) }
        let zones = try rows(
            "SELECT scope, owner, zone, identities, contents, isCounted FROM zones", columns: 6)
        let counted = Set(zones.filter { $0[5] == "1" }.map { Array($0.prefix(3)) })
        var sums: [[String]: StoreChecksum] = [:]
        for record in records {
            let zone = ["\(record.place.scope)", record.place.owner, record.place.zone]
            let found = checksums[zone + [record.place.name]] ?? ["", ""]
            guard !record.isDeleted, record.place.zone != ZoneID.defaultZoneName else {
                find(found != ["", ""], "\(record.place): has a checksum and adds to none")
                continue
            }
            // What an earlier version wrote is counted later.
            guard found != ["", ""] || counted.contains(zone) else { continue }
            let right = record.row.countedChecksum
            let expected = numbers(right)
            find(found != expected, "\(record.place): has the checksum \(found), not \(expected)")
            sums[zone, default: StoreChecksum()] += right
        }
        for zone in zones {
            let sum = numbers(sums[Array(zone.prefix(3))] ?? StoreChecksum())
            find(sum != Array(zone[3...4]), "zone \(zone): its records come to \(sum)")
        }
    }

    private func numbers(_ checksum: StoreChecksum) -> [String] {
        [checksum.identities, checksum.contents].map { "\(Int64(bitPattern: $0))" }
    }
}
