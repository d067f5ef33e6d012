import CloudService
import CloudStore
import CloudWire
import System
import Testing

@Suite struct AccessTests {
    let cloud: TestService

    init() throws {
        cloud = TestService()
        try cloud.zones(.create)
        try cloud.modify([operation(.create, "secret")])
    }

    private let modify =
        #"{"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"t"}}]}"#

    @Test(arguments: ["bob"]) func anotherUsersZoneIsNotFoundByNameOrByOwner(user: String) throws {
        for zone in [TestService.zone, ZoneID(zoneName: "todos", ownerRecordName: "_ada")] {
            #expect(try cloud.lookup(["secret"], zone: zone, token: user).summaries == ["ZONE_NOT_FOUND"])
            #expect(
                try cloud.modify([operation(.forceUpdate, "secret")], zone: zone, token: user).summaries
                    == ["ZONE_NOT_FOUND"])
            let error = try #require(throws: WireError.self) { try cloud.changes(zone: zone, user: user) }
            #expect(error.serverErrorCode == .zoneNotFound && error.ckErrorCode == 26)
            let zones = try cloud.ask(
                "zones/lookup", ZonesLookupRequest(zones: [zone]), as: ZonesLookupResponse.self, token: user)
            guard case .error(let refusal) = try #require(zones.zones.first) else {
                Issue.record("\(zones)")
                return
            }
            #expect(refusal.serverErrorCode == .zoneNotFound && refusal.zoneID == zone)
        }
        try cloud.zones(.create, token: user)
        let adas = ZoneID(zoneName: "todos", ownerRecordName: "_ada")
        #expect(try cloud.lookup(["secret"], zone: adas, token: user).summaries == ["ZONE_NOT_FOUND"])
        #expect(try cloud.lookup(["secret"], token: user).summaries == ["NOT_FOUND"])
        #expect(try cloud.lookup(["secret"]).summaries == ["saved"])
    }

    @Test func ownersMayBeSpelledAsTheFrameworkSpellsThem() throws {
        for owner in [nil, "", "__defaultOwner__", "_ada"] {
            let zone = ZoneID(zoneName: "todos", ownerRecordName: owner)
            #expect(try cloud.lookup(["secret"], zone: zone).summaries == ["saved"])
        }
    }

    @Test func whoHasNotSignedInMayOnlyReadPublicRecords() throws {
        for endpoint in [
            "records/modify", "records/lookup", "changes/database", "changes/zone", "zones/list",
            "zones/lookup",
            "zones/modify",
        ] {
            let error = try cloud.refusal(endpoint, "{}", token: nil)
            #expect(error.serverErrorCode == .authenticationRequired && error.ckErrorCode == 9)
        }
        for endpoint in ["records/modify", "zones/lookup", "users/caller"] {
            let error = try cloud.refusal(endpoint, modify, database: "public", token: nil)
            #expect(error.serverErrorCode == .authenticationRequired)
        }
        try cloud.modify([operation(.create, "news")], zone: nil, database: "public")
        #expect(try cloud.lookup(["news"], zone: nil, database: "public", token: nil).summaries == ["saved"])
    }

    @Test func anUnknownTokenIsRefusedEvenWhereNoneIsNeeded() throws {
        for database in ["private", "public"] {
            let error = try cloud.refusal("records/lookup", "{}", database: database, token: "mallory")
            #expect(error.serverErrorCode == .authenticationFailed)
        }
    }

    @Test func aPublicRecordIsForAllToReadAndForItsMakerToChange() throws {
        try cloud.modify([operation(.create, "news")], zone: nil, database: "public")
        #expect(
            try cloud.lookup(["news"], zone: nil, database: "public", token: "bob").summaries == ["saved"])
        for kind in [RecordOperation.Kind.forceUpdate, .forceReplace, .forceDelete, .update, .delete] {
            let results = try cloud.modify(
                [operation(kind, "news")], zone: nil, database: "public", token: "bob")
            #expect(results.summaries == ["ACCESS_DENIED"] && results[0].error?.ckErrorCode == 10)
        }
        #expect(
            try cloud.modify([operation(.create, "other")], zone: nil, database: "public", token: "bob")
                .summaries == ["saved"])
        #expect(
            try cloud.modify([operation(.forceDelete, "news")], zone: nil, database: "public").summaries == [
                "deleted"
            ])
    }

    @Test func endpointsThatDontApplyToADatabaseSaySo() throws {
        for (endpoint, database) in [
            ("changes/database", "public"), ("changes/zone", "public"), ("zones/modify", "public"),
            ("zones/modify", "shared"), ("users/caller", "private"),
        ] {
            let error = try cloud.refusal(endpoint, "{}", database: database)
            #expect(error.serverErrorCode == .badRequest)
            #expect(
                error.reason
                    == "BadRequestException: endpoint not applicable in the database type '\(database)db'")
        }
    }

    @Test func theSharedDatabaseIsEmpty() throws {
        let zones = try cloud.ask(
            "zones/list", ZonesListRequest(), as: ZonesListResponse.self, database: "shared")
        #expect(zones.zones == [])
        let changes = try cloud.ask(
            "changes/database", ChangesDatabaseRequest(), as: ChangesDatabaseResponse.self, database: "shared"
        )
        #expect(changes.zones == [] && changes.moreComing == false && changes.syncToken != nil)
        let again = try cloud.ask(
            "changes/database", ChangesDatabaseRequest(syncToken: changes.syncToken),
            as: ChangesDatabaseResponse.self, database: "shared")
        #expect(again.zones == [])
        #expect(try cloud.lookup(["x"], database: "shared").summaries == ["ZONE_NOT_FOUND"])
    }

    @Test func theCallerIsAFlatIdentity() throws {
        let ada = try cloud.ask(
            "users/caller", ZonesListRequest(), as: UsersCallerResponse.self, database: "public")
        #expect(ada.userRecordName == "_ada" && ada.nameComponents?.givenName == "Ada")
        let response = cloud.service.respond(
            to: cloud.request("users/caller", [], database: "public", token: "bob", extras: false))
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"userRecordName":"_bob"}"#)
    }
}

