import CloudWire
import System
import TestSeed
import Testing

@Suite struct FieldsTranscodingTests {
    private func fields() throws -> [String: Field] {
        let fixture = try #require(Fixture.all.first { $0.name == "field/types response" })
        guard case .record(let record) = try RecordsResponse(json: fixture.bytes).records[0] else {
            return [:]
        }
        var fields = record.fields
        fields["a\"b"] = Field(.string("line\nbreak \\ \u{1} \"quote\""))
        fields["accents"] = Field(.string("plain first, then é, 日本 and 🌍"), isEncrypted: true)
        fields["cleared"] = .cleared
        fields["mixed"] = Field(value: .list(.unknownList, [.string("a"), .double(2.5)]), type: nil)
        fields["other"] = Field(value: .int64(-7), type: .timestamp)
        return fields
    }

    /// The JSON of a record whose fields are still as they lie on disk.
    private func transcoded(_ bytes: [UInt8], numbersAsStrings: Bool = false) throws -> [UInt8] {
        var record = WireRecord(recordName: "r", recordType: "t", pluginFields: [:])
        record.storedFields = bytes
        return try RecordsResponse(records: [.record(record)])
            .json(extras: false, numbersAsStrings: numbersAsStrings)
    }

    private func decoded(_ fields: [String: Field], numbersAsStrings: Bool = false) throws -> [UInt8] {
        let record = WireRecord(recordName: "r", recordType: "t", fields: fields, pluginFields: [:])
        return try RecordsResponse(records: [.record(record)])
            .json(extras: false, numbersAsStrings: numbersAsStrings)
    }

    @Test(arguments: [false, true])
    func fieldsFromTheDiskGiveTheJSONOfTheDecodedFields(numbersAsStrings: Bool) throws {
        // What is not kept on disk (the type of a reference's zone) is gone here too.
        let fields = try FieldsBinary.decode(FieldsBinary.encode(fields()))
        #expect(
            try transcoded(FieldsBinary.encode(fields), numbersAsStrings: numbersAsStrings)
                == decoded(fields, numbersAsStrings: numbersAsStrings))
        #expect(try transcoded(FieldsBinary.encode([:])) == decoded([:]))
    }

    @Test func damagedFieldsFailTheAnswer() throws {
        let bytes = FieldsBinary.encode(try fields())
        for count in 0..<bytes.count {
            #expect(throws: JSONError.self) { try transcoded(Array(bytes[..<count])) }
        }
        #expect(throws: JSONError.self) { try transcoded(bytes + [0]) }
        // Unsorted, twice, not UTF-8, an unknown type.
        for bytes in [
            [1, 2, 1, 0x62, 0, 1, 0x61, 0], [1, 2, 1, 0x61, 0, 1, 0x61, 0], [1, 1, 1, 0xFF, 0],
            [1, 1, 1, 0x61, 2, 1, 1, 0xC3], [1, 1, 1, 0x61, 2, 99],
        ] as [[UInt8]] {
            #expect(throws: JSONError.self) { try transcoded(bytes) }
        }
    }

    @Test func randomDamageFailsBothWaysOrNeither() throws {
        let seed = TestSeed.value
        print("Fields' transcoding random damage: seed \(seed)")
        let random = SeededRandomSource(seed: seed)
        let bytes = FieldsBinary.encode(try fields())
        for _ in 0..<2000 {
            var damaged = bytes
            for _ in 0...random.next(in: 0..<3) {
                damaged[random.next(in: 0..<bytes.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            let direct = try? transcoded(damaged)
            let byValues = try? decoded(FieldsBinary.decode(damaged))
            #expect(direct == byValues, "seed \(seed)")
        }
    }
}
