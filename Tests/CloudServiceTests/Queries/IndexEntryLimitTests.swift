import CloudStore
import CloudWire
import System
import Testing

@testable import CloudService

/// What a record is found by is bounded, and who brings too much is told what it is.
@Suite struct IndexEntryLimitTests {
    private func service(record: Int = 50, request: Int = 1_000) throws -> TestService {
        var limits = ServiceLimits()
        limits.indexEntriesMax = record
        limits.indexEntriesOfRequestMax = request
        let cloud = TestService(limits: limits)
        try cloud.zones(.create)
        return cloud
    }

    private func words(_ count: Int) -> Field {
        Field(.string((0..<count).map { "word\($0)" }.joined(separator: " ")))
    }

    private func error(_ results: [RecordResult]) -> WireError? {
        if case .error(let error) = results.first { error } else { nil }
    }

    @Test func aRecordWithTooManyWordsIsRefusedWithTheFieldTheNumberAndTheLimit() throws {
        let cloud = try service()
        let results = try cloud.modify(
            [operation(.create, "a", ["few": words(10), "many": words(60)])], atomic: false)
        let refused = try #require(error(results))
        #expect(refused.serverErrorCode == .badRequest || refused.ckErrorCode == 27)
        let reason = try #require(refused.reason)
        #expect(
            reason.contains("field 'many'") && reason.contains("61 of them")
                && reason.contains("50 are allowed"))
        #expect(
            error(try cloud.modify([operation(.create, "a", ["few": words(10), "more": words(20)])])) == nil)
    }

    /// A record of 1 MB has 140 texts of a thousand words; all writes would wait while they are counted.
    @Test func countingEndsAtTheFieldThatExceedsTheLimit() {
        var type = RecordType()
        var fields: [String: Field] = [:]
        for number in 0..<100 {
            type.fields["text\(number)"] = FieldDefinition(.string, indexes: .searchable)
            fields["text\(number)"] = words(20)
        }
        let key = RecordKey(
            zone: ZoneKey(database: .privateDatabase(of: "_ada"), zoneName: "todos"), recordName: "r")
        let subject = QuerySubject(key: key, recordType: "todo", fields: fields)
        func countedTexts(upTo most: Int) -> Int {
            IndexEntries.counts(subject, in: type, upTo: most).count { $0.field.hasPrefix("text") }
        }
        #expect(countedTexts(upTo: 50) == 3)
        #expect(countedTexts(upTo: 5_000) == 100)
    }

    @Test func wordsOfASCIIAreThoseOfUnicodesTables() {
        for value in UInt8(0)..<128 {
            let scalar = Unicode.Scalar(value)
            // Behind a letter that isn't ASCII, which begins the word in either way.
            let words = Set(Words.of("é\(Character(scalar))x"))
            let isLetter = Character(scalar).isLetter || Character(scalar).isNumber
            #expect(words == (isLetter ? ["e\(String(scalar).lowercased())x"] : ["e", "x"]), "\(value)")
        }
    }

    @Test func severalFieldsThatAreWithinTheLimitEachAreCountedTogether() throws {
        let cloud = try service()
        let fields = ["a": words(30), "b": words(30)]
        #expect(error(try cloud.modify([operation(.create, "r", fields)], atomic: false)) != nil)
        #expect(error(try cloud.modify([operation(.create, "r", ["a": words(30)])])) == nil)
        // What is there counts with what comes.
        let results = try cloud.modify([operation(.forceUpdate, "r", ["b": words(30)])], atomic: false)
        #expect(error(results) != nil)
    }

    @Test func theElementsOfAListAreCounted() throws {
        let cloud = try service()
        let list = Field(.list(.int64List, (0..<60).map { .int64(Int64($0)) }))
        #expect(
            error(try cloud.modify([operation(.create, "r", ["l": list])], atomic: false))?.reason?
                .contains("'l'") == true)
    }

    @Test func aRequestWhoseRecordsTogetherHaveTooManyIsRefusedAndFewerAreTaken() throws {
        let cloud = try service(record: 50, request: 100)
        let records = (0..<4).map { operation(.create, "r\($0)", ["text": words(40)]) }
        let refused = #expect(throws: WireError.self) { try cloud.modify(records) }
        #expect(refused?.reason?.contains("100 index entries") == true)
        #expect(error(try cloud.modify(Array(records.prefix(2)))) == nil)
    }

    /// An index that is built later may find records that nobody would let in.
    @Test func aStepOfBuildingAnIndexIsBoundedByEntriesToo() throws {
        var limits = ServiceLimits()
        limits.indexEntriesOfRequestMax = 50
        let store = MemoryCloudStore()
        let writing = TestService(store: store)
        try writing.zones(.create)
        for name in ["a", "b", "c", "d"] {
            try writing.modify([operation(.create, name, ["text": words(60)])])
        }
        func change(_ indexes: FieldIndexes, _ service: CloudService) throws {
            try store.write { writer in
                var schema = try service.schemas.schema(in: writer)
                schema.recordTypes["todo"]?.fields["text"]?.indexes = indexes
                var changes = StoreChanges()
                changes.schema = schema.row(version: service.schemaMaintenance.random.next())
                try service.writing.apply(changes, to: writer)
            }
        }
        try change([], writing.service)
        while try writing.service.keepUp() {}
        let cloud = TestService(store: store, seed: 2, limits: limits)
        try change(.searchable, cloud.service)
        var steps = 1
        while try !store.read({ try $0.indexWork(typesMax: 1) }).isEmpty {
            _ = try cloud.service.indexes.buildStep()
            steps += 1
        }
        #expect(steps >= 4)
        let scan = IndexScan(
            zone: ZoneKey(database: .privateDatabase(of: "_ada"), zoneName: "todos"), recordType: "todo",
            source: .entries(field: "text", kind: .word), rowsMax: 1_000)
        #expect(try store.read { try $0.count(scan, max: 1_000) } == 240)
    }
}
