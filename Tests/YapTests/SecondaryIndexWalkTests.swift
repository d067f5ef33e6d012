import FoundationEssentials
import Testing

@testable import Yap

private struct Sale: Codable, Sendable, Equatable {
    var customer: String
    var amount: Int
    var date: Date?
}

/// Queries of each kind on an index through updates and removals, and the SQL that they have.
@Suite struct SecondaryIndexWalkTests {
    private let folder: TestFolder
    private let connection: YapDatabaseConnection
    private let index = YapDatabaseSecondaryIndex("sales", of: Sale.self, in: "sales", version: "1") {
        $0.column(\.customer)
        $0.column(\.amount)
        $0.column(\.date)
    }
    private var sales: YapDatabaseIndexProperties<Sale> { YapDatabaseIndexProperties() }

    /// 20 sales; their amounts are 0, 1,000, ... and their dates days.
    init() throws {
        folder = try TestFolder()
        let database = try folder.open { $0.register(Sale.self, inCollection: "sales") }
        connection = database.newConnection()
        try database.blocking.register(index)
        try connection.blocking.readWrite { transaction in
            for number in 0..<20 {
                let customer = ["Adams", "Brown", "Clark", "Davis"][number % 4] + " \(number)"
                try set(
                    number, Sale(customer: customer, amount: number * 1_000, date: day(number)), transaction)
            }
        }
    }

    private func day(_ number: Int) -> Date { Date(timeIntervalSinceReferenceDate: Double(number) * 86_400) }

    private func set(_ number: Int, _ sale: Sale, _ transaction: YapDatabaseReadWriteTransaction) throws {
        try transaction.setObject(sale, forKey: "\(number)", inCollection: "sales")
    }

    /// How many rows the queries find: a range of amounts, of dates, amounts of a list, and texts.
    private func counts() throws -> [Int] {
        let (from, to) = (day(5), day(9))
        let found = try connection.blocking.read { transaction in
            let index = try transaction[index]
            let keys = [
                try index.keys { $0.amount >= 10_000 && $0.amount < 15_000 },
                try index.keys { $0.date >= from && $0.date <= to },
                try index.keys { $0.amount.isOne(of: [1_000, 3_000, 5_000, 7_000, 9_000]) },
                try index.keys { $0.customer.hasPrefix("Brown") },
                try index.keys { $0.customer.contains("1") && $0.customer.hasPrefix("Clark") },
            ]
            let counts = [
                try index.count { $0.amount >= 10_000 && $0.amount < 15_000 },
                try index.count { $0.date >= from && $0.date <= to },
                try index.count { $0.amount.isOne(of: [1_000, 3_000, 5_000, 7_000, 9_000]) },
                try index.count { $0.customer.hasPrefix("Brown") },
                try index.count { $0.customer.contains("1") && $0.customer.hasPrefix("Clark") },
            ]
            #expect(keys.map(\.count) == counts)
            return counts
        }
        return found
    }

    @Test func eachKindOfQueryCountsItsRowsAfterUpdatesAndRemovals() throws {
        #expect(try counts() == [5, 5, 5, 5, 3])
        try connection.blocking.readWrite { transaction in
            // Out of the range of amounts, out of that of dates, and another customer.
            try set(10, Sale(customer: "Clark 10", amount: 99_000, date: day(10)), transaction)
            try set(5, Sale(customer: "Brown 5", amount: 5_000, date: nil), transaction)
            try set(1, Sale(customer: "Evans", amount: 1_000, date: day(1)), transaction)
        }
        #expect(try counts() == [4, 4, 5, 4, 3])
        try connection.blocking.readWrite { transaction in
            try transaction.removeObject(forKey: "11", inCollection: "sales")
            try transaction.removeObjects(forKeys: ["3", "9", "14", "18"], inCollection: "sales")
        }
        #expect(try counts() == [2, 3, 3, 3, 1])
        try connection.blocking.readWrite { try $0.removeAllObjects(inCollection: "sales") }
        #expect(try counts() == [0, 0, 0, 0, 0])
    }

