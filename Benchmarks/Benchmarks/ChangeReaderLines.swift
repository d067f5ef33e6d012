import Foundation
import Yap

/// Writes while a reader of changes is registered; the reference does the same without one.
func changeReaderLines() throws -> [Line] {
    let workload = try Workload(rowsCount: 20_000)
    let commitsCount = 5000
    return [
        changeReaderLine("yap.commit.changereader", unit: "commits/s", count: commitsCount) { connection in
            for index in 0..<commitsCount {
                try connection.blocking.readWrite { try $0.set(index, of: workload) }
            }
        },
        // Twice: a row that changes again gets another place in what is kept.
        changeReaderLine("yap.write.changereader", unit: "rows/s", count: 2 * workload.keys.count) {
            connection in
            for _ in 0..<2 { try connection.blocking.readWrite { try $0.setAll(workload) } }
        },
    ]
}

/// - Parameter count: How many units `write` does.
private func changeReaderLine(
    _ name: String, unit: String, count: Int,
    _ write: @escaping @Sendable (YapDatabaseConnection) throws -> Void
) -> Line {
    @Sendable func measure(_ folder: URL, _ readers: [String]) throws -> Double {
        let database = try Ours.database(in: folder, durability: .normal)
        for reader in readers { try database.blocking.registerChangeReader(reader) }
        let connection = database.newConnection()
        return try rate(count) { try write(connection) }
    }
    return Line(
        name: name, unit: unit, ours: { try measure($0, ["export"]) }, reference: { try measure($0, []) })
}
