import CloudWire
import System
import TestSeed
import Testing

@Suite struct FieldsBinaryTests {
    private func everyType() throws -> [String: Field] {
        let fixture = try #require(Fixture.all.first { $0.name == "field/types response" })
        guard case .record(let record) = try RecordsResponse(json: fixture.bytes).records[0] else {
            return [:]
        }
        return record.fields
    }

    @Test func fieldsOfEveryTypeComeBack() throws {
        let fields = try everyType()
        #expect(
            Set(fields.values.compactMap(\.type)) == Set(FieldType.allCases), "the fixture has every type")
        #expect(try FieldsBinary.decode(FieldsBinary.encode(fields)) == fields)
        #expect(try FieldsBinary.decode(FieldsBinary.encode([:])) == [:])
    }

    @Test func theLayoutOfVersion1StaysAsItIs() throws {
        let fields = ["b": Field(value: nil, type: nil), "a": Field(.string("hi"), isEncrypted: true)]
        #expect(FieldsBinary.encode(fields) == [1, 2, 1, 0x61, 7, 1, 2, 0x68, 0x69, 1, 0x62, 0])
        let numbers = ["n": Field(value: .list(.int64List, [.int64(-1), .int64(64)]), type: nil)]
        #expect(FieldsBinary.encode(numbers) == [1, 1, 1, 0x6E, 2, 0x22, 2, 1, 0x80, 1])
    }

    @Test func equalFieldsHaveEqualBytes() throws {
        let fields = try everyType()
        var other: [String: Field] = [:]
        for name in fields.keys.sorted(by: >) { other[name] = fields[name] }
        #expect(FieldsBinary.encode(other) == FieldsBinary.encode(fields))
    }

    @Test func aClearedFieldIsNotAnAbsentOne() throws {
        let decoded = try FieldsBinary.decode(FieldsBinary.encode(["a": .cleared]))
        #expect(decoded == ["a": .cleared])
    }

    @Test func bytesCutAnywhereAreRefused() throws {
        let bytes = FieldsBinary.encode(try everyType())
        for count in 0..<bytes.count {
            #expect(throws: BinaryError.self) { try FieldsBinary.decode(Array(bytes[..<count])) }
        }
        #expect(throws: BinaryError.self) { try FieldsBinary.decode(bytes + [0]) }
    }

    @Test(
        arguments: [
            [0, 0], [2, 0], [1], [1, 0x80, 0],
            [1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [1, 5],
            [1, 2, 1, 0x62, 0, 1, 0x61, 0], [1, 2, 1, 0x61, 0, 1, 0x61, 0], [1, 1, 1, 0xFF, 0],
            [1, 1, 1, 0x61, 16],
            [1, 1, 1, 0x61, 4], [1, 1, 1, 0x61, 14, 1, 1, 0], [1, 1, 1, 0x61, 10, 1, 1, 0],
            [1, 1, 1, 0x61, 2, 99],
            [1, 1, 1, 0x61, 2, 0x2A, 0], [1, 1, 1, 0x61, 2, 0x20, 1, 0x20, 0], [1, 1, 1, 0x61, 2, 6, 8, 0],
            [1, 1, 1, 0x61, 2, 7, 64], [1, 1, 1, 0x61, 2, 8, 128],
            [1, 1, 1, 0x61, 2, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F],
            [1, 2, 2, 0xC3, 0xA9, 0, 3, 0x65, 0xCC, 0x81, 0],
        ] as [[UInt8]])
    func bytesThatNoEncoderWritesAreRefused(_ bytes: [UInt8]) {
        #expect(throws: BinaryError.self) { try FieldsBinary.decode(bytes) }
    }

    @Test func randomDamageThrowsOrIsTheBytesOfWhatItDecodesTo() throws {
        let seed = TestSeed.value
        print("FieldsBinary random damage: seed \(seed)")
        let random = SeededRandomSource(seed: seed)
        let bytes = FieldsBinary.encode(try everyType())
        for _ in 0..<3000 {
            var damaged = bytes
            for _ in 0...random.next(in: 0..<3) {
                damaged[random.next(in: 0..<bytes.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            guard let fields = try? FieldsBinary.decode(damaged) else { continue }
            #expect(FieldsBinary.encode(fields) == damaged, "seed \(seed)")
        }
    }
}

@Suite struct ChangeTagTests {
    @Test(arguments: [(0, 0), (1, 1), (.max, .max), (0xDEAD_BEEF_0000_0001, 46655)] as [(UInt64, Int64)])
    func aTagComesBackFromItsText(epoch: UInt64, counter: Int64) {
        let tag = ChangeTag(epoch: epoch, counter: counter)
        #expect(ChangeTag(tag.text) == tag)
        #expect(tag.text.utf8.count <= 28)
    }

    @Test(arguments: [
        "", ".", "1", "1.", ".1", "1.2.3", "01.2", "+1.2", "-1.2", "1.A", "1.-2", "1s2k", "zzzzzzzzzzzzzz.1",
        "1 .2",
    ])
    func aTextThatIsNoTagIsNone(_ text: String) {
        #expect(ChangeTag(text) == nil)
    }

    @Test func theTextStaysAsItIs() {
        #expect(ChangeTag(epoch: 36, counter: 35).text == "z.10")
    }
}

@Suite struct ChangeTokenTests {
    private let tokens = [
        ChangeToken(
            scope: .private, subject: .zone(ownerRecordName: "_10", zoneName: "todos"), epoch: .max,
            counter: 300,
            liveUntil: 290),
        ChangeToken(scope: .shared, subject: .database(ownerRecordName: "_20"), epoch: 1, counter: 0),
        ChangeToken(
            scope: .private, subject: .zone(ownerRecordName: "_1", zoneName: "z"), epoch: 7, counter: 3,
            liveUntil: 2, descent: ChangeToken.Descent(newest: 90, below: 41)),
        ChangeToken(
            scope: .public, subject: .zone(ownerRecordName: "", zoneName: "é😀"), epoch: 0, counter: .max,
            liveUntil: .max),
    ]

    @Test func aTokenComesBackFromItsText() throws {
        for token in tokens {
            #expect(try ChangeToken(text: token.text) == token)
        }
        #expect(Set(tokens.map(\.text)).count == tokens.count)
    }

    @Test func theTextOfFormat1StaysAsItIs() {
        let token = ChangeToken(
            scope: .private, subject: .zone(ownerRecordName: "_1", zoneName: "z"), epoch: 2, counter: 3,
            liveUntil: 1)
        #expect(token.text == "AQIBAl8xAXoCAAAAAAAAAAYCJdJiyg==")
    }

    @Test func eachChangedOrMissingCharacterIsNoticed() {
        for token in tokens {
            let text = Array(token.text.utf8)
            for position in text.indices {
                for bit in 0..<7 {
                    var damaged = text
                    damaged[position] ^= 1 << UInt8(bit)
                    #expect(throws: ChangeToken.DecodingError.self) {
                        try ChangeToken(text: String(decoding: damaged, as: UTF8.self))
                    }
                }
                #expect(throws: ChangeToken.DecodingError.damaged) {
                    try ChangeToken(text: String(decoding: text[..<position], as: UTF8.self))
                }
            }
        }
    }

    @Test(arguments: [
        "", "AAAA", "not base64", "AQAAAAAAAwmVf//////////Kd+LphRdKGbpJMSeRX5Td",
        String(repeating: "A", count: 8192),
    ])
    func aForeignTextIsNoToken(_ text: String) {
        #expect(throws: ChangeToken.DecodingError.damaged) { try ChangeToken(text: text) }
    }

    @Test func aLaterFormatIsDistinguishedFromDamage() {
        // The byte 3 and its CRC-32.
        #expect(throws: ChangeToken.DecodingError.unknownFormat(3)) { try ChangeToken(text: "Aze+C0s=") }
    }
}
