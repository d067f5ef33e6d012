import CloudStore
import CloudWire
import Foundation
import SQLiteTestSupport
import System
import Testing

@testable import CloudServer

@Suite struct OperatorRequestsTests {
    @Test func theIDOfAnAuditLineLeadsToTheRequestOfTheAdministrator() async throws {
        try await withGuardedServer { guarded in
            let scene = try HistoryScene(guarded, role: .change)
            let ada = try scene.client.ada
            let path = scene.client.data("private", "records/modify", user: ada)
            _ = try scene.client.post(path, HistoryScene.save("note"))
            _ = try scene.client.post(scene.client.data("private", "zones/list", user: ada))
            let ids = try guarded.control.auditLog.lines(linesMax: 10).compactMap(\.requestID)
            try #require(ids.count == 2)
            let change = try scene.get("requests/\(ids[1])")["request"]
            #expect(change["administrator"].text == "change" && change["user"].text == ada)
            #expect(
                change["operation"].text == "operator/records/modify" && change["database"].text == "private")
            #expect(change["container"].text == RawDevice.container)
            #expect(change["records"].array.first?["name"].text == "note")
            let look = try scene.get("requests/\(ids[0])")["request"]
            #expect(look["operation"].text == "operator/zones/list")
        }
    }

    @Test func ofReadsByAdministratorsOnlyThoseThatFailAreKept() async throws {
        try await withGuardedServer { guarded in
            let scene = try HistoryScene(guarded)
            _ = try scene.client.get("containers")
            _ = try scene.client.get("accounts/nobody")
            _ = try scene.client.post(scene.client.data("public", "records/query"), "{}")
            let kept = try scene.requests()
            #expect(kept.map { $0["operation"].text } == ["operator/records/query", "operator/accounts"])
            #expect(kept.allSatisfy { $0["administrator"].text == "look" })
            #expect(kept.map { $0["status"].number } == [400, 404])
        }
    }

    @Test func aSignInIsFoundByTheIDOfItsAuditLine() async throws {
        try await withGuardedServer { guarded in
            let scene = try HistoryScene(guarded, role: .administer)
            _ = try OperatorClient(guarded, role: .look)
            try OperatorClient.setPassword(of: "look", guarded.control)
            let client = try OperatorClient(guarded)
            for password in ["another sentence", OperatorClient.password] {
                _ = try client.post("session", #"{"name":"look","password":"\#(password)"}"#)
            }
            try client.waitForSummaries()
            let lines = try guarded.control.auditLog.lines(linesMax: 10)
            try #require(lines.map(\.action) == [.signIn, .signInRefused])
            for line in lines {
                let id = try #require(line.requestID)
                let request = try scene.get("requests/\(id)")["request"]
                #expect(request["operation"].text == "operator/session")
                #expect(request["administrator"].text == "look")
            }
        }
    }

    @Test func failedReadsOfAnAdministratorPushNoRequestsOfAppsOut() async throws {
        let clock = ManualTimeSource(milliseconds: 1_700_000_000_000)
        try await withGuardedServer(configure: { $0.clock = clock }) { guarded in
            let scene = try HistoryScene(guarded)
            for _ in 0..<620 {
                clock.advance(bySeconds: 0.1)
                #expect(try scene.client.get("iCloud.none/development/backlog").status == 404)
            }
            let kept = try scene.requests("administrator=*&limit=200")
            #expect(kept.count == 200 && kept.allSatisfy { $0["status"].number == 404 })
            let pages = try (0..<5).reduce(into: (count: 0, before: Int64.max)) { found, _ in
                let page = try scene.get("requests?administrator=*&limit=200&before=\(found.before)")
                found.count += page["requests"].array.count
                found.before = page["before"].number ?? 0
            }
            #expect(pages.count == 600)
        }
    }

    @Test func whatIsNoUserIsNotInTheHistory() async throws {
        try await withGuardedServer { guarded in
            let scene = try HistoryScene(guarded)
            let place = "\(RawDevice.container)/development"
            #expect(try scene.client.get("\(place)/devices?user=my%20secret").status == 400)
            let request = try #require(try scene.requests("administrator=*").first)
            #expect(request["user"] == .null && request["status"].number == 400)
            #expect(!"\(request)".contains("secret"))
        }
    }

    @Test func requestsOfAdministratorsAreInNoChartAndNoDevice() async throws {
        try await withGuardedServer { guarded in
            let scene = try HistoryScene(guarded, role: .change)
            let ada = try scene.client.ada
            _ = try scene.client.post(
                scene.client.data("private", "records/modify", user: ada), HistoryScene.save("note"))
            #expect(try scene.requests().count == 1)
            let live = try scene.get("live")
            #expect(live["points"].array.isEmpty && live["operations"].array.isEmpty)
            let sync = try scene.get("\(RawDevice.container)/development/sync")
            #expect(sync["users"].array.isEmpty)
        }
    }

    @Test func aChangeThatTheRoleDoesNotAllowIsInTheAuditLogAndReadsAreNot() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .look)
            let path = client.data("private", "records/modify", user: try client.ada)
            #expect(try client.post(path, HistoryScene.save("note")).status == 403)
            #expect(try client.post("accounts/delete", #"{"name":"ada"}"#).status == 403)
            #expect(
                try client.post("\(RawDevice.container)/development/schema/check", #"{"text":""}"#).status
                    == 200)
            let lines = try guarded.control.auditLog.lines(linesMax: 10)
            #expect(
                lines.map(\.action) == [.refused, .refused] && lines.allSatisfy { $0.outcome == .refused })
            #expect(lines.map(\.note) == ["accounts/delete", "records/modify"])
            #expect(lines.map(\.container) == [nil, RawDevice.container])
        }
    }

    @Test func refusedChangesPushNoOtherLinesOutOfTheAuditLog() async throws {
        let clock = ManualTimeSource(milliseconds: 1_700_000_000_000)
        try await withGuardedServer(configure: { $0.clock = clock }) { guarded in
            let client = try OperatorClient(guarded, role: .look)
            for _ in 0..<(HourlyLimit.perHour + 20) {
                #expect(try client.post("accounts/delete", #"{"name":"ada"}"#).status == 403)
            }
            #expect(try guarded.control.auditLog.lines(linesMax: 200).count == HourlyLimit.perHour)
            clock.advance(bySeconds: 3_600)
            _ = try client.post("accounts/delete", #"{"name":"ada"}"#)
            #expect(try guarded.control.auditLog.lines(linesMax: 200).count == HourlyLimit.perHour + 1)
        }
    }

    @Test func theHistoryOfARecordIsWhatChangedItAndNothingElse() async throws {
        try await withGuardedServer { guarded in
            let scene = try HistoryScene(guarded, role: .change)
            _ = try scene.ask("private/zones/modify", HistoryScene.makeZone("Work"))
            let (_, first) = try scene.ask("private/records/modify", HistoryScene.save("a", zone: "Work"))
            _ = try scene.ask("private/records/modify", HistoryScene.save("ab", zone: "Work"))
            _ = try scene.ask("private/records/modify", HistoryScene.save("a"))
            // A record whose name is what JSON has to escape.
            _ = try scene.ask("private/records/modify", HistoryScene.save(#"q\"z"#, zone: "Work"))
            _ = try scene.client.post(
                scene.client.data("private", "records/modify", user: try scene.client.ada),
                HistoryScene.save("a", zone: "Work"))
            let place = "container=\(RawDevice.container)&environment=development&database=private"
            let ada = try scene.client.ada
            let found = try scene.requests("\(place)&user=\(ada)&zone=Work&record=a")
            #expect(found.map { $0["operation"].text } == ["operator/records/modify", "records/modify"])
            #expect(found.last?["id"].text == first)
            #expect(found.allSatisfy { $0["records"].array.map { $0["name"].text } == ["a"] })
            #expect(try scene.requests("\(place)&zone=Work&record=q%22z").count == 1)
            #expect(try scene.requests("\(place)&record=a").count == 3)
            #expect(try scene.requests("administrator=change").count == 1)
            #expect(try scene.requests("administrator=*").count == 1)
            #expect(try scene.requests("administrator=other").isEmpty)
            #expect(try scene.requests("administrator=*&record=a&database=public").isEmpty)
        }
    }
}
