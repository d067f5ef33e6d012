import CloudService
import CloudStore
import CloudWire
import Crypto
import System
import Testing

/// Programs that sign their requests with a key of their own.
@Suite struct ServerKeyTests {
    private struct KeyAccounts: ServiceAccounts {
        let keys: [String: ServiceServerKey]

        func user(webAuthToken: String, container: CloudService.Container) -> ServiceUser? {
            webAuthToken == "ada" ? TestService.ada : nil
        }

        func admits(apiToken: String?, container: CloudService.Container) -> Bool {
            apiToken == nil || apiToken == "app"
        }

        func serverKey(_ keyID: String, container: CloudService.Container) -> ServiceServerKey? {
            container == TestService.container ? keys[keyID] : nil
        }
    }

    private static let user = "_0123456789abcdef0123456789abcdef"
    private let key: P256PrivateKey
    private let clock = ManualTimeSource(milliseconds: 1_453_760_143_000)
    private let service: CloudService

    private let store = MemoryCloudStore()

    init() throws {
        key = try P256PrivateKey()
        service = Self.service(store, clock, key)
    }

    /// The service of a server that has just been started.
    private static func service(
        _ store: MemoryCloudStore, _ clock: ManualTimeSource, _ key: P256PrivateKey
    ) -> CloudService {
        CloudService(
            store: store, clock: clock, random: SeededRandomSource(seed: 1), container: TestService.container,
            accounts: KeyAccounts(
                keys: ["key": ServiceServerKey(publicKey: key.publicKey, userRecordName: user)]))
    }

    private static let prefix =
        "/database/1/\(TestService.container.identifier)/\(TestService.container.environment)/"

    /// A request that is signed, then changed.
    private func signed(
        _ endpoint: String = "public/records/lookup", query: String = "",
        body: String = #"{"records":[{"recordName":"a"}]}"#, date: String = "2016-01-25T22:15:43Z",
        keyID: String = "key", method: String = "POST", hash: String? = nil, with key: P256PrivateKey? = nil
    ) throws -> WireRequest {
        let path = Self.prefix + endpoint
        let bytes = Array(body.utf8)
        let hash = try hash ?? SignedRequest.base64(SHA256.hash(bytes))
        let message = "\(date):\(hash):\(path)\(query)"
        let signature = try (key ?? self.key).signature(of: Array(message.utf8))
        return WireRequest(
            method: method, path: path,
            headers: [
                (WireHeader.keyID.lowercased(), keyID), (WireHeader.signedDate, date),
                (WireHeader.signature, SignedRequest.base64(signature)),
            ], body: bytes, rawTarget: path + query)
    }

    private func code(_ request: WireRequest) throws -> String {
        let response = service.respond(to: request)
        return response.status == 200 ? "200" : try WireError(json: response.body).serverErrorCode.rawValue
    }

    @Test func whatIsSignedByTheKeyIsTaken() throws {
        #expect(try code(signed()) == "200")
        #expect(try code(signed(query: "?ckjsVersion=2.6.4&clientId=a%2Bb")) == "200")
        #expect(try code(signed("public/users/caller", body: "", method: "GET")) == "200")
        // Of a body without bytes some clients write no hash.
        #expect(try code(signed("public/users/caller", body: "", hash: "")) == "200")
    }

