import CloudStore
import CloudWire
import SQLite
import SQLiteTestSupport
import StoreAudit
import System
import Testing

@testable import CloudService

@Suite struct ZoneChecksumTests {
    let folder: TemporaryFolder
    let cloud: TestService
    var path: String { folder.file("store.db") }

    init() throws {
        folder = try TemporaryFolder()
        cloud = TestService(store: try SQLiteCloudStore(path: folder.file("store.db")))
        try cloud.zones(.create)
    }

    /// What a client comes to that counts what it was told from the beginning.
    private func recounted() throws -> ZoneChecksum {
        var sum = ZoneChecksum()
        for case .record(let record) in try cloud.changes().records {
            let name = try #require(record.recordName)
            sum += ZoneChecksum(
                recordName: name, recordType: try #require(record.recordType),
                changeTag: try #require(record.recordChangeTag),
                content: ZoneChecksum.content(recordName: name, fields: record.fields))
        }
        return sum
    }

    private func expectAgreement(_ context: Comment = "") throws {
        #expect(try cloud.changes().checksum == recounted(), context)
        #expect(try StoreAudit.findings(path: path) == [], context)
    }

    private static let values: [FieldValue] = [
        .string("Grüße 🌍 \u{0}"), .int64(.min), .int64(.max), .double(-0.0), .double(1), .double(0.1),
        .double(.greatestFiniteMagnitude), .double(.leastNonzeroMagnitude), .timestamp(milliseconds: -1),
        .bytes([]),
        .bytes([0, 255]), .encryptedBytes([1]), .list(.stringList, []),
        .list(.doubleList, [.double(2), .double(0.5)]),
        .list(.timestampList, [.timestamp(milliseconds: 1)]),
        .reference(Reference(recordName: "x", action: .deleteSelf)),
        .location(Location(latitude: 1.5, longitude: -0.0, timestampMilliseconds: 3)),
    ]

    /// A deletion needs more of what it takes along than a refusal does.
    @Test func aRecordWhoseOwnChangeIsRefusedIsTakenAlongByADeletionBesideIt() throws {
        let target = reference("target", .deleteSelf)
        try cloud.modify([
            operation(.create, "target"), operation(.create, "a", ["r": target]),
            operation(.create, "b", ["r": target]), operation(.create, "c"),
        ])
        let results = try cloud.modify(
            [
                operation(.update, "a", tag: "none", ["n": Field(.int64(1))]), operation(.create, "b"),
                operation(.forceDelete, "target"),
            ], atomic: false)
        #expect(results.map { $0.error == nil } == [false, false, true])
        #expect(try cloud.changes().records.compactMap(\.record?.recordName) == ["c"])
        try expectAgreement()
    }

    @Test func aClientComputesTheSameForAnyFields() throws {
        let fields = Dictionary(
            uniqueKeysWithValues: Self.values.enumerated().map { number, value in
                ("f\(number)", Field(value, isEncrypted: value.type == .encryptedBytes))
            })
        try cloud.modify([operation(.create, "a", fields), operation(.create, "b")])
        try expectAgreement()
        #expect(try cloud.changes().checksum != ZoneChecksum())
    }

    @Test func anEmptyListWithoutATypeCountsOnBothSides() throws {
        try cloud.modify([operation(.create, "a", ["l": Field(value: .list(.unknownList, []), type: nil)])])
        try expectAgreement()
    }

    @Test func theChecksumIsThatOfARecountAfterRandomWrites() throws {
        let random = SeededRandomSource(seed: 7)
        for round in 0..<60 {
            let operations = (0..<Int(random.next() % 6 + 1)).map { number -> RecordOperation in
                let name = "r\((random.next() % 3) * 6 + UInt64(number))"
                let kinds: [RecordOperation.Kind] = [
                    .create, .forceUpdate, .forceReplace, .forceDelete, .update,
                ]
                let kind = kinds[Int(random.next() % 5)]
                if kind == .forceDelete { return operation(kind, name, type: nil) }
                let value = Field(.int64(Int64(bitPattern: random.next())))
                return operation(kind, name, ["f\(random.next() % 3)": value])
            }
            // Some are refused, and with them the batch when it is atomic.
            _ = try? cloud.modify(operations, atomic: random.next() % 2 == 0)
            if round % 20 == 19 {
                try cloud.service.zoneMaintenance.resetEpoch(zoneName: "todos", ofUser: "_ada")
                try cloud.service.zoneMaintenance.pruneTombstones(zoneName: "todos", ofUser: "_ada")
            }
            try expectAgreement("round \(round)")
        }
    }

