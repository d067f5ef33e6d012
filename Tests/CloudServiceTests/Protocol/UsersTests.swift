import CloudService
import CloudStore
import CloudWire
import System
import Testing

/// Who asks, and who lets others find them.
@Suite struct UsersTests {
    private let cloud: TestService

    init() {
        let clock = ManualTimeSource()
        let ada = ServiceUser(
            userRecordName: "_ada", givenName: "Ada", familyName: "Lovelace", emailAddress: "Ada@example.com")
        let service = CloudService(
            store: MemoryCloudStore(), clock: clock, random: SeededRandomSource(seed: 1),
            container: TestService.container, users: ["ada": ada, "bob": TestService.bob])
        cloud = TestService(service: service, clock: clock)
    }

    private func ask(
        _ endpoint: String, _ body: String = "", method: String = "POST", user: String? = "bob",
        database: String = "public"
    ) -> String {
        var request = cloud.request(
            endpoint, Array(body.utf8), database: database, token: user, extras: false)
        request.method = method
        let response = cloud.service.respond(to: request)
        return "\(response.status) " + String(decoding: response.body, as: UTF8.self)
    }

    private let both = #"{"lookupInfos":[{"emailAddress":"ada@EXAMPLE.com"},{"userRecordName":"_ada"}]}"#

    @Test func aUserIsFoundByAddressAndNameOnlyWhileTheyLetOthers() {
        #expect(ask("users/discover", both) == #"200 {"users":[]}"#)
        #expect(
            ask("users/discoverability", #"{"discoverable":true}"#, user: "ada")
                == #"200 {"discoverable":true,"listed":false}"#)
        let name = #""userRecordName":"_ada","nameComponents":{"givenName":"Ada","familyName":"Lovelace"}"#
        #expect(
            ask("users/discover", both)
                == "200 {\"users\":[{\(name),\"lookupInfo\":{\"emailAddress\":\"ada@EXAMPLE.com\"}},"
                + "{\(name),\"lookupInfo\":{\"userRecordName\":\"_ada\"}}]}")
        #expect(
            ask("users/discoverability", #"{"discoverable":false}"#, user: "ada")
                == #"200 {"discoverable":false,"listed":false}"#)
        #expect(ask("users/discover", both) == #"200 {"users":[]}"#)
    }

    @Test func theOlderEndpointsFindTheSame() {
        _ = ask("users/discoverability", #"{"discoverable":true}"#, user: "ada")
        let user = #""userRecordName":"_ada","firstName":"Ada","lastName":"Lovelace""#
        // The address is told only to who knows it.
        #expect(
            ask(
                "users/lookup/email",
                #"{"users":[{"emailAddress":"ada@example.com"},{"emailAddress":"x@y"}]}"#)
                == "200 {\"users\":[{\(user),\"emailAddress\":\"ada@example.com\"}]}")
        #expect(
            ask("users/lookup/id", #"{"users":[{"userRecordName":"_none"},{"userRecordName":"_ada"}]}"#)
                == "200 {\"users\":[{\(user)}]}")
        #expect(ask("users/current", method: "GET", user: "ada") == "200 {\(user)}")
        #expect(ask("users/current") == #"200 {"userRecordName":"_bob"}"#)
    }

    @Test func onlyListedUsersAreFoundByEveryone() {
        for endpoint in ["users/discover", "users/lookup/contacts"] {
            for method in ["GET", "POST"] {
                _ = ask("users/discoverability", #"{"discoverable":true}"#, user: "ada")
                #expect(ask(endpoint, method: method) == #"200 {"users":[]}"#)
                _ = ask("users/discoverability", #"{"discoverable":true,"listed":true}"#, user: "ada")
                #expect(ask(endpoint, method: method).contains("_ada"))
            }
        }
        #expect(
            ask("users/discoverability", method: "GET", user: "ada")
                == #"200 {"discoverable":true,"listed":true}"#)
        #expect(
            ask("users/discoverability", #"{"discoverable":false,"listed":true}"#, user: "ada")
                == #"200 {"discoverable":false,"listed":false}"#)
    }

    @Test func everybodyFindsThemselves() {
        #expect(
            ask("users/lookup/id", #"{"users":[{"userRecordName":"_bob"}]}"#)
                == #"200 {"users":[{"userRecordName":"_bob"}]}"#)
    }

    @Test(arguments: [
        "users/caller", "users/current", "users/discover", "users/lookup/email", "users/lookup/id",
        "users/lookup/contacts", "users/discoverability",
    ])
    func usersAreInThePublicDatabaseAndNeedASignIn(_ endpoint: String) {
        let refused = ask(endpoint, database: "private")
        #expect(
            refused.hasPrefix("400 ")
                && refused.contains(
                    "BadRequestException: endpoint not applicable in the database type 'privatedb'")
        )
        #expect(ask(endpoint, user: nil).hasPrefix("421 "))
        #expect(ask(endpoint, user: "none").hasPrefix("401 "))
    }

    @Test func lookupsWithoutAUserAreRejected() {
        for (endpoint, body) in [
            ("users/discover", #"{"lookupInfos":[{}]}"#), ("users/lookup/email", #"{"users":[{}]}"#),
            ("users/lookup/id", #"{"users":[{"emailAddress":"x@y"}]}"#), ("users/lookup/id", "{}"),
        ] {
            #expect(ask(endpoint, body).hasPrefix("400 "), "\(endpoint) \(body)")
        }
        #expect(ask("users/discover", #"{"lookupInfos":[{"phoneNumber":"1"}]}"#) == #"200 {"users":[]}"#)
    }
}
