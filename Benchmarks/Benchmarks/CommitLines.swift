import Foundation
import Yap

/// Commits of one row each.
func commitLines() throws -> [Line] {
    let workload = try Workload(rowsCount: 6400)
    return [
        single("yap.commit.full", workload, rowsCount: 1000, isFull: true),
        single("yap.commit.normal", workload, rowsCount: 5000, isFull: false),
        group("yap.commit.group", workload, callersCount: 64, alone: 1000),
        observed("yap.commit.observers", workload, rowsCount: 2000, observersCount: 4),
    ]
}

/// One caller that waits for each commit.
private func single(_ name: String, _ workload: Workload, rowsCount: Int, isFull: Bool) -> Line {
    let rows = ReferenceRows(workload, order: Array(0..<rowsCount))
    return Line(
        name: name, unit: "commits/s",
        ours: { folder in
            let database = try Ours.database(in: folder, durability: isFull ? .full : .normal)
            let connection = database.newConnection()
            return try rate(rowsCount) {
                for index in 0..<rowsCount {
                    try connection.blocking.readWrite { try $0.set(index, of: workload) }
                }
            }
        },
        reference: { folder in
            let reference = try Reference(folder: folder, template: Ours.template(in: folder), isFull: isFull)
            return try rate(rowsCount) { try reference.insertOneATransaction(rows.rows) }
        })
}

/// One caller, whose every commit is answered by observers with a value read anew; the reference has no observers.
private func observed(_ name: String, _ workload: Workload, rowsCount: Int, observersCount: Int) -> Line {
    @Sendable func write(_ database: YapDatabase) throws -> Double {
        let connection = database.newConnection()
        return try rate(rowsCount) {
            for index in 0..<rowsCount {
                try connection.blocking.readWrite { try $0.set(index, of: workload) }
            }
        }
    }
    return Line(
        name: name, unit: "commits/s",
        ours: { folder in
            let database = try Ours.database(in: folder, durability: .normal)
            let observers = (0..<observersCount).map { _ in
                let counts = database.newConnection().observe {
                    try $0.numberOfKeys(inCollection: Workload.collection)
                }
                return Task {
                    for try await count in counts where count == rowsCount { break }
                }
            }
            let written = try write(database)
            // Each ends with the value of the last commit.
            for observer in observers { try await observer.value }
            return written
        },
        reference: { folder in try write(Ours.database(in: folder, durability: .normal)) })
}

/// Many callers at once, each of which awaits its own commits; the reference commits for one after the other.
private func group(_ name: String, _ workload: Workload, callersCount: Int, alone: Int) -> Line {
    let rows = ReferenceRows(workload, order: Array(0..<alone))
    return Line(
        name: name, unit: "commits/s", bar: 8,
        ours: { folder in
            let database = try Ours.database(in: folder)
            // Opened before the clock starts, as the reference's connection is.
            let connections = (0..<callersCount).map { _ in database.newConnection() }
            let start = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (caller, connection) in connections.enumerated() {
                    group.addTask {
                        for index in stride(from: caller, to: workload.keys.count, by: callersCount) {
                            try await connection.readWrite { try $0.set(index, of: workload) }
                        }
                    }
                }
                try await group.waitForAll()
            }
            return Double(workload.keys.count) / ((ContinuousClock.now - start) / .seconds(1))
        },
        reference: { folder in
            let reference = try Reference(folder: folder, template: Ours.template(in: folder))
            return try rate(alone) { try reference.insertOneATransaction(rows.rows) }
        })
}

extension YapDatabaseReadWriteTransaction {
    func set(_ index: Int, of workload: Workload) throws {
        try setObject(workload.notes[index], forKey: workload.keys[index], inCollection: Workload.collection)
    }
}