    /// The original's issue 104.
    @Test func aPatternWithAParameterFindsItsRowBeforeAndAfterAnUpdate() throws {
        func keys(_ pattern: String) throws -> [String] {
            try connection.blocking.read {
                try $0[index].keys(
                    matching: "customer LIKE ?1 AND amount >= ?2", [.text(pattern), .integer(0)])
            }
        }
        #expect(try keys("%avis 7") == ["7"])
        #expect(try keys("Davis 7%") == ["7"])
        try connection.blocking.readWrite {
            try set(7, Sale(customer: "Miller", amount: 7_000, date: nil), $0)
        }
        #expect(try keys("%avis 7") == [] && keys("Mill%") == ["7"] && keys("%miller%") == ["7"])
    }

    @Test func amountsAreSummedBeforeAndAfterUpdatesAndRemovals() throws {
        func sums() throws -> [Int] {
            try connection.blocking.read { transaction in
                let index = try transaction[index]
                return [
                    try index.sum(of: \.amount),
                    try index.sum(of: \.amount) { $0.amount >= 5_000 && $0.amount < 10_000 },
                ].map { Int($0) }
            }
        }
        #expect(try sums() == [190_000, 35_000])
        try connection.blocking.readWrite {
            try set(0, Sale(customer: "Adams 0", amount: 60_000, date: nil), $0)
        }
        #expect(try sums() == [250_000, 35_000])
        try connection.blocking.readWrite {
            try $0.removeObjects(forKeys: ["0", "5", "15", "19"], inCollection: "sales")
        }
        #expect(try sums() == [151_000, 30_000])
        try connection.blocking.readWrite { try $0.removeAllObjects(inCollection: "sales") }
        #expect(try sums() == [0, 0])
    }

    // MARK: SQL

    private func sql(_ condition: YapDatabaseIndexCondition<Sale>?) throws -> (
        String, [YapDatabaseColumnValue]
    ) {
        let names: [AnyKeyPath: String] = [\Sale.customer: "c", \Sale.amount: "a", \Sale.date: "d"]
        let filter = try SecondaryIndexWhere(condition) { try #require(names[$0.path]) }
        return (filter.text, filter.values)
    }

    @Test func aConditionHasAParameterForEachValueOfItsLists() throws {
        typealias Value = YapDatabaseColumnValue
        let texts = ["x", "y"]
        let cases: [(YapDatabaseIndexCondition<Sale>?, String, [Value])] = [
            (nil, "", []),
            (sales.amount > 5, " WHERE a > ?1", [.integer(5)]),
            (
                sales.amount > 5 && sales.customer == "x", " WHERE (a > ?1 AND c = ?2)",
                [.integer(5), .text("x")]
            ),
            (sales.customer.isOne(of: texts), " WHERE c IN (?1, ?2)", [.text("x"), .text("y")]),
            (
                sales.customer.isOne(of: texts) && sales.amount > 5, " WHERE (c IN (?1, ?2) AND a > ?3)",
                [.text("x"), .text("y"), .integer(5)]
            ),
            (
                sales.amount > 5 && sales.customer.isOne(of: texts), " WHERE (a > ?1 AND c IN (?2, ?3))",
                [.integer(5), .text("x"), .text("y")]
            ),
            (
                sales.customer.isOne(of: texts) || sales.amount.isOne(of: [1, 2, 3]),
                " WHERE (c IN (?1, ?2) OR a IN (?3, ?4, ?5))",
                [.text("x"), .text("y"), .integer(1), .integer(2), .integer(3)]
            ),
            (sales.customer.isOne(of: []), " WHERE c IN ()", []),
            (
                sales.amount > 5 && sales.customer.isOne(of: []), " WHERE (a > ?1 AND c IN ())", [.integer(5)]
            ),
        ]
        for (condition, text, values) in cases {
            let found = try sql(condition)
            #expect(found.0 == text && found.1 == values)
        }
        #expect(try connection.blocking.read { try $0[index].count { $0.customer.isOne(of: []) } } == 0)
    }
}
