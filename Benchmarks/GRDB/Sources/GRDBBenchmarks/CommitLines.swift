import Foundation
import GRDB
import Yap

/// Commits of one row each, by one caller that waits for each of them.
func commitLines() -> [Line] {
    let rows = Rows(count: 5_000)
    return [
        single("grdb.commit.full", rows, count: 1_000, isFull: true),
        single("grdb.commit.normal", rows, count: 5_000, isFull: false),
        observed(rows, count: 2_000, observersCount: 4),
    ]
}

private func single(_ name: String, _ rows: Rows, count: Int, isFull: Bool) -> Line {
    Line(
        name: name, unit: "commits/s",
        ours: { folder in
            try write(rows, count, to: try YapSide.database(in: folder, durability: isFull ? .full : .normal))
        },
        reference: { folder in try write(rows, count, to: try GRDBSide.pool(in: folder, isFull: isFull)) })
}

/// Each commit is answered by observers, which count the rows. They end with the value of the last commit; that is not
/// in the time.
private func observed(_ rows: Rows, count: Int, observersCount: Int) -> Line {
    Line(
        name: "grdb.commit.observers", unit: "commits/s",
        ours: { folder in
            let database = try YapSide.database(in: folder, durability: .normal)
            let observers = (0..<observersCount).map { _ in
                let counts = database.newConnection().observe {
                    try $0.numberOfKeys(inCollection: Rows.collection)
                }
                return Task {
                    for try await value in counts where value == count { break }
                }
            }
            let written = try write(rows, count, to: database)
            for observer in observers { try await observer.value }
            return written
        },
        reference: { folder in
            let pool = try GRDBSide.pool(in: folder, isFull: false)
            let observation = ValueObservation.trackingConstantRegion { try StoredNote.fetchCount($0) }
            let observers = (0..<observersCount).map { _ in
                Task {
                    for try await value in observation.values(in: pool) where value == count { break }
                }
            }
            let written = try write(rows, count, to: pool)
            for observer in observers { try await observer.value }
            return written
        })
}

private func write(_ rows: Rows, _ count: Int, to database: YapDatabase) throws -> Double {
    let connection = database.newConnection()
    return try rate(count) {
        for index in 0..<count { try connection.blocking.readWrite { try $0.set(index, of: rows) } }
    }
}

private func write(_ rows: Rows, _ count: Int, to pool: DatabasePool) throws -> Double {
    try rate(count) {
        for index in 0..<count { try pool.write { try $0.insert(index, of: rows) } }
    }
}
