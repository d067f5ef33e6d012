import CloudWire
import Testing

@Suite struct FieldJSONTests {
    private func field(_ json: String) throws -> Field {
        let message =
            #"{"operations": [{"operationType": "create", "record": {"fields": {"name": \#(json)}}}]}"#
        let request = try RecordsModifyRequest(json: Array(message.utf8))
        return try #require(request.operations[0].record.fields["name"])
    }

    @Test(
        arguments: [
            (#"{"value": "x"}"#, .string("x")), (#"{"value": 3}"#, .int64(3)),
            (#"{"value": true}"#, .int64(1)),
            (#"{"value": 3.0}"#, .double(3)), (#"{"value": 1e3}"#, .double(1000)),
            (#"{"value": ["a", "b"]}"#, .list(.stringList, [.string("a"), .string("b")])),
            (#"{"value": [1, 2.5]}"#, .list(.doubleList, [.double(1), .double(2.5)])),
            (#"{"value": []}"#, .list(.unknownList, [])),
            (#"{"value": {"recordName": "x"}}"#, .reference(Reference(recordName: "x"))),
            (#"{"value": {"latitude": 1, "longitude": 2}}"#, .location(Location(latitude: 1, longitude: 2))),
            (#"{"value": {"receipt": "x"}}"#, .asset(Asset(receipt: "x"))),
        ] as [(String, FieldValue)])
    func aTypeThatWasLeftOutIsGuessedFromTheJSON(json: String, value: FieldValue) throws {
        #expect(try field(json) == Field(value: value, type: nil))
    }

    @Test(
        arguments: [
            (#"{"value": "-12", "type": "INT64"}"#, .int64(-12)),
            (#"{"value": false, "type": "INT64"}"#, .int64(0)),
            (#"{"value": 1e3, "type": "INT64"}"#, .int64(1000)),
            (#"{"value": "1.5", "type": "DOUBLE"}"#, .double(1.5)),
            (#"{"value": 2, "type": "DOUBLE"}"#, .double(2)),
            (#"{"value": "-5", "type": "TIMESTAMP"}"#, .timestamp(milliseconds: -5)),
            (#"{"value": "AQI=", "type": "BYTES"}"#, .bytes([1, 2])),
            (#"{"value": "AQ\u0049=", "type": "ENCRYPTED_BYTES"}"#, .encryptedBytes([1, 2])),
            (#"{"type": "UNKNOWN_LIST", "value": [1]}"#, .list(.unknownList, [.int64(1)])),
        ] as [(String, FieldValue)])
    func aTypeThatIsNamedDecides(json: String, value: FieldValue) throws {
        #expect(try field(json).value == value)
    }

    @Test func nullClearsAndKeepsTheTypeThatWasSent() throws {
        #expect(try field(#"{"value": null}"#) == Field.cleared)
        #expect(try field(#"{"value": null, "type": "INT64"}"#) == Field(value: nil, type: .int64))
        #expect(try field(#"{"value": "x", "isEncrypted": true}"#).isEncrypted)
    }

    @Test(arguments: [
        #"{"value": "x", "type": "TEXT"}"#, #"{"value": 1, "type": "STRING"}"#,
        #"{"value": 1.5, "type": "INT64"}"#, #"{"value": "1x", "type": "INT64"}"#,
        #"{"value": 9223372036854775808, "type": "INT64"}"#, #"{"value": 1e999, "type": "DOUBLE"}"#,
        #"{"value": "nan", "type": "DOUBLE"}"#, #"{"value": true, "type": "DOUBLE"}"#,
        #"{"value": "A", "type": "BYTES"}"#, #"{"value": "AQ", "type": "BYTES"}"#,
        #"{"value": "AQ=", "type": "BYTES"}"#, #"{"value": "AR==", "type": "BYTES"}"#,
        #"{"value": "A===", "type": "BYTES"}"#, #"{"value": "A-_=", "type": "BYTES"}"#,
        #"{"value": "AQ==\n", "type": "BYTES"}"#, #"{"value": 1, "type": "ENCRYPTED_BYTES"}"#,
        #"{"value": {"action": "NONE"}, "type": "REFERENCE"}"#,
        #"{"value": {"recordName": "x", "action": "CASCADE"}, "type": "REFERENCE"}"#,
        #"{"value": {"latitude": 1}, "type": "LOCATION"}"#, #"{"value": {}, "type": "ASSETID"}"#,
        #"{"value": {"size": -1}, "type": "ASSETID"}"#, #"{"value": {"size": "1"}, "type": "ASSETID"}"#,
        #"{"value": {"what": 1}}"#, #"{"value": [1, "x"]}"#, #"{"value": [[1]]}"#, #"{"value": [null]}"#,
        #"{"value": ["x"], "type": "INT64_LIST"}"#, #"{"value": "x", "type": "STRING_LIST"}"#,
        #"{"value": "x", "isEncrypted": "yes"}"#, #"{"value": 1, "type": 2}"#, #""x""#,
    ])
    func aFieldThatIsNoneIsRefusedByName(json: String) {
        let error = #expect(throws: JSONError.self) { try field(json) }
        #expect(error?.code == .unexpected)
        #expect(error?.reason.contains("fields.name") == true, "\(error?.reason ?? "")")
    }

    @Test(arguments: [
        #"{"BAD":"x","type":"STRING"}"#, #"{"type":"BYTES","value":"A"}"#, #"{"type":"NEW","value":1}"#, "7",
    ])
    func anUnreadableFieldOfAnAnswerIsKeptApartAndWrittenAsItCame(field: String) throws {
        let json = #"{"records":[{"recordName":"r","recordType":"t","fields":{"name":\#(field)}}]}"#
        let response = try RecordsResponse(json: Array(json.utf8))
        guard case .record(let record) = response.records[0] else {
            Issue.record("no record")
            return
        }
        #expect(record.fields.isEmpty)
        #expect(record.unreadableFields.keys.sorted() == ["name"])
        #expect(String(decoding: try response.json(), as: UTF8.self) == json)
    }

    @Test func numbersAreEncodedAsTextOnRequest() throws {
        let record = WireRecord(
            recordName: "r", recordType: "t",
            fields: [
                "a": Field(.int64(.min)), "b": Field(.double(0.5)),
                "c": Field(.list(.int64List, [.int64(7)])),
            ])
        let response = RecordsResponse(records: [.record(record)])
        let json = try response.json(extras: false, numbersAsStrings: true)
        let text = String(decoding: json, as: UTF8.self)
        #expect(text.contains(#""value":"-9223372036854775808""#))
        #expect(text.contains(#""value":"0.5""#))
        #expect(text.contains(#""value":["7"]"#))
        #expect(try RecordsResponse(json: json) == response)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func aNumberThatJSONCannotHoldIsAnErrorAndNotANull(_ number: Double) {
        let response = RecordsResponse(records: [.record(WireRecord(fields: ["a": Field(.double(number))]))])
        #expect(throws: JSONError.self) { try response.json() }
    }

    @Test func doublesKeepEveryBit() throws {
        let numbers: [Double] = [
            0.1, 1 / 3, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e16, -0.0, 2, 123_456_789.125,
        ]
        for number in numbers {
            let response = RecordsResponse(records: [
                .record(WireRecord(fields: ["a": Field(.double(number))]))
            ])
            guard case .record(let record) = try RecordsResponse(json: try response.json()).records[0],
                case .double(let read)? = record.fields["a"]?.value
            else {
                Issue.record("no double")
                return
            }
            #expect(read.bitPattern == number.bitPattern)
        }
    }
}
