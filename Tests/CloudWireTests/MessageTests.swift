import CloudWire
import Testing

@Suite struct MessageTests {
    @Test func eachShapeHasAFixture() {
        #expect(Set(Fixture.all.map(\.name)) == Set(MessageShape.byName.keys))
    }

    @Test(arguments: Fixture.all)
    func aMessageIsWrittenAsItWasRead(_ fixture: Fixture) throws {
        let message = try fixture.shape.decode(fixture.bytes)
        let written = try message.json()
        #expect(try ForeignJSON(fixture.bytes).difference(from: ForeignJSON(written)) == nil)
        #expect(try fixture.shape.decode(written).json() == written, "the same message has the same bytes")
    }

    @Test(arguments: Fixture.all)
    func aMessageCutAnywhereIsRefused(_ fixture: Fixture) {
        let end = fixture.bytes.lastIndex(of: UInt8(ascii: "}")) ?? 0
        for count in 0...end {
            #expect(throws: JSONError.self, "cut after \(count) bytes") {
                try fixture.shape.decode(Array(fixture.bytes[..<count]))
            }
        }
    }

    @Test func knownKeysBecomeTypedFields() throws {
        let request = try message("records/modify request", as: RecordsModifyRequest.self)
        #expect(request.operations.map(\.operationType) == RecordOperation.Kind.allCases)
        #expect(request.atomic == true)
        #expect(
            request.zoneID == ZoneID(zoneName: "todos", ownerRecordName: "_0123456789abcdef0123456789abcdef"))
        #expect(request.operations[0].record.fields["isDone"] == Field(.int64(0)))
        #expect(request.operations[0].record.parent == Reference(recordName: "list"))
        #expect(request.operations[0].record.unknown == ["createShortGUID": .bool(true)])
        #expect(request.operations[1].record.fields["note"] == Field.cleared)
        #expect(request.operations[4].record.fields["title"]?.value == .string("é😀\n\"\\"))
        #expect(request.operations[6].unknown.keys.sorted() == ["later"])
        #expect(request.unknown.isEmpty)
    }

    @Test func aRecordsArrayDistinguishesRecordsTombstonesAndErrors() throws {
        let response = try message("records/modify response", as: RecordsResponse.self)
        guard case .record(let record) = response.records[0], case .error(let conflict) = response.records[1],
            case .tombstone(let tombstone) = response.records[2], case .error(let busy) = response.records[4]
        else {
            Issue.record("a result of another kind")
            return
        }
        #expect(
            record.created
                == .init(timestampMilliseconds: 1_700_000_000_000, userRecordName: "_10", deviceID: "1"))
        #expect(record.modified?.timestampMilliseconds == -5)
        #expect(record.shortGUID == "0abc")
        #expect(record.unknown.keys.sorted() == ["expirationTime", "stableUrl"])
        #expect(conflict.serverErrorCode == .conflict)
        #expect(tombstone == Tombstone(recordName: "f"))
        #expect(busy.retryAfterSeconds == 2.5)
        #expect(busy.unknown == ["detail": .null])
    }

    @Test func aFilterThatIsABareObjectIsReadAsAnArrayOfOne() throws {
        let request = try message("records/query/batch request", as: RecordsQueryBatchRequest.self)
        #expect(request.batch[0].query?.filterBy?.map(\.comparator) == ["IN"])
        #expect(request.batch[0].zoneWide == true)
    }

    @Test func theSecondSpellingOfNumbersAsStringsIsRead() throws {
        let json = #"{"zones": [{"zoneID": {"zoneName": "a"}, "numberAsStrings": true}]}"#
        #expect(try ChangesZoneRequest(json: Array(json.utf8)).zones[0].options.numbersAsStrings == true)
    }

    @Test(arguments: [
        (#"{"operations": 1}"#, "operations: expected an array"),
        (#"{}"#, "the key 'operations' is missing"),
        (#"[]"#, "expected an object"),
        (
            #"{"operations": [{"operationType": "upsert", "record": {}}]}"#,
            "operations[0].operationType: unknown"
        ),
        (#"{"operations": [{"operationType": "create"}]}"#, "operations[0]: the key 'record' is missing"),
        (
            #"{"operations": [{"operationType": "create", "record": {"fields": {"title": {"valeu": 1}}}}]}"#,
            "operations[0].record.fields.title: the key 'value' is missing"
        ),
        (
            #"{"operations":[{"operationType":"create","record":{"fields":{"a":{"value":1,"type":2}}}}]}"#,
            "operations[0].record.fields.a.type: expected a text"
        ),
        (#"{"operations": [], "atomic": 1}"#, "atomic: expected true or false"),
        (#"{"operations": [], "zoneID": "a"}"#, "zoneID: expected an object"),
    ])
    func aMessageOfAnotherShapeIsABadRequestThatNamesThePlace(json: String, reason: String) throws {
        let error = #expect(throws: JSONError.self) { try RecordsModifyRequest(json: Array(json.utf8)) }
        #expect(error?.reason.hasPrefix(reason) == true, "\(error?.reason ?? "")")
        #expect(error?.wireError.serverErrorCode == .badRequest)
        #expect(error?.wireError.reason?.contains(reason) == true)
    }

    private func message<Message: JSONMessage>(_ name: String, as type: Message.Type) throws -> Message {
        let fixture = try #require(Fixture.all.first { $0.name == name })
        return try Message(json: fixture.bytes)
    }
}