    @Test func whatADeletionTakesAlongIsTakenOff() throws {
        let reference = Field(.reference(Reference(recordName: "a", action: .deleteSelf)))
        try cloud.modify([
            operation(.create, "a"), operation(.create, "b", ["to": reference]), operation(.create, "c"),
        ])
        try cloud.modify([operation(.forceDelete, "a", type: nil)])
        try expectAgreement()
        #expect(try cloud.changes().records.count == 1)
    }

    @Test func aZoneThatWasMadeAgainBeginsWithNothing() throws {
        try cloud.modify([operation(.create, "a")])
        try cloud.zones(.delete)
        #expect(try StoreAudit.findings(path: path) == [])
        try cloud.zones(.create)
        #expect(try cloud.changes().checksum == ZoneChecksum())
        try cloud.modify([operation(.create, "a")])
        try expectAgreement()
    }

    @Test func onlyTheLastPageHasIt() throws {
        try cloud.modify((0..<5).map { operation(.create, "r\($0)") })
        let first = try cloud.changes(resultsLimit: 3)
        #expect(first.moreComing == true && first.checksum == nil)
        let last = try cloud.changes(first.syncToken, resultsLimit: 3)
        #expect(try last.moreComing == false && last.checksum == recounted())
        let none = try cloud.changes(last.syncToken)
        #expect(none.records.isEmpty && none.checksum == last.checksum)
    }

    @Test func aClientOfApplesKeysDoesNotGetIt() throws {
        try cloud.modify([operation(.create, "a")])
        let message = ChangesZoneRequest(zones: [.init(zoneID: TestService.zone)])
        let body = try message.json(extras: false)
        let answer = cloud.service.respond(to: cloud.request("changes/zone", body, extras: false))
        #expect(!String(decoding: answer.body, as: UTF8.self).contains("checksum"))
        let ours = cloud.service.respond(to: cloud.request("changes/zone", body))
        #expect(String(decoding: ours.body, as: UTF8.self).contains("checksum"))
    }

    /// What version 3 left: no checksum anywhere.
    private func forgetChecksums() throws {
        let connection = try Connection(path: path)
        try connection.execute(
            """
            UPDATE records SET identity = NULL, content = NULL;
            UPDATE zones SET identities = 0, contents = 0, isCounted = 0
            """)
        try connection.close()
    }

    @Test func aZoneOfAnEarlierVersionIsCountedInStepsAndReportedOnlyThen() throws {
        for start in stride(from: 0, to: 1_200, by: 200) {
            try cloud.modify(
                (start..<start + 200).map { operation(.create, "r\($0)", ["n": Field(.int64(1))]) })
        }
        try cloud.zones(.create, [ZoneID(zoneName: "other"), ZoneID(zoneName: "gone")])
        try cloud.zones(.delete, [ZoneID(zoneName: "gone")])
        try forgetChecksums()
        var steps = 0
        #expect(try cloud.changes().checksum == nil)
        while try cloud.service.zoneCounting.countStep() {
            steps += 1
            // Writes come in between: before and behind what is counted already.
            try cloud.modify([
                operation(.forceUpdate, "r\(steps)", ["n": Field(.int64(2))]),
                operation(.forceUpdate, "r9\(steps)"),
                operation(.forceDelete, "r10\(steps)", type: nil), operation(.create, "new\(steps)"),
            ])
            #expect(try StoreAudit.findings(path: path) == [])
        }
        #expect(steps >= 3, "500 records a step")
        let told = try cloud.ask(
            "changes/zone", ChangesZoneRequest(zones: [.init(zoneID: ZoneID(zoneName: "other"))]),
            as: ChangesZoneResponse.self)
        guard case .changes(let other)? = told.zones.first else { return #expect(Bool(false)) }
        #expect(other.checksum == ZoneChecksum())
        var token: String?
        var last: ZoneChanges
        repeat {
            last = try cloud.changes(token, resultsLimit: 400)
            token = last.syncToken
        } while last.moreComing == true
        #expect(last.checksum != nil)
        #expect(try StoreAudit.findings(path: path) == [])
    }

    @Test func theAuditAndTheDoctorSeeAWrongChecksum() throws {
        try cloud.modify([operation(.create, "a"), operation(.create, "b")])
        let damages = [
            "UPDATE zones SET contents = contents + 1", "UPDATE records SET identity = NULL, content = NULL",
            "UPDATE records SET identity = identity + 1 WHERE name = 'a'",
        ]
        for (number, damage) in damages.enumerated() {
            let copy = folder.file("copy\(number).db")
            try Connection(path: path).execute("VACUUM INTO '\(copy)'")
            let connection = try Connection(path: copy)
            try connection.execute(damage)
            try connection.close()
            #expect(try StoreAudit.findings(path: copy) != [], "\(damage)")
            let file = try #require(try StoreFile(path: copy))
            #expect(try file.findings().contains { $0.check == "checksums" }, "\(damage)")
        }
    }
}