    @Test func whatWasChangedAfterwardsIsRefused() throws {
        var request = try signed()
        request.body.append(0x20)
        #expect(try code(request) == "AUTHENTICATION_FAILED")
        request = try signed()
        request.rawTarget? += "?x=1"
        #expect(try code(request) == "AUTHENTICATION_FAILED")
        request = try signed()
        request.headers[1].value = "2016-01-25T22:15:44Z"
        #expect(try code(request) == "AUTHENTICATION_FAILED")
        request = try signed()
        request.rawTarget = nil
        #expect(try code(request) == "AUTHENTICATION_FAILED")
        for missing in 0..<3 {
            request = try signed()
            request.headers.remove(at: missing)
            // Without a key's name and a signature it is a request of nobody, who may look up.
            if missing == 1 { #expect(try code(request) == "AUTHENTICATION_FAILED") }
            request = try signed(#"public/records/modify"#, body: #"{"operations":[]}"#)
            request.headers.remove(at: missing)
            #expect(try code(request) != "200")
        }
        #expect(try code(signed(hash: "")) == "AUTHENTICATION_FAILED")
    }

    @Test func unknownAndRevokedKeysAndWrongSignaturesGetOneAnswer() throws {
        let unknown = service.respond(to: try signed(keyID: "another"))
        let wrong = service.respond(to: try signed(with: P256PrivateKey()))
        let errors = try [unknown, wrong].map { response in
            var error = try WireError(json: response.body)
            error.uuid = nil
            return error
        }
        #expect(errors[0] == errors[1] && unknown.status == 401 && wrong.status == 401)
        #expect(errors[0].serverErrorCode == .authenticationFailed)
    }

    @Test(arguments: [
        ("2016-01-25T22:05:43Z", true), ("2016-01-25T22:05:42Z", false), ("2016-01-25T22:25:43Z", true),
        ("2016-01-25T22:25:44Z", false), ("2016-01-25", false), ("", false),
    ])
    func aDateCountsForTenMinutes(date: String, isTaken: Bool) throws {
        #expect(try code(signed(date: date)) == (isTaken ? "200" : "AUTHENTICATION_FAILED"))
    }

    @Test func aKeyAndATokenTogetherAreRefused() throws {
        for item in [(WireHeader.apiTokenItem, "app"), (WireHeader.webAuthTokenItem, "ada")] {
            var request = try signed()
            request.query = [item]
            #expect(try code(request) == "AUTHENTICATION_FAILED")
        }
    }

    @Test(arguments: ["private", "shared"]) func aKeyIsForThePublicDatabaseOnly(database: String) throws {
        for endpoint in ["records/modify", "records/lookup", "zones/list", "changes/database"] {
            #expect(try code(signed("\(database)/\(endpoint)", body: "{}")) == "AUTHENTICATION_FAILED")
        }
        #expect(try code(signed("public/users/discover", body: "{}")) == "AUTHENTICATION_FAILED")
    }

    @Test func aKeyIsForItsOwnContainerOnly() throws {
        let other = CloudService(
            store: MemoryCloudStore(), clock: clock, random: SeededRandomSource(seed: 1),
            accounts: KeyAccounts(
                keys: ["key": ServiceServerKey(publicKey: key.publicKey, userRecordName: Self.user)]))
        var request = try signed()
        #expect(other.respond(to: request).status == 200)
        let path = "/database/1/iCloud.com.example.other/development/public/records/lookup"
        let message = "2016-01-25T22:15:43Z:\(SignedRequest.base64(try SHA256.hash(request.body))):\(path)"
        request.path = path
        request.rawTarget = path
        request.headers[2].value = SignedRequest.base64(try key.signature(of: Array(message.utf8)))
        #expect(other.respond(to: request).status == 401)
    }

    @Test func whatAKeyMakesIsItsUsersAndAChangeIsMadeOnce() throws {
        let body =
            #"{"operations":[{"operationType":"forceUpdate","record":{"recordName":"a","recordType":"t"}}]}"#
        let change = try signed("public/records/modify", body: body)
        let made = try RecordsModifyResponse(json: service.respond(to: change).body)
        guard case .record(let record) = made.records.first else {
            Issue.record("\(made)")
            return
        }
        #expect(record.created?.userRecordName == Self.user)
        // Overheard and sent again, also with another signature of the same words.
        #expect(try code(change) == "AUTHENTICATION_FAILED")
        #expect(try code(signed("public/records/modify", body: body)) == "AUTHENTICATION_FAILED")
        #expect(
            try code(signed("public/records/modify", body: body, date: "2016-01-25T22:15:44Z")) == "200")
        // A read changes nothing, and may come again.
        let read = try signed()
        #expect(try code(read) == "200" && code(read) == "200")
    }

    @Test func aSignedChangeIsMadeOnceThoughTheServerWasStartedAnew() throws {
        let body =
            #"{"operations":[{"operationType":"forceUpdate","record":{"recordName":"a","recordType":"t"}}]}"#
        let change = try signed("public/records/modify", body: body)
        #expect(service.respond(to: change).status == 200)
        let next = Self.service(store, clock, key)
        let again = next.respond(to: change)
        #expect(again.status == 401)
        #expect(try WireError(json: again.body).reason?.contains("executed already") == true)
        let anew = try signed("public/records/modify", body: body, date: "2016-01-25T22:15:44Z")
        #expect(next.respond(to: anew).status == 200)
    }

    @Test func aSignedChangeIsForgottenOnlyWhenItsDateIsTooOld() throws {
        let body = #"{"operations":[]}"#
        let late = try signed("public/records/modify", body: body, date: "2016-01-25T22:25:43Z")
        _ = service.respond(to: late)
        clock.advance(bySeconds: 1_200)
        #expect(try code(late) == "AUTHENTICATION_FAILED")
        let reason = try WireError(json: service.respond(to: late).body).reason
        #expect(reason?.contains("executed already") == true)
        clock.advance(bySeconds: 0.001)
        #expect(try WireError(json: service.respond(to: late).body).reason?.contains("10 minutes") == true)
    }
}
