import Foundation
import System
import Yap

/// A view of the device's database: what it adds to writes. The reference writes the same rows without a view.
func viewLines() -> [Line] {
    [
        // One plain write, and up to three more for the view.
        Line(name: "yap.view.upkeep", unit: "rows/s", bar: 0.25, roundsCount: 5) { try ViewRun(in: $0) }
    ]
}

/// 1,000 rows of 100,000 change in one transaction, most of them to another place in the view.
private final class ViewRun: LineRun {
    private static let rowsCount = 100_000
    private static let changesCount = 1_000

    private let notes: [Note]
    private let keys: [String]
    private let viewed: Side
    private let plain: Side
    private let view = YapDatabaseAutoView(
        "byProject", of: Note.self, in: Workload.collection, version: "1", group: { $0.project ?? "" },
        sort: [.by(\.priority, .descending), .by(\.title)])
    private let fillingSeconds: Double

    /// A database, and what is written into it: both sides draw the same.
    private struct Side {
        let connection: YapDatabaseConnection
        let random = SeededRandomSource(seed: 11)
    }

    init(in folder: URL) throws {
        let workload = try Workload(rowsCount: Self.rowsCount)
        func open(_ name: String) throws -> Side {
            let folder = folder.appending(component: name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let connection = try Ours.database(in: folder).newConnection()
            try connection.blocking.readWrite { try $0.setAll(workload) }
            return Side(connection: connection)
        }
        (notes, keys) = (workload.notes, workload.keys)
        viewed = try open("viewed")
        plain = try open("plain")
        let view = view
        fillingSeconds =
            try 1 / rate(1) { [viewed] in try viewed.connection.database.blocking.register(view) }
    }

    func ours() throws -> Double { try write(viewed) }

    func reference() throws -> Double { try write(plain) }

    private func write(_ side: Side) throws -> Double {
        let changes = (0..<Self.changesCount).map { _ in
            (row: side.random.next(in: 0..<Self.rowsCount), note: side.random.next(in: 0..<Self.rowsCount))
        }
        return try rate(changes.count) {
            try side.connection.blocking.readWrite { transaction in
                for (row, note) in changes {
                    try transaction.setObject(
                        notes[note], forKey: keys[row], inCollection: Workload.collection)
                }
            }
        }
    }

    func remarks() -> [LineRemark] {
        [
            LineRemark(
                text: String(format: "filling it with %d rows took %.2f s", Self.rowsCount, fillingSeconds))
        ]
    }
}
