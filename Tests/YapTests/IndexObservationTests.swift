import Testing

@testable import Yap

/// What an observation of a query on an index depends on.
struct IndexObservationTests {
    private typealias Properties = YapDatabaseIndexProperties<Sample>
    private typealias Condition = YapDatabaseIndexCondition<Sample>
    private typealias Write = (YapDatabaseReadWriteTransaction) throws -> Void

    private let samples: SampleIndex
    private var database: YapDatabase { samples.database }
    private var connection: YapDatabaseConnection { samples.connection }
    private var index: YapDatabaseSecondaryIndex<Sample> { samples.index }

    init() throws { samples = try SampleIndex() }

    private func set(
        _ sample: Sample, _ key: Int, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        try samples.set(sample, key, transaction)
    }

    /// Whether a commit of `write` counts for an observation of what `read` reads.
    private func isObserved(_ read: (SampleIndexTransaction) throws -> Void, whenWriting write: Write) throws
        -> Bool
    {
        try connection.isObserved({ try read($0[index]) }, whenWriting: write)
    }

    /// Whether a commit that sets one row counts for the count of a condition.
    private func isCountObserved(
        _ condition: @escaping (Properties) -> Condition, whenSetting sample: Sample, _ key: Int = 100
    ) throws -> Bool {
        defer {
            try? connection.blocking.readWrite {
                try $0.removeObject(forKey: "100", inCollection: "samples")
            }
        }
        return try isObserved {
            _ = try $0.count(where: condition)
        } whenWriting: {
            try set(sample, key, $0)
        }
    }

    @Test func aRangeIsObservedByTheRowsInIt() throws {
        let range: (Properties) -> Condition = { $0.rating >= 3 && $0.rating < 6 }
        #expect(try isCountObserved(range, whenSetting: Sample(rating: 3)))
        #expect(try isCountObserved(range, whenSetting: Sample(rating: 5)))
        #expect(try !isCountObserved(range, whenSetting: Sample(rating: 6)))
        #expect(try !isCountObserved(range, whenSetting: Sample(rating: 2)))
        #expect(try isCountObserved({ $0.rating > 8 || $0.rating <= 0 }, whenSetting: Sample(rating: 0)))
        #expect(try !isCountObserved({ $0.rating > 8 || $0.rating <= 0 }, whenSetting: Sample(rating: 8)))
    }

    @Test func equalityPrefixesAndNegationAreObserved() throws {
        let bread = Sample(text: "bread", rating: 50)
        #expect(try isCountObserved({ $0.text == "bread" }, whenSetting: bread))
        #expect(try !isCountObserved({ $0.text == "milk" }, whenSetting: bread))
        #expect(try isCountObserved({ $0.text.hasPrefix("br") }, whenSetting: bread))
        #expect(try !isCountObserved({ $0.text.hasPrefix("Br") }, whenSetting: bread))
        #expect(try isCountObserved({ $0.text.contains("rea") }, whenSetting: bread))
        #expect(try !isCountObserved({ $0.text.contains("rae") }, whenSetting: bread))
        #expect(try isCountObserved({ $0.text.isOne(of: ["milk", "bread"]) }, whenSetting: bread))
        #expect(try !isCountObserved({ $0.text.isOne(of: ["milk", nil]) }, whenSetting: bread))
        #expect(try isCountObserved({ !($0.text == "milk") }, whenSetting: bread))
        #expect(try !isCountObserved({ $0.text != "bread" }, whenSetting: bread))
    }

    @Test func rowsWithoutAValueAreObserved() throws {
        let none = Sample(rating: 50)
        #expect(try isCountObserved({ $0.text == nil }, whenSetting: none))
        #expect(try isCountObserved({ $0.text != "milk" }, whenSetting: none))
        #expect(try isCountObserved({ $0.text.isOne(of: ["milk", nil]) }, whenSetting: none))
        #expect(try !isCountObserved({ $0.text != nil }, whenSetting: none))
        #expect(try !isCountObserved({ $0.text < "z" }, whenSetting: none))
        #expect(try !isCountObserved({ $0.text.hasPrefix("") }, whenSetting: none))
    }

    @Test func rowsThatEnterLeaveAndGoAreObserved() throws {
        func isObserved(_ write: Write) throws -> Bool {
            try self.isObserved({ _ = try $0.count { $0.rating == 3 } }, whenWriting: write)
        }
        #expect(try isObserved { try set(Sample(rating: 7), 3, $0) })
        #expect(try !isObserved { try set(Sample(rating: 8), 3, $0) })
        #expect(try isObserved { try set(Sample(rating: 3), 3, $0) })
        // Out of the index, and into it.
        #expect(try isObserved { try set(Sample(rating: -1), 3, $0) })
        #expect(try !isObserved { try set(Sample(rating: -2), 3, $0) })
        #expect(try isObserved { try set(Sample(rating: 3), 3, $0) })
        #expect(try !isObserved { try $0.removeObject(forKey: "5", inCollection: "samples") })
        #expect(try isObserved { try $0.removeObject(forKey: "3", inCollection: "samples") })
        #expect(try isObserved { try $0.removeAllObjectsInAllCollections() })
    }

