import CloudWire

/// One request, to be asked of the service and of the model.
struct ModelCall {
    enum Body {
        case modify(RecordsModifyRequest)
        case lookup(RecordsLookupRequest)
        case query(RecordsQueryRequest)
        case modifyZones(ZonesModifyRequest)
        case lookupZones(ZonesLookupRequest)
        case listZones(ZonesListRequest)
        case databaseChanges(ChangesDatabaseRequest)
        case zoneChanges(ChangesZoneRequest)
    }

    var body: Body
    /// The web auth token; the user's record name has an underscore before it.
    var user: String?
    var scope: DatabaseScope
    var device: String?
    var extras = true
    var operationID: String?

    var endpoint: String {
        switch body {
        case .modify: "records/modify"
        case .lookup: "records/lookup"
        case .query: "records/query"
        case .modifyZones: "zones/modify"
        case .lookupZones: "zones/lookup"
        case .listZones: "zones/list"
        case .databaseChanges: "changes/database"
        case .zoneChanges: "changes/zone"
        }
    }

    var isWrite: Bool {
        switch body {
        case .modify, .modifyZones: true
        default: false
        }
    }

    private var message: any JSONMessage {
        switch body {
        case .modify(let message): message
        case .lookup(let message): message
        case .query(let message): message
        case .modifyZones(let message): message
        case .lookupZones(let message): message
        case .listZones(let message): message
        case .databaseChanges(let message): message
        case .zoneChanges(let message): message
        }
    }

    func bytes() throws -> [UInt8] { try message.json(extras: extras) }

    func request(of cloud: TestService) throws -> WireRequest {
        var request = cloud.request(
            endpoint, try bytes(), database: scope.rawValue, token: user, extras: extras)
        if let device { request.query.append(("clientId", device)) }
        if let operationID { request.headers.append((WireHeader.operation, operationID)) }
        return request
    }
}

extension ModelCloud {
    /// What the service should answer to `call`. `response` is what it did answer, for what only it can know.
    mutating func answer(_ call: ModelCall, nowMilliseconds: Int64, response: WireResponse) throws
        -> ModelAnswer
    {
        switch call.body {
        case .modifyZones where call.scope != .private, .databaseChanges where call.scope == .public,
            .zoneChanges where call.scope == .public:
            return .refused(.badRequest, 12)
        case .lookup where call.scope == .public, .query where call.scope == .public: break
        default:
            if call.user == nil { return .refused(.authenticationRequired, 9) }
        }
        let caller = caller(of: call, nowMilliseconds: nowMilliseconds)
        guard call.isWrite, call.extras, let user = call.user, let database = caller.database,
            let operationID = call.operationID
        else { return try run(call, caller, response) }
        let key = "\(database) \(user) \(operationID)"
        let request = try Array(call.endpoint.utf8) + call.bytes()
        if let kept = kept[key], kept.atMilliseconds >= nowMilliseconds - limits.answerMilliseconds {
            // What can be refused without looking is refused.
            var copy = self
            let fresh = try copy.run(call, caller, response)
            if case .refused = fresh { return fresh }
            return kept.request == request ? kept.expected : .refused(.badRequest, 12)
        }
        let expected = try run(call, caller, response)
        if case .refused = expected { return expected }
        kept[key] = Kept(request: request, atMilliseconds: nowMilliseconds, expected: expected)
        return expected
    }

    private func caller(of call: ModelCall, nowMilliseconds: Int64) -> ModelCaller {
        ModelCaller(
            user: call.user.map { "_" + $0 }, scope: call.scope, device: call.device, extras: call.extras,
            nowMilliseconds: nowMilliseconds)
    }

    /// An answer as it is told once its group is written: a conflict shows the server's record as it is then, and none
    /// that is gone or may not be read.
    func told(_ answer: ModelAnswer, to call: ModelCall, nowMilliseconds: Int64) -> ModelAnswer {
        let caller = caller(of: call, nowMilliseconds: nowMilliseconds)
        guard case .records(let results) = answer, case .modify(let request) = call.body else {
            return answer
        }
        return .records(
            zip(results, request.operations).map { result, operation in
                guard case .error(var error) = result, error.serverRecord != nil,
                    let name = operation.record.recordName,
                    let zoneName = caller.zoneName(operation.record.zoneID ?? request.zoneID)
                else { return result }
                let record = zone(zoneName, caller)?.records[name]
                error.serverRecord = record.flatMap {
                    may(.read, $0, caller) ? wire($0, in: zoneName, caller) : nil
                }
                return .error(error)
            })
    }

    private mutating func run(
        _ call: ModelCall, _ caller: ModelCaller, _ response: WireResponse
    ) throws -> ModelAnswer {
        let body = response.body
        switch call.body {
        case .modify(let request):
            return modify(request, caller, answer: try? RecordsResponse(json: body))
        case .lookup(let request):
            return lookup(request, caller)
        case .query(let request):
            return query(
                request, caller, refusal: response.status == 200 ? nil : try? WireError(json: body))
        case .modifyZones(let request):
            return modifyZones(request, caller)
        case .lookupZones(let request):
            return lookupZones(request, caller)
        case .listZones(let request):
            return listZones(request, caller, answer: try? ZonesResponse(json: body))
        case .databaseChanges(let request):
            return databaseChanges(request, caller, answer: try? ChangesDatabaseResponse(json: body))
        case .zoneChanges(let request):
            return zoneChanges(request, caller, answer: try? ChangesZoneResponse(json: body))
        }
    }
}

