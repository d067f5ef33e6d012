import Foundation
import System
import Yap

/// The ten-field model of every line.
struct Note: Codable, Sendable {
    var identifier: UUID
    var title: String
    var body: String
    var isDone: Bool
    var priority: Int
    var estimateHours: Double
    var created: Date
    var modified: Date
    var project: String?
    var tags: [String]
}

/// The rows that ours and the reference write and read: the same keys, the same bytes, the same order.
struct Workload: Sendable {
    static let collection = "notes"

    let keys: [String]
    let notes: [Note]
    let encoded: [[UInt8]]
    /// The keys in the order in which they are read: not the one in which they were written.
    let readOrder: [Int]

    init(rowsCount: Int) throws {
        let random = SeededRandomSource(seed: 1)
        keys = (0..<rowsCount).map { _ in random.nextUUID() }
        notes = keys.enumerated().map { Self.note($0.offset, key: $0.element) }
        encoded = try notes.map { try CBOREncoder().encode($0) }
        var order = Array(0..<rowsCount)
        for index in order.indices.reversed() where index > 0 {
            order.swapAt(index, random.next(in: 0..<index + 1))
        }
        readOrder = order
    }

    private static func note(_ number: Int, key: String) -> Note {
        let day = number % 28 + 1
        let seconds = Double(number)
        return Note(
            identifier: UUID(uuidString: key) ?? UUID(), title: "Note number \(number)",
            body: "Two dozen eggs from the farm, and the bill of the \(day)th.", isDone: number % 3 == 0,
            priority: number % 7 - 3, estimateHours: Double(number % 40) / 4,
            created: Date(timeIntervalSinceReferenceDate: 800_000_000 + seconds),
            modified: Date(timeIntervalSinceReferenceDate: 801_000_000.25 + seconds),
            project: number % 2 == 0 ? "household" : nil, tags: ["home", "food"])
    }
}
