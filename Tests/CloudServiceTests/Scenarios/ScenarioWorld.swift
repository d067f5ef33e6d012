import CloudService
import CloudStore
import CloudWire
import Crypto
import System
import Testing

/// What every scenario begins with: three users, two zones of the first, and records that are public.
struct ScenarioWorld {
    static let users = [
        "ada": ServiceUser(
            userRecordName: "_ada", givenName: "Ada", familyName: "Lovelace", emailAddress: "ada@example.com"),
        "bob": ServiceUser(userRecordName: "_bob"), "carol": ServiceUser(userRecordName: "_carol"),
    ]

    let store: MemoryCloudStore
    let cloud: TestService
    private let environment: String
    private let accounts: ServiceAccountList
    /// What a body may name: `$notification()` and such.
    private var names: [String: String] = [:]

    init(_ setting: String?) throws {
        var limits = ServiceLimits()
        var groupLimits = GroupLimits()
        var settings = ServiceSettings()
        var environment = "development"
        var rates = ServiceRates.unlimited
        switch setting {
        case "one request a second": rates.user = .init(perSecond: 1, burst: 1)
        case "one request a second for all": rates.container = .init(perSecond: 1, burst: 1)
        case "a full quota": limits.assets.privateBytesMax = 1
        case "a file of a record", "a notification", "ada is found", "nobody looks for titles": break
        case "a child of a": break
        case "a child of a, and one ancestor": limits.ancestorsMax = 1
        case "one operation": limits.itemsMax = 1
        case "one subscription": limits.subscriptionsMax = 1
        case "nobody may wait": groupLimits.waitingRequestsMax = 0
        case "atomic failures are errors": settings.atomicFailureIsError = true
        case "zones are made once": settings.existingZone = .error
        case "deletes need tags": settings.deletesNeedTag = true
        case "production": environment = "production"
        case "a damaged record", nil: break
        case let unknown?: Issue.record("unknown setting \(unknown)")
        }
        let store = MemoryCloudStore()
        let clock = ManualTimeSource(milliseconds: 1_453_760_143_000)
        let accounts = ServiceAccountList(users: Self.users)
        let files = MemoryAssetStore(clock: clock)
        func service(
            _ environment: String, _ limits: ServiceLimits, _ group: GroupLimits,
            _ rates: ServiceRates = .unlimited
        ) -> CloudService {
            CloudService(
                store: store, clock: clock, random: SeededRandomSource(seed: 1),
                container: CloudService.Container(
                    identifier: TestService.container.identifier, environment: environment),
                accounts: accounts, limits: limits, groupLimits: group, settings: settings,
                assetFiles: files, rates: rates)
        }
        self.store = store
        self.environment = environment
        self.accounts = accounts
        cloud = TestService(service: service(environment, limits, groupLimits, rates), clock: clock)
        // What is there was made in development.
        let first = TestService(
            service: service("development", ServiceLimits(), GroupLimits()), clock: clock)
        try Self.fill(first)
        try Self.grant(store)
        try prepare(setting, first)
    }

    /// What some scenarios need beside.
    private mutating func prepare(_ setting: String?, _ first: TestService) throws {
        switch setting {
        case "a damaged record": try Self.damage(store)
        case "one request a second", "one request a second for all":
            let asked = cloud.service.respond(to: cloud.request("users/caller", [], database: "public"))
            #expect(asked.status == 200)
        case "a file of a record": try addFile(first)
        case "a child of a", "a child of a, and one ancestor":
            try first.modify([operation(.create, "kid", parent: "a")])
        case "a notification":
            names["$device()"] = try first.device("phone").apnsToken
            try first.watch("posts", type: "post", database: "public")
            try first.change(
                [operation(.create, "told", type: "post")], zone: nil, database: "public", user: "bob")
            names["$notification()"] = try first.list().notifications.first?.notificationID
        case "ada is found":
            accounts.setDiscoverability(
                ServiceDiscoverability(isDiscoverable: true, isListed: true), webAuthToken: "ada",
                container: TestService.container)
        case "nobody looks for titles":
            try Self.changeSchema(store) { $0.recordTypes["todo"]?.fields["title"]?.indexes = [] }
        default: break
        }
    }

