@testable import Yap

/// Any value that a column can have.
struct Mixed: YapDatabaseColumnConvertible {
    static let all: [YapDatabaseColumnValue] = [
        .null, .integer(0), .integer(1), .integer(9_007_199_254_740_993), .integer(.max), .integer(.min),
        .real(0.5), .real(-0.5), .real(1), .real(9_007_199_254_740_992), .real(0x1p63), .real(-0x1p63),
        .real(.infinity), .real(-.infinity), .real(.nan), .text(""), .text("a"), .text("ab"), .text("Z"),
        .text("\u{e9}"), .text("e\u{301}"), .text("a\0b"), .text("\u{10FFFF}"), .blob([]), .blob([1]),
        .blob([1, 0]),
    ]

    let columnValue: YapDatabaseColumnValue

    init(columnValue: YapDatabaseColumnValue) { self.columnValue = columnValue }
}

struct Sample: Codable, Sendable, Equatable {
    var choice = 0
    var text: String?
    var rating = 0
    /// No column.
    var note = 0

    var mixed: Mixed { Mixed(columnValue: Mixed.all[choice]) }
}

typealias SampleIndexTransaction = YapDatabaseSecondaryIndexTransaction<Sample>

/// A database with ten samples, rated from 0 to 9, and an index of them.
struct SampleIndex {
    let folder: TestFolder
    let database: YapDatabase
    let connection: YapDatabaseConnection
    let index: YapDatabaseSecondaryIndex<Sample>

    init() throws {
        folder = try TestFolder()
        var options = YapDatabaseOptions()
        options.durability = .normal
        options.changedKeysPerCommitMax = 20
        database = try folder.open(options) { $0.register(Sample.self, inCollection: "samples") }
        connection = database.newConnection()
        index = YapDatabaseSecondaryIndex(
            "samples", of: Sample.self, in: "samples", version: "1", including: { $0.rating >= 0 }
        ) {
            $0.column(\.mixed, "mixed")
            $0.column(\.text)
            $0.column(\.rating)
        }
        try database.blocking.register(index)
        try connection.blocking.readWrite { transaction in
            for number in 0..<10 {
                try set(Sample(text: number < 9 ? "text\(number)" : nil, rating: number), number, transaction)
            }
        }
    }

    func set(
        _ sample: Sample, _ key: Int, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        try transaction.setObject(sample, forKey: "\(key)", inCollection: "samples")
    }
}