extension ModelAnswer {
    /// What the service has answered.
    init(_ response: WireResponse, to call: ModelCall) throws {
        let body = response.body
        guard response.status == 200 else {
            let error = try WireError(json: body)
            self = .refused(error.serverErrorCode, error.ckErrorCode ?? 0)
            return
        }
        switch call.body {
        case .modify, .lookup:
            self = .records(try RecordsResponse(json: body).records)
        case .query:
            self = .records(try RecordsQueryResponse(json: body).records)
        case .modifyZones, .lookupZones, .listZones:
            let answer = try ZonesResponse(json: body)
            self = .zones(answer.zones, moreComing: answer.moreComing)
        case .databaseChanges:
            let answer = try ChangesDatabaseResponse(json: body)
            self = .zones(answer.zones, moreComing: answer.moreComing)
        case .zoneChanges:
            let answer = try ChangesZoneResponse(json: body)
            self = .changes(
                answer.zones.map { zone in
                    switch zone {
                    case .error(let error): .error(error)
                    case .changes(let page):
                        .page(page.zoneID, page.records, moreComing: page.moreComing ?? false)
                    }
                })
        }
    }

    /// The same without what the model doesn't say, and for a client of Apple's protocol without our keys.
    func comparable(extras: Bool) -> ModelAnswer {
        func error(_ error: WireError) -> WireError {
            WireError(
                error.serverErrorCode, recordName: error.recordName,
                zoneID: error.recordName == nil ? error.zoneID : nil, subscriptionID: error.subscriptionID,
                ckErrorCode: extras ? error.ckErrorCode : nil,
                serverRecord: extras ? error.serverRecord : nil,
                tokenRefusal: extras ? error.tokenRefusal : nil)
        }
        func record(_ result: RecordResult) -> RecordResult {
            switch result {
            case .record: return result
            case .error(let wire): return .error(error(wire))
            case .tombstone(var tombstone):
                if !extras { tombstone.recordType = nil }
                return .tombstone(tombstone)
            }
        }
        switch self {
        case .refused(let code, let number): return .refused(code, extras ? number : 0)
        case .records(let records): return .records(records.map(record))
        case .zones(let zones, let moreComing):
            return .zones(
                zones.map { zone in
                    switch zone {
                    case .error(let wire): return .error(error(wire))
                    case .zone(var zone):
                        // A token is opaque; `KeysTests` looks at who has one, and that each zone says what it is.
                        zone.syncToken = nil
                        if zone.deleted == false { zone.deleted = nil }
                        return .zone(zone)
                    }
                }, moreComing: moreComing)
        case .changes(let zones):
            return .changes(
                zones.map { zone in
                    switch zone {
                    case .error(let wire): .error(error(wire))
                    case .page(let zoneID, let records, let moreComing):
                        .page(zoneID, records.map(record), moreComing: moreComing)
                    }
                })
        case .subscriptions: return self
        }
    }
}

extension ModelAnswer {
    /// In few words, for a person who looks for the difference.
    var text: String {
        func words(_ error: WireError) -> String {
            let zone = error.zoneID.map { " of \($0.zoneName)" } ?? ""
            return
                "\(error.serverErrorCode.rawValue) \(error.ckErrorCode ?? 0)\(zone) \(error.recordName ?? "")"
                + (error.serverRecord.map { " instead of \(words($0))" } ?? "")
                + (error.tokenRefusal.map { " \($0)" } ?? "")
        }
        func words(_ record: WireRecord) -> String {
            String(decoding: (try? record.json()) ?? [], as: UTF8.self)
        }
        func words(_ result: RecordResult) -> String {
            switch result {
            case .record(let record): words(record)
            case .tombstone(let tombstone): "\(tombstone.recordName) gone (\(tombstone.recordType ?? "?"))"
            case .error(let error): words(error)
            }
        }
        func words(_ result: ZoneResult) -> String {
            switch result {
            case .zone(let zone): "\(zone.zoneID.zoneName) \(zone.deleted ?? false ? "gone" : "there")"
            case .error(let error): words(error)
            }
        }
        switch self {
        case .refused(let code, let number): return "all refused: \(code.rawValue) \(number)"
        case .records(let results): return "\n  " + results.map(words).joined(separator: "\n  ")
        case .zones(let zones, let moreComing): return "\(zones.map(words)) \(moreComing ?? false)"
        case .subscriptions(let results): return "\(results)"
        case .changes(let zones):
            return zones.map { zone in
                switch zone {
                case .error(let error): words(error)
                case .page(let zoneID, let records, let moreComing):
                    "\(zoneID.zoneName) \(moreComing):\n  " + records.map(words).joined(separator: "\n  ")
                }
            }.joined(separator: "\n ")
        }
    }
}