@Suite struct AccountsTests {
    /// Tokens of one container, as accounts in a file are.
    private struct StrictAccounts: ServiceAccounts {
        struct CannotRead: Error {}

        func user(webAuthToken: String, container: CloudService.Container) throws -> ServiceUser? {
            if webAuthToken == "unreadable" { throw CannotRead() }
            return webAuthToken == "ada" && container == TestService.container ? TestService.ada : nil
        }

        func admits(apiToken: String?, container: CloudService.Container) -> Bool {
            apiToken == "app" && container == TestService.container
        }
    }

    private func status(apiToken: String?, token: String?, container: CloudService.Container? = nil) throws
        -> Int
    {
        try response(apiToken: apiToken, token: token, container: container).status
    }

    private func response(apiToken: String?, token: String?, container: CloudService.Container? = nil) throws
        -> WireResponse
    {
        let cloud = TestService()
        let service = CloudService(
            store: MemoryCloudStore(), clock: cloud.clock, random: SeededRandomSource(seed: 1),
            accounts: StrictAccounts())
        var request = cloud.request("users/caller", [], database: "public", token: token)
        if let container {
            request.path = "/database/1/\(container.identifier)/\(container.environment)/public/users/caller"
        }
        if let apiToken { request.query.append((WireHeader.apiTokenItem, apiToken)) }
        return service.respond(to: request)
    }

    @Test func theRefusalOfAnAPITokenNamesItAndTheContainerAndSaysWhereToLook() throws {
        for (apiToken, words) in [(nil, "No API token"), ("other", "doesn't know this API token")] {
            let error = try WireError(json: response(apiToken: apiToken, token: "ada").body)
            #expect(error.serverErrorCode == .authenticationFailed)
            for part in [words, "CLOUDKIT_API_TOKEN", "`yap token list`"] {
                #expect(error.reason?.contains(part) == true, "\(error.reason ?? "")")
            }
        }
        let named = try WireError(json: response(apiToken: "other", token: nil).body).reason
        #expect(named?.contains(TestService.container.identifier) == true)
    }

    @Test func anAppWithoutAKnownAPITokenIsRejectedForAnyUser() throws {
        #expect(try status(apiToken: "app", token: "ada") == 200)
        #expect(try status(apiToken: nil, token: "ada") == 401)
        #expect(try status(apiToken: "other", token: "ada") == 401)
        #expect(try status(apiToken: "other", token: nil) == 401)
        #expect(try status(apiToken: "app", token: nil) == 421)
    }

    @Test func theAccountsAreAskedForTheContainerOfThePath() throws {
        let other = CloudService.Container(identifier: "iCloud.com.example.other")
        #expect(try status(apiToken: "app", token: "ada", container: other) == 401)
    }

    @Test func accountsThatCannotBeReadAreAnInternalError() throws {
        #expect(try status(apiToken: "app", token: "unreadable") == 500)
        #expect(try status(apiToken: "app", token: "mallory") == 401)
    }
}
