import CloudStore
import CloudWire
import Testing

@testable import CloudServer

@Suite struct HistorySyncTests {
    private static func changes(_ token: String?) -> String {
        let token = token.map { #","syncToken":"\#($0)""# } ?? ""
        return #"{"zones":[{"zoneID":{"zoneName":"Work"}\#(token)}]}"#
    }

    private static func token(_ response: RawResponse) throws -> String {
        let zones = try JSONValue(json: response.body)["zones"].array
        return try #require(zones.first?["syncToken"].text)
    }

    @Test func aDeviceThatIsBehindIsListedWithTheNumberOfChanges() async throws {
        try await withGuardedServer { guarded in
            let scene = try HistoryScene(guarded)
            let (place, ada) = ("\(RawDevice.container)/development", try scene.client.ada)
            _ = try scene.ask("private/zones/modify", HistoryScene.makeZone("Work"))
            let unseen = try scene.get("\(place)/sync?user=\(ada)")["devices"].array
            #expect(unseen.first?["zones"].array.first?["state"].text == "never fetched")
            let (fetched, _) = try scene.ask("private/changes/zone", Self.changes(nil))
            _ = try Self.token(fetched)
            var zone = try #require(
                try scene.get("\(place)/sync?user=\(ada)")["devices"].array.first?["zones"].array.first)
            #expect(zone["state"].text == "up to date" && zone["behindCount"].number == 0)
            var saved = ""
            for name in ["a", "b", "c"] {
                (_, saved) = try scene.ask("private/records/modify", HistoryScene.save(name, zone: "Work"))
            }
            let answer = try scene.get("\(place)/sync?user=\(ada)")
            let device = try #require(answer["devices"].array.first)
            zone = try #require(device["zones"].array.first)
            #expect(zone["state"].text == "behind" && zone["behindCount"].number == 3)
            #expect(zone["behindIsCapped"] == .bool(false) && zone["lastSaveRequestID"].text == saved)
            #expect(zone["lastSaveCount"].number == 1)
            #expect(device["session"].text == (try guarded.control.sessions.list().first?.id))
            #expect(device["client"].text == "Notes/1.0")
            #expect(answer["zones"].array.first?["recordsCount"].number == 3)
            #expect(answer["zones"].array.first?["checksum"].text != nil)
            let users = try scene.get("\(place)/sync")["users"].array
            #expect(users.map { $0["userRecordName"].text } == [ada] && users[0]["account"].text == "ada")
        }
    }

    @Test func anErrorOfADeviceIsNamedWithItsRequest() async throws {
        try await withGuardedServer { guarded in
            let scene = try HistoryScene(guarded)
            _ = try scene.ask("private/zones/modify", HistoryScene.makeZone("Work"))
            let (_, id) = try scene.ask("private/changes/zone", Self.changes("nothing"))
            let ada = try scene.client.ada
            let device = try #require(
                try scene.get("\(RawDevice.container)/development/sync?user=\(ada)")["devices"].array.first)
            #expect(device["lastError"]["requestID"].text == id)
            #expect(device["zones"].array.first?["state"].text == "token expired")
        }
    }

    @Test func usersAreListedByWhatTheyHaveAndTheirZonesToo() async throws {
        try await withGuardedServer { guarded in
            let scene = try HistoryScene(guarded)
            let (place, ada) = ("\(RawDevice.container)/development", try scene.client.ada)
            #expect(try scene.get("\(place)/usage")["users"].array.isEmpty)
            _ = try scene.ask("private/zones/modify", HistoryScene.makeZone("Work"))
            _ = try scene.ask("private/records/modify", HistoryScene.save("a", zone: "Work"))
            _ = try scene.ask("private/records/modify", HistoryScene.save("b"))
            let user = try #require(try scene.get("\(place)/usage")["users"].array.first)
            #expect(user["userRecordName"].text == ada && user["account"].text == "ada")
            #expect(user["records"].number == 2 && user["bytes"].number ?? 0 > 0)
            #expect(user["bytesMax"].number == 5 << 30)
            let zones = try scene.get("\(place)/usage/zones?user=\(ada)")["zones"].array
            #expect(zones.map { $0["records"].number } == [1, 1])
            #expect(Set(zones.map { $0["zone"].text }) == ["Work", "_defaultZone"])
        }
    }

    @Test func aQueryWithoutItsIndexAndAFieldThatProductionLacksAreListed() async throws {
        try await withGuardedServer { guarded in
            let account = try #require(try guarded.control.accounts.find(named: "ada"))
            let made = try guarded.control.sessions.make(
                of: account, container: RawDevice.container, environment: "production")
            let scene = try HistoryScene(guarded)
            _ = try scene.ask("private/records/modify", HistoryScene.save("a"))
            let query =
                #"{"query":{"recordType":"Note","filterBy":[{"fieldName":"text","comparator":"EQUALS","#
                + #""fieldValue":{"value":"SECRET"}}],"sortBy":[{"systemFieldName":"createdTimestamp","#
                + #""ascending":false}]}}"#
            let (_, id) = try scene.ask("private/records/query", query)
            let production = try scene.app.exchange(
                "POST",
                guarded.target(
                    "private/records/modify", apiToken: guarded.openToken, session: made.token,
                    environment: "production"), headers: [("User-Agent", "Notes/2.0")],
                body: Array(HistoryScene.save("a").utf8))
            #expect(production.text.contains("production schema"))
            let slow = try scene.get("\(RawDevice.container)/development/slow")
            let line = try #require(slow["queries"].array.first)
            #expect(line["filters"].array == [.string("text EQUALS")])
            #expect(line["lastRequestID"].text == id && line["count"].number == 1)
            #expect(line["sorts"].array == [.string("createdTimestamp DESC")])
            #expect(line["missingIndexes"].array.first?["kind"].text == "SORTABLE")
            let missing = try scene.get("\(RawDevice.container)/production/slow")["missingInProduction"]
            #expect(missing.array.first?["recordType"].text == "Note")
            #expect(missing.array.first?["client"].text == "Notes/2.0")
        }
    }
}
