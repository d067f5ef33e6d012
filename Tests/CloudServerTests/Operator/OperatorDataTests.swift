import CloudStore
import CloudWire
import System
import Testing

@testable import CloudServer
@testable import CloudService

@Suite struct OperatorDataTests {
    private static func save(_ name: String, _ type: String = "forceUpdate", tag: String? = nil) -> String {
        let tag = tag.map { #","recordChangeTag":"\#($0)""# } ?? ""
        return #"{"operations":[{"operationType":"\#(type)","record":{"recordName":"\#(name)","#
            + #""recordType":"Note","fields":{"text":{"value":"hello"}}\#(tag)}}]}"#
    }

    @Test func anAdministratorSeesAndChangesWhatTheUsersDeviceSees() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            let ada = try client.ada
            let saved = try client.post(
                client.data("private", "records/modify", user: ada), Self.save("note"))
            #expect(saved.status == 200 && saved.text.contains(#""userRecordName":"\#(ada)""#))
            let device = try RawConnection(port: guarded.server.port)
            let seen = try device.exchange(
                "POST",
                guarded.target(
                    "private/records/lookup", apiToken: guarded.openToken, session: guarded.session),
                body: Array(#"{"records":[{"recordName":"note"}]}"#.utf8))
            #expect(seen.status == 200 && seen.text.contains("hello"))
            let other = "_" + String(repeating: "0", count: 32)
            let foreign = try client.post(
                client.data("private", "records/lookup", user: other), #"{"records":[{"recordName":"note"}]}"#
            )
            #expect(foreign.text.contains("NOT_FOUND"))
        }
    }

    @Test func inThePublicDatabaseAnAdministratorHasAllRightsAndAsAUserTheUsers() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            let made = try client.post(client.data("public", "records/modify"), Self.save("news"))
            #expect(made.text.contains(#""userRecordName":"_administrator""#))
            let asAda = try client.post(
                client.data("public", "records/modify", user: client.ada), Self.save("news"))
            #expect(asAda.text.contains("ACCESS_DENIED"))
            #expect(try client.post(client.data("public", "records/modify"), Self.save("news")).status == 200)
        }
    }

    @Test func aPrivateDatabaseNeedsAUserAndAUserIsARecordName() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            for user in [nil, "ada", "_ABC", "_" + String(repeating: "g", count: 32)] {
                let response = try client.post(client.data("private", "zones/list", user: user))
                #expect(response.status == 400, "\(user ?? "nobody")")
            }
        }
    }

    @Test func eachChangeIsInTheAuditLogWithNamesAndOutcomeAndWithoutValues() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            let ada = try client.ada
            let path = client.data("private", "records/modify", user: ada)
            _ = try client.post(path, Self.save("note", "create"))
            // There already: the request as a whole is answered, and its record refused.
            _ = try client.post(path, Self.save("note", "create"))
            _ = try client.post(path, "no JSON")
            let lines = try guarded.control.auditLog.lines(linesMax: 10)
            #expect(lines.map(\.outcome) == [.refused, .refused, .done])
            #expect(lines.map(\.names) == [[], ["note"], ["note"]])
            #expect(lines[1].note == "1 CONFLICT")
            let line = try #require(lines.last)
            #expect(line.action == .recordsChanged && line.administrator == "change" && line.count == 1)
            #expect(line.container == RawDevice.container && line.environment == "development")
            #expect(line.user == ada && line.zone == "_defaultZone" && line.requestID?.isEmpty == false)
            #expect(!"\(lines)".contains("hello"))
        }
    }

    @Test func aFileThatAnAdministratorSendsIsTheUsers() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            let ada = try client.ada
            let asked = try client.post(
                client.data("private", "assets/upload", user: ada),
                #"{"tokens":[{"fieldName":"photo","recordName":"note","recordType":"Note"}]}"#)
            let tokens = try AssetsUploadResponse(json: Array(asked.text.utf8)).tokens
            let url = try #require(tokens.first?.url.split(separator: "/asset/").last)
            let device = try RawConnection(port: guarded.server.port)
            let bytes = Array("a picture".utf8)
            let sent = try device.exchange("POST", "/asset/\(url)", body: bytes)
            let file = try #require(sent.text.split(separator: #"{"singleFile":"#).first?.dropLast())
            let saved = try client.post(
                client.data("private", "records/modify", user: ada),
                #"{"operations":[{"operationType":"create","record":{"recordName":"note","recordType":"Note","#
                    + #""fields":{"photo":{"value":\#(file)}}}}]}"#)
            #expect(saved.status == 200 && saved.text.contains("downloadURL"), "\(saved.text)")
            let line = try #require(try guarded.control.auditLog.lines(linesMax: 2).last)
            #expect(line.action == .filesSent && line.names == ["note"] && line.outcome == .done)
            let seen = try device.exchange(
                "POST",
                guarded.target(
                    "private/records/lookup", apiToken: guarded.openToken, session: guarded.session),
                body: Array(#"{"records":[{"recordName":"note"}]}"#.utf8))
            #expect(seen.text.contains(#""size":9"#), "\(seen.text)")
        }
    }

    @Test func readingAsAUserIsInTheAuditLogOnceInAWhile() async throws {
        let clock = ManualTimeSource(milliseconds: 1_700_000_000_000)
        try await withGuardedServer(configure: { $0.clock = clock }) { guarded in
            let client = try OperatorClient(guarded, role: .look)
            let path = client.data("private", "zones/list", user: try client.ada)
            for _ in 0..<3 { #expect(try client.post(path).status == 200) }
            #expect(try guarded.control.auditLog.lines(linesMax: 10).map(\.action) == [.lookAsUser])
            clock.advance(bySeconds: Double(900_001) / 1_000)
            #expect(try client.post(path).status == 200)
            #expect(try guarded.control.auditLog.lines(linesMax: 10).count == 2)
        }
    }

    @Test func aRefusedZoneIsRefusedInTheAuditLogToo() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            let path = client.data("private", "zones/modify", user: try client.ada)
            let nope = #"{"operations":[{"operationType":"delete","zone":{"zoneID":{"zoneName":"nope"}}}]}"#
            #expect(try client.post(path, nope).status == 200)
            let line = try #require(try guarded.control.auditLog.lines(linesMax: 1).first)
            #expect(line.outcome == .refused && line.note == "1 ZONE_NOT_FOUND" && line.names == ["nope"])
        }
    }

    @Test func whatIsAskedOfNoContainerIsNotInTheAuditLog() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            let path = "iCloud.not.there/development/private/zones/list?user=\(try client.ada)"
            #expect(try client.post(path).status == 404)
            #expect(try guarded.control.auditLog.lines(linesMax: 1).isEmpty)
        }
    }

    @Test func anAdministratorLooksAsSoManyUsersAnHour() async throws {
        let clock = ManualTimeSource(milliseconds: 1_700_000_000_000)
        try await withGuardedServer(configure: { $0.clock = clock }) { guarded in
            let client = try OperatorClient(guarded, role: .look)
            let statuses = try (0...OperatorData.looksOfHourMax).map { number in
                if number % 50 == 0 { clock.advance(bySeconds: 5) }
                let digits = String(number)
                let user = "_" + String(repeating: "0", count: 32 - digits.count) + digits
                return try client.post(client.data("private", "zones/list", user: user)).status
            }
            #expect(statuses.dropLast().allSatisfy { $0 == 200 } && statuses.last == 429)
            clock.advance(bySeconds: 3_600)
            #expect(try client.post(client.data("private", "zones/list", user: client.ada)).status == 200)
        }
    }

    @Test func onlyDataHasLargeBodies() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            let spaces = String(repeating: " ", count: 100_000)
            #expect(try client.post(client.data("public", "records/modify"), "{\(spaces)}").status == 400)
            let refused = try client.post("session", "{\(spaces)}").text
            #expect(refused.contains("LimitExceeded"))
        }
    }

    @Test func anAdministratorsRequestsAreRateLimited() async throws {
        let clock = ManualTimeSource(milliseconds: 1_700_000_000_000)
        try await withGuardedServer(configure: { $0.clock = clock }) { guarded in
            let client = try OperatorClient(guarded, role: .look)
            let other = try OperatorClient(guarded, role: .change)
            let statuses = try (0..<140).map { _ in try client.get("containers").status }
            #expect(statuses.contains(429))
            #expect(try other.get("containers").status == 200, "another administrator doesn't")
        }
    }

    @Test func operatorsWaitInOneLineAndOfTooManyTheRestIsRefused() {
        let gate = OperatorGate()
        let order = Lock<[Int]>([])
        let taken = (0..<100).map { number in gate.enter { order.withLock { $0.append(number) } } }
        #expect(taken.count { $0 } == OperatorGate.runningMax + OperatorGate.waitingMax)
        #expect(order.withLock { $0 } == [0, 1, 2, 3])
        for _ in 0..<4 { gate.leave() }
        #expect(order.withLock { $0 } == Array(0..<8))
        for _ in 0..<64 { gate.leave() }
        #expect(order.withLock { $0.count } == 68)
        #expect(gate.enter {})
    }

    @Test func theSchemaSaysWhichIndexesAFieldHas() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            _ = try client.post(client.data("public", "records/modify"), Self.save("news"))
            let schema = try client.get("\(RawDevice.container)/development/schema").text
            #expect(schema.contains(#""isSortable":"#) && schema.contains("DEFINE SCHEMA"))
            #expect(schema.contains(#""name":"Note""#) && schema.contains(#""name":"text""#))
            #expect(try client.get("iCloud.nobody/development/schema").status == 404)
        }
    }

    @Test func accountsAreFoundByTheBeginningOfTheirNamesAPageAtATime() async throws {
        try await withGuardedServer { guarded in
            for number in 0..<60 {
                _ = try guarded.control.accounts.add(name: "bob\(number)", passwordHash: "x")
            }
            let client = try OperatorClient(guarded, role: .look)
            let path = "\(RawDevice.container)/accounts"
            let first = try client.get("\(path)?named=BOB").text
            #expect(first.ranges(of: #""userRecordName""#).count == AccountsPage.accountsMax)
            #expect(first.contains(#""after":"bob53""#))
            let second = try client.get("\(path)?named=bob&after=bob53").text
            #expect(second.ranges(of: #""userRecordName""#).count == 10 && second.contains(#""after":null"#))
            let byRecord = try client.get("\(path)?named=\(client.ada)").text
            #expect(byRecord.ranges(of: #""userRecordName""#).count == 1 && byRecord.contains("ada"))
        }
    }
}