    @Test func objectsAreObservedThoughTheirColumnsStay() throws {
        let changed: Write = { transaction in
            let note = (try transaction.object(Sample.self, forKey: "3", inCollection: "samples")?.note ?? 0)
            try set(Sample(text: "text3", rating: 3, note: note + 1), 3, transaction)
        }
        #expect(try isObserved({ _ = try $0.rows { $0.rating == 3 } }, whenWriting: changed))
        #expect(try isObserved({ _ = try $0.first { $0.rating == 3 } }, whenWriting: changed))
        #expect(try isObserved({ _ = try $0.rows() }, whenWriting: changed))
        #expect(try !isObserved({ _ = try $0.rows { $0.rating == 4 } }, whenWriting: changed))
        #expect(try !isObserved({ _ = try $0.keys { $0.rating == 3 } }, whenWriting: changed))
        #expect(try !isObserved({ _ = try $0.count() }, whenWriting: changed))
        #expect(try !isObserved({ _ = try $0.maximum(of: \.rating) }, whenWriting: changed))
        let touched: Write = { try $0.touchObject(forKey: "3", inCollection: "samples") }
        #expect(try isObserved({ _ = try $0.rows { $0.rating == 3 } }, whenWriting: touched))
        #expect(try !isObserved({ _ = try $0.rows { $0.rating == 4 } }, whenWriting: touched))
    }

    @Test func aRowThatTakesThePlaceOfAnEqualOneIsObserved() throws {
        #expect(
            try isObserved({ _ = try $0.keys { $0.rating == 9 } }) { transaction in
                try transaction.removeObject(forKey: "9", inCollection: "samples")
                try set(Sample(rating: 9), 10, transaction)
            })
    }

    @Test func keysAndValuesAreObserved() throws {
        let reads: [(SampleIndexTransaction) throws -> Void] = [
            { _ = try $0.keys { $0.rating > 90 } },
            { _ = try $0.minimum(of: \.rating) { $0.rating > 90 } },
            { _ = try $0.maximum(of: \.text) { $0.rating > 90 } },
            { _ = try $0.sum(of: \.rating) { $0.rating > 90 } },
            { _ = try $0.average(of: \.rating) { $0.rating > 90 } },
            { _ = try $0.counts(by: \.rating) { $0.rating > 90 } },
        ]
        for (place, read) in reads.enumerated() {
            #expect(try !isObserved(read) { try set(Sample(rating: 80 - place), 80, $0) }, "\(place)")
            #expect(try isObserved(read) { try set(Sample(rating: 95 + place), 95, $0) }, "\(place)")
        }
    }

    @Test func aConditionInSQLIsObservedByTheCollection() throws {
        let read: (SampleIndexTransaction) throws -> Void = { _ = try $0.count(matching: "rating > 90") }
        #expect(try isObserved(read) { try set(Sample(rating: 1), 1, $0) })
        #expect(try !isObserved(read) { try $0.set("milk", "1") })
    }

    @Test func manyChangesOfOneCommitAreObservedAsTheIndex() throws {
        func isObserved(_ count: Int) throws -> Bool {
            try self.isObserved({ _ = try $0.count { $0.rating == 3 } }) { transaction in
                for number in 0..<count { try set(Sample(rating: 50), 100 + number, transaction) }
            }
        }
        #expect(try !isObserved(20))
        #expect(try isObserved(21))
    }

    @Test func whatAFailedSavepointChangedIsNotObserved() throws {
        let read: (SampleIndexTransaction) throws -> Void = { _ = try $0.count { $0.rating == 3 } }
        #expect(
            try !isObserved(read) { transaction in
                try set(Sample(rating: 4), 4, transaction)
                try? transaction.savepoint { () throws in
                    try transaction.removeAllObjectsInAllCollections()
                    throw Refused()
                }
                try? transaction.savepoint { () throws in
                    for number in 0..<30 { try set(Sample(rating: 3), 100 + number, transaction) }
                    throw Refused()
                }
                try set(Sample(rating: 5), 4, transaction)
            })
    }

    @Test func aQueryRunsAgainWhenItsResultMayHaveChangedAndNotOtherwise() async throws {
        let (database, index) = (database, index)
        var counts = connection.observe { try $0[index].count { $0.rating >= 8 } }.makeAsyncIterator()
        #expect(try await counts.next() == 2)
        let writing = database.newConnection()
        func set(_ rating: Int) async throws {
            try await writing.readWrite {
                try $0.setObject(Sample(rating: rating), forKey: "0", inCollection: "samples")
            }
        }
        try await set(8)
        #expect(try await counts.next() == 3)
        try await set(7)
        #expect(try await counts.next() == 2)
        for rating in 0..<7 { try await set(rating) }
        // The end comes next, so none of these commits gave a value.
        try await database.close()
        #expect(try await counts.next() == nil)
    }
}
