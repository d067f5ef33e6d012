import CloudStore
import SQLite
import Simulation

/// Whether each `CloudSync` comes to the same checksum as the server, and never thought otherwise.
enum ZoneSums {
    static func differences(_ devices: [any SimulatedDevice], _ cloud: SimulatedCloud) throws -> [String] {
        let server = try cloud.zoneChecksum()
        return try devices.compactMap { $0 as? SyncedDevice }.flatMap { device in
            var found: [String] = []
            let (sum, differencesCount) = try read(device.path)
            if sum != server {
                found.append(
                    "device \(device.index) comes to \(sum.map { "\($0)" } ?? "nothing"), the server to \(server)"
                )
            }
            if differencesCount != 0 {
                found.append("device \(device.index) took its zone for wrong \(differencesCount) times")
            }
            return found
        }
    }

    private static func read(_ path: String) throws -> (sum: StoreChecksum?, differencesCount: Int64) {
        let connection = try Connection(path: path)
        defer { try? connection.close() }
        let sql =
            "SELECT identities, contents, differences FROM cloudKit_checksum_cloudKit WHERE database LIKE '1%'"
        return try connection.withStatement(sql) { row in
            guard try row.step(), !row.isNull(at: 0) else { return (nil, 0) }
            let sum = StoreChecksum(
                identities: UInt64(bitPattern: row.int64(at: 0)),
                contents: UInt64(bitPattern: row.int64(at: 1)))
            return (sum, row.int64(at: 2))
        }
    }
}

extension SimulatedCloud {
    /// What the service says the devices' common zone comes to.
    fileprivate func zoneChecksum() throws -> StoreChecksum {
        guard let column = servers.first(where: { $0.zone.zoneName == "todos" }) else {
            return StoreChecksum()
        }
        return try column.store.read { reader in
            var wanted = StoreLoad()
            wanted.zones = [column.zone]
            return try reader.load(wanted).zones[column.zone]?.checksum ?? StoreChecksum()
        }
    }
}