    /// A record `f` whose field `file` holds three bytes, and `$receipt()`, good for the same in `x`.
    private mutating func addFile(_ first: TestService) throws {
        for name in ["f", "x"] {
            var request = first.request(
                "assets/upload",
                Array(
                    """
                    {"tokens":[{"fieldName":"file","recordType":"todo","recordName":"\(name)"}],
                    "zoneID":{"zoneName":"todos"}}
                    """.utf8))
            request.serverURL = "https://cloud.example.com"
            let answer = try first.read(
                first.service.respond(to: request), as: AssetsUploadResponse.self)
            let url = try #require(answer.tokens.first?.url)
            let upload = try first.service.beginUpload(
                ticket: String(try #require(url.split(separator: "?t=").last)))
            try upload.write([1, 2, 3])
            let asset = try upload.finish().singleFile
            names["$receipt()"] =
                #"{"fileChecksum":"\#(asset.fileChecksum ?? "")","size":\#(asset.size ?? 0),"#
                + #""wrappingKey":"\#(asset.wrappingKey ?? "")","#
                + #""referenceChecksum":"\#(asset.referenceChecksum ?? "")","receipt":"\#(asset.receipt ?? "")"}"#
            if name == "f" { try first.modify([operation(.create, "f", ["file": Field(.asset(asset))])]) }
        }
    }

    private static func fill(_ cloud: TestService) throws {
        try cloud.zones(.create, [TestService.zone, ZoneID(zoneName: "other")])
        try cloud.modify([
            operation(.create, "a", ["title": Field(.string("x")), "n": Field(.int64(1))]),
            operation(.create, "list"), operation(.create, "child", ["list": reference("list", .deleteSelf)]),
            operation(.create, "target"),
            operation(.create, "holder", ["Note": reference("target", .validate)]),
        ])
        try cloud.modify([operation(.create, "o")], zone: ZoneID(zoneName: "other"))
        try cloud.modify([operation(.create, "d")], zone: nil)
        try cloud.modify(
            [operation(.create, "pub", type: "post", ["n": Field(.int64(1))])], zone: nil, database: "public")
        try cloud.modify(
            [operation(.create, "news1", type: "news"), operation(.create, "secret1", type: "secret")],
            zone: nil,
            database: "public", token: "carol")
    }

    /// The editors, of whom Carol is one, write the news; the world reads them, but no secrets.
    private static func grant(_ store: MemoryCloudStore) throws {
        try changeSchema(store) { schema in
            schema.roles = ["editor"]
            schema.recordTypes["news"]?.grants = [
                SystemRole.world: .read, "editor": [.read, .create, .write],
            ]
            schema.recordTypes["secret"]?.grants = ["editor": [.read, .create, .write]]
        }
        try store.write { writer in
            var changes = StoreChanges()
            changes.roles = [UserRolesRow(user: "_carol", roles: ["editor"])]
            try writer.apply(changes)
        }
    }

    private static func changeSchema(
        _ store: MemoryCloudStore, _ change: (inout Schema) -> Void
    ) throws {
        try store.write { writer in
            var wanted = StoreLoad()
            wanted.schema = true
            guard let row = try writer.load(wanted).schema else { throw CloudStoreError.busy(path: "memory") }
            var schema = try Schema(row)
            change(&schema)
            var changes = StoreChanges()
            changes.schema = schema.row(version: row.version + 99)
            try writer.apply(changes)
        }
    }

    private static func damage(_ store: MemoryCloudStore) throws {
        let key = RecordKey(
            zone: ZoneKey(database: .privateDatabase(of: "_ada"), zoneName: "todos"), recordName: "a")
        try store.write { writer in
            var wanted = StoreLoad()
            wanted.records = [key]
            guard var row = try writer.load(wanted).records[key] else { return }
            row.fields = [0xFF]
            var changes = StoreChanges()
            changes.records = [row]
            try writer.apply(changes)
        }
    }

    // MARK: Asking

    func respond(to scenario: Scenario, extras: Bool = false) throws -> WireResponse {
        let container = TestService.container.identifier
        let isOfDevice = scenario.database == "device"
        let path =
            isOfDevice
            ? "/device/1/\(container)/\(environment)/\(scenario.endpoint)"
            : "/database/1/\(container)/\(environment)/\(scenario.database)/\(scenario.endpoint)"
        let request = WireRequest(
            method: scenario.method, path: path,
            query: (scenario.who == "nobody" ? [] : [("ckWebAuthToken", scenario.who)]) + scenario.query,
            headers: extras ? [(WireHeader.client, "1")] : [], body: Array(try filled(scenario.body).utf8),
            requestID: "00000000-0000-4000-8000-000000000000", serverURL: "https://cloud.example.com")
        _ = cloud.service.begin(request)
        let responses = cloud.service.commitGroup()
        return try #require(responses.first).response
    }

    func filled(_ body: String) throws -> String {
        var body = body
        for (name, key) in try records() { body.replace("$tag(\(name))", with: key) }
        for (name, value) in names { body.replace(name, with: value) }
        if body.contains("$token(todos)") {
            body.replace("$token(todos)", with: try cloud.zoneToken("todos", environment))
        }
        if body.contains("$token()") { body.replace("$token()", with: try cloud.databaseToken(environment)) }
        return body
    }

    // MARK: Looking

    /// Every record by zone and name, with its tag; every zone, subscription, notification and device, and who is
    /// found.
    func snapshot() throws -> [String: String] {
        var all = try records()
        try store.read { reader in
            for zone in try reader.zones(after: nil, zonesMax: 1_000).rows where !zone.isDeleted {
                all["zone:\(zone.key.zoneName)"] = "\(zone.epoch)"
            }
            var wanted = StoreLoad()
            wanted.subscriptionsIn = [.privateDatabase(of: "_ada"), .publicDatabase]
            for rows in try reader.load(wanted).subscriptions.values {
                for row in rows { all["subscription:\(row.key.subscriptionID)"] = "\(row.content)" }
            }
            let kept = try reader.notificationReader.notifications(
                of: "_ada", after: 0, notificationsMax: 100)
            for row in kept.rows { all["notification:\(row.notificationID)"] = "\(row.isRead)" }
            wanted = StoreLoad()
            wanted.devicesOf = ["_ada"]
            for row in try reader.load(wanted).devices["_ada"] ?? [] {
                all["device:\(row.key.device)"] = "\(row.token)"
            }
        }
        let choice = accounts.discoverability(webAuthToken: "ada", container: TestService.container)
        if choice.isDiscoverable { all["found:ada"] = "\(choice.isListed)" }
        return all
    }

    private func records() throws -> [String: String] {
        let ada = StoredDatabaseKey.privateDatabase(of: "_ada")
        let usual = ZoneID.defaultZoneName
        var zones = ["todos", "other", usual].map { (name: $0, key: ZoneKey(database: ada, zoneName: $0)) }
        zones.append(("public", ZoneKey(database: .publicDatabase, zoneName: usual)))
        zones.append(("bob", ZoneKey(database: .privateDatabase(of: "_bob"), zoneName: usual)))
        return try store.read { reader in
            var all: [String: String] = [:]
            for (name, key) in zones {
                let page = try reader.records(in: key, after: nil, recordsMax: 1_000, bytesMax: .max)
                for row in page.rows {
                    all["\(name)/\(row.key.recordName)"] =
                        ChangeTag(epoch: row.tagEpoch, counter: row.counter).text
                }
            }
            return all
        }
    }

    static func difference(_ before: [String: String], _ after: [String: String]) -> [String] {
        let made = after.keys.filter { before[$0] == nil }.map { "+\($0)" }
        let gone = before.keys.filter { after[$0] == nil }.map { "-\($0)" }
        let changed = after.filter { before[$0.key] != nil && before[$0.key] != $0.value }.map {
            "~\($0.key)"
        }
        return (made + gone + changed).sorted()
    }
}

extension TestService {
    fileprivate func zoneToken(_ zoneName: String, _ environment: String) throws -> String {
        let request = WireRequest(
            path: "/database/1/\(Self.container.identifier)/\(environment)/private/changes/zone",
            query: [("ckWebAuthToken", "ada")],
            body: Array(#"{"zones":[{"zoneID":{"zoneName":"\#(zoneName)"}}]}"#.utf8))
        let answer = try ChangesZoneResponse(json: service.respond(to: request).body)
        guard case .changes(let changes)? = answer.zones.first else { return "" }
        return changes.syncToken ?? ""
    }

    fileprivate func databaseToken(_ environment: String) throws -> String {
        let request = WireRequest(
            path: "/database/1/\(Self.container.identifier)/\(environment)/private/changes/database",
            query: [("ckWebAuthToken", "ada")])
        return try ChangesDatabaseResponse(json: service.respond(to: request).body).syncToken ?? ""
    }
}
