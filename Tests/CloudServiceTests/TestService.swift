import CloudService
import CloudStore
import CloudWire
import System
import Testing

/// A service with two users, and the requests that tests ask it.
struct TestService {
    static let container = CloudService.Container(identifier: "iCloud.com.example.todo")
    static let ada = ServiceUser(userRecordName: "_ada", givenName: "Ada", familyName: "Lovelace")
    static let bob = ServiceUser(userRecordName: "_bob")
    static let zone = ZoneID(zoneName: "todos")

    let clock: ManualTimeSource
    let service: CloudService
    var environment = container.environment

    init(service: CloudService, clock: ManualTimeSource) {
        self.service = service
        self.clock = clock
    }

    init(
        store: any CloudStore = MemoryCloudStore(), seed: UInt64 = 1, limits: ServiceLimits = ServiceLimits(),
        groupLimits: GroupLimits = GroupLimits(), environment: String = container.environment
    ) {
        clock = ManualTimeSource()
        self.environment = environment
        service = CloudService(
            store: store, clock: clock, random: SeededRandomSource(seed: seed),
            container: .init(identifier: Self.container.identifier, environment: environment),
            users: ["ada": Self.ada, "bob": Self.bob], limits: limits, groupLimits: groupLimits)
    }

    func request(
        _ endpoint: String, _ body: [UInt8], database: String = "private", token: String? = "ada",
        extras: Bool = true
    ) -> WireRequest {
        WireRequest(
            path:
                "/database/1/\(Self.container.identifier)/\(environment)/\(database)/\(endpoint)",
            query: token.map { [("ckWebAuthToken", $0)] } ?? [],
            headers: extras ? [("x-yap-client", "1")] : [],
            body: body)
    }

    /// Asks with a message and reads the answer as one; throws the error of a request that failed as a whole.
    func ask<Answer: JSONMessage>(
        _ endpoint: String, _ message: some JSONMessage, as answer: Answer.Type, database: String = "private",
        token: String? = "ada", extras: Bool = true
    ) throws -> Answer {
        let request = request(
            endpoint, try message.json(extras: extras), database: database, token: token, extras: extras)
        return try read(service.respond(to: request), as: answer)
    }

    func read<Answer: JSONMessage>(_ response: WireResponse, as answer: Answer.Type) throws -> Answer {
        guard response.status == 200 else {
            let error = try WireError(json: response.body)
            #expect(error.serverErrorCode.httpStatus == response.status)
            throw error
        }
        return try Answer(json: response.body)
    }

    /// The error of a request that failed as a whole.
    func refusal(
        _ endpoint: String, _ body: String, database: String = "private", token: String? = "ada"
    ) throws -> WireError {
        let response = service.respond(
            to: request(endpoint, Array(body.utf8), database: database, token: token))
        try #require(response.status != 200, "\(String(decoding: response.body, as: UTF8.self))")
        let error = try WireError(json: response.body)
        #expect(error.serverErrorCode.httpStatus == response.status)
        #expect(error.uuid != nil)
        return error
    }
}

extension TestService {
    @discardableResult
    func modify(
        _ operations: [RecordOperation], zone: ZoneID? = zone, atomic: Bool? = nil,
        database: String = "private",
        token: String? = "ada"
    ) throws -> [RecordResult] {
        try ask(
            "records/modify", RecordsModifyRequest(operations: operations, zoneID: zone, atomic: atomic),
            as: RecordsModifyResponse.self, database: database, token: token
        ).records
    }

    func lookup(
        _ names: [String], zone: ZoneID? = zone, database: String = "private", token: String? = "ada"
    ) throws -> [RecordResult] {
        try ask(
            "records/lookup",
            RecordsLookupRequest(records: names.map { .init(recordName: $0) }, zoneID: zone),
            as: RecordsLookupResponse.self, database: database, token: token
        ).records
    }

    @discardableResult
    func zones(
        _ kind: ZoneOperation.Kind, _ zones: [ZoneID] = [zone], token: String? = "ada"
    ) throws -> [ZoneResult] {
        let operations = zones.map { ZoneOperation(operationType: kind, zone: WireZone(zoneID: $0)) }
        return try ask(
            "zones/modify", ZonesModifyRequest(operations: operations), as: ZonesModifyResponse.self,
            token: token
        ).zones
    }

    func databaseChanges(_ token: String? = nil, resultsLimit: Int64? = nil) throws -> ChangesDatabaseResponse
    {
        try ask(
            "changes/database", ChangesDatabaseRequest(syncToken: token, resultsLimit: resultsLimit),
            as: ChangesDatabaseResponse.self)
    }

    func changes(
        _ token: String? = nil, zone: ZoneID = zone, resultsLimit: Int64? = nil, user: String = "ada"
    ) throws -> ZoneChanges {
        let options = ChangesZoneOptions(resultsLimit: resultsLimit)
        let answer = try ask(
            "changes/zone",
            ChangesZoneRequest(zones: [.init(zoneID: zone, syncToken: token, options: options)]),
            as: ChangesZoneResponse.self, token: user)
        switch try #require(answer.zones.first) {
        case .changes(let changes): return changes
        case .error(let error): throw error
        }
    }
}

func operation(
    _ kind: RecordOperation.Kind, _ name: String?, tag: String? = nil, type: String? = "todo",
    _ fields: [String: Field] = [:], parent: String? = nil
) -> RecordOperation {
    RecordOperation(
        operationType: kind,
        record: WireRecord(
            recordName: name, recordType: type, fields: fields, recordChangeTag: tag,
            parent: parent.map { Reference(recordName: $0) }))
}

func reference(_ name: String, _ action: Reference.Action) -> Field {
    Field(.reference(Reference(recordName: name, action: action)))
}

extension RecordResult {
    /// In a word: the code of an error, else what became of the record.
    var summary: String {
        switch self {
        case .record: "saved"
        case .tombstone: "deleted"
        case .error(let error): error.serverErrorCode.rawValue
        }
    }

    var record: WireRecord? { if case .record(let record) = self { record } else { nil } }
    var error: WireError? { if case .error(let error) = self { error } else { nil } }
    var recordName: String? {
        switch self {
        case .record(let record): record.recordName
        case .tombstone(let tombstone): tombstone.recordName
        case .error(let error): error.recordName
        }
    }
}

extension [RecordResult] {
    var summaries: [String] { map(\.summary) }
    /// Names with their fate, as `a+` and `b-`.
    var feed: [String] { map { ($0.recordName ?? "?") + ($0.record == nil ? "-" : "+") } }
}
