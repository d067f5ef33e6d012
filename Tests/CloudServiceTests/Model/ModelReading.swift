import CloudWire

/// Lookups, zones and feeds.
extension ModelCloud {
    /// A name as an error tells it: not when nothing can have it.
    static func repeated(_ name: String) -> String? {
        name.utf8.count <= 255 && name.utf8.allSatisfy { $0 >= 32 } ? name : nil
    }

    func lookup(_ request: RecordsLookupRequest, _ caller: ModelCaller) -> ModelAnswer {
        if isTooMany(request.records.count, caller) { return .refused(.badRequest, 27) }
        return .records(
            request.records.map { item in
                var error = WireError(
                    .zoneNotFound, recordName: Self.repeated(item.recordName), ckErrorCode: 26)
                guard let name = caller.zoneName(item.zoneID ?? request.zoneID), let zone = zone(name, caller)
                else { return .error(error) }
                guard let record = zone.records[item.recordName], may(.read, record, caller) else {
                    error = WireError(.notFound, recordName: Self.repeated(item.recordName), ckErrorCode: 11)
                    return .error(error)
                }
                return .record(
                    wire(record, in: name, caller, desired: item.desiredKeys ?? request.desiredKeys))
            })
    }

    // MARK: Zones

    mutating func modifyZones(_ request: ZonesModifyRequest, _ caller: ModelCaller) -> ModelAnswer {
        if isTooMany(request.operations.count, caller) { return .refused(.badRequest, 27) }
        let names = request.operations.map { caller.zoneName($0.zone.zoneID) }
        let good = names.compactMap { $0 }
        if Set(good).count < good.count { return .refused(.badRequest, 12) }
        let owner = caller.database ?? ""
        var database = databases[owner] ?? Database()
        var results: [ZoneResult] = []
        for (operation, name) in zip(request.operations, names) {
            let sent = operation.zone.zoneID
            guard let name else {
                results.append(.error(WireError(.zoneNotFound, zoneID: sent, ckErrorCode: 26)))
                continue
            }
            let isThere = name == "_defaultZone" || database.zones[name]?.isThere ?? false
            var answer = WireZone(zoneID: caller.zoneID(name), atomic: name != "_defaultZone")
            switch operation.operationType {
            case .create where !isThere && name.hasPrefix("_"), .delete where name == "_defaultZone":
                results.append(.error(WireError(.badRequest, zoneID: sent, ckErrorCode: 12)))
                continue
            case .create where !isThere:
                database.zones[name] = Zone(life: newLife())
                database.life = database.life ?? newLife()
                database.history.append(name)
            case .delete where !isThere:
                results.append(.error(WireError(.zoneNotFound, zoneID: sent, ckErrorCode: 26)))
                continue
            case .delete:
                database.zones[name] = Zone(isThere: false, life: 0)
                database.history.append(name)
                answer.atomic = nil
                answer.deleted = true
            case .create: break
            }
            results.append(.zone(answer))
        }
        databases[owner] = database
        return .zones(results, moreComing: nil)
    }

    func lookupZones(_ request: ZonesLookupRequest, _ caller: ModelCaller) -> ModelAnswer {
        if isTooMany(request.zones.count, caller) { return .refused(.badRequest, 27) }
        let results = request.zones.map { zoneID -> ZoneResult in
            guard let name = caller.zoneName(zoneID), zone(name, caller) != nil else {
                return .error(WireError(.zoneNotFound, zoneID: zoneID, ckErrorCode: 26))
            }
            return .zone(WireZone(zoneID: caller.zoneID(name), atomic: name != "_defaultZone"))
        }
        return .zones(results, moreComing: nil)
    }

    mutating func listZones(
        _ request: ZonesListRequest, _ caller: ModelCaller, answer: ZonesResponse?
    ) -> ModelAnswer {
        if caller.scope == .public {
            return .zones([.zone(WireZone(zoneID: ZoneID(), atomic: false))], moreComing: nil)
        }
        // Nobody has shared anything yet.
        if caller.scope == .shared { return .zones([], moreComing: nil) }
        let token = request.syncToken
        guard let feed = databaseFeed(after: token, limit: limits.items, caller, newToken: answer?.syncToken)
        else {
            return .refused(.badRequest, 21)
        }
        var zones = feed.names.filter { zone($0, caller) != nil }
        if feed.isFirst { zones.insert("_defaultZone", at: 0) }
        return .zones(
            zones.map { .zone(WireZone(zoneID: caller.zoneID($0), atomic: $0 != "_defaultZone")) },
            moreComing: feed.moreComing)
    }

    // MARK: Feeds

    mutating func databaseChanges(
        _ request: ChangesDatabaseRequest, _ caller: ModelCaller, answer: ChangesDatabaseResponse?
    ) -> ModelAnswer {
        guard let limit = pageLimit(request.resultsLimit, caller) else { return .refused(.badRequest, 12) }
        let token = request.syncToken
        guard let feed = databaseFeed(after: token, limit: limit, caller, newToken: answer?.syncToken) else {
            return .refused(.badRequest, 21)
        }
        let zones = feed.names.map { name in
            ZoneResult.zone(WireZone(zoneID: caller.zoneID(name), deleted: zone(name, caller) == nil))
        }
        return .zones(zones, moreComing: feed.moreComing)
    }

    /// Nil: the answer to the limit is an error.
    private func pageLimit(_ asked: Int64?, _ caller: ModelCaller) -> Int? {
        guard let asked else { return limits.items }
        return asked > 0 ? min(Int(asked), caller.extras ? limits.itemsWithExtras : limits.items) : nil
    }

    private struct DatabaseFeed {
        var names: [String]
        var moreComing: Bool
        var isFirst: Bool
    }

    /// Nil when the token is refused.
    private mutating func databaseFeed(
        after text: String?, limit: Int, _ caller: ModelCaller, newToken: String?
    ) -> DatabaseFeed? {
        let database = databases[caller.database ?? "?"] ?? Database()
        let subject = "database \(caller.scope) \(caller.user ?? "")"
        var known = Token(
            subject: subject, life: database.life, seen: 0, bornAt: database.history.count)
        if let text {
            guard let token = tokens[text], token.subject == subject,
                token.life == database.life || token.life == nil
            else { return nil }
            known.seen = token.seen
            known.bornAt = token.bornAt
        }
        let isFirst = known.seen == 0
        let news = database.history.enumerated().filter { index, name in
            index >= known.seen && database.history.lastIndex(of: name) == index
                && (database.zones[name]?.isThere ?? false || index >= known.bornAt)
        }
        let page = news.prefix(limit)
        let moreComing = news.count > limit
        known.seen = moreComing ? page.last.map { $0.offset + 1 } ?? known.seen : database.history.count
        learn(newToken, known)
        return DatabaseFeed(names: page.map(\.element), moreComing: moreComing, isFirst: isFirst)
    }

    mutating func zoneChanges(
        _ request: ChangesZoneRequest, _ caller: ModelCaller, answer: ChangesZoneResponse?
    ) -> ModelAnswer {
        if isTooMany(request.zones.count, caller) { return .refused(.badRequest, 27) }
        var room = caller.extras ? limits.itemsWithExtras : limits.items
        var results: [ModelZoneChanges] = []
        for (index, item) in request.zones.enumerated() {
            var newToken: String?
            if let answer, index < answer.zones.count, case .changes(let changes) = answer.zones[index] {
                newToken = changes.syncToken
            }
            results.append(page(item, request.options, caller, &room, newToken: newToken))
        }
        return .changes(results)
    }

    private mutating func page(
        _ item: ChangesZoneRequest.Item, _ defaults: ChangesZoneOptions, _ caller: ModelCaller,
        _ room: inout Int,
        newToken: String?
    ) -> ModelZoneChanges {
        func failed(_ code: ServerErrorCode, _ number: Int, _ refusal: WireError.TokenRefusal? = nil)
            -> ModelZoneChanges
        {
            .error(WireError(code, zoneID: item.zoneID, ckErrorCode: number, tokenRefusal: refusal))
        }
        guard let name = caller.zoneName(item.zoneID) else { return failed(.zoneNotFound, 26) }
        guard name != "_defaultZone" else { return failed(.badRequest, 12) }
        guard let zone = zone(name, caller) else { return failed(.zoneNotFound, 26) }
        let subject = "zone \(caller.user ?? "") \(name)"
        var known = Token(subject: subject, life: zone.life, seen: 0, bornAt: zone.history.count)
        if let text = item.syncToken {
            guard let token = tokens[text], token.subject == subject, token.life == zone.life else {
                return failed(.badRequest, 21, .reset)
            }
            guard token.seen >= zone.floor || token.bornAt >= zone.floor else {
                return failed(.badRequest, 21, .expired)
            }
            known = token
        }
        let asked = item.options.resultsLimit ?? defaults.resultsLimit
        guard let pageLimit = pageLimit(asked, caller) else { return failed(.badRequest, 12) }
        let limit = min(pageLimit, room)
        let news = zone.history.enumerated().filter { index, change in
            index >= known.seen && zone.history.lastIndex { $0.name == change.name } == index
                && (!change.isDeleted || index >= known.bornAt)
        }
        let page = news.prefix(limit)
        let moreComing = news.count > limit
        room -= page.count
        known.seen = moreComing ? page.last.map { $0.offset + 1 } ?? known.seen : zone.history.count
        learn(newToken, known)
        let types = item.options.desiredRecordTypes ?? defaults.desiredRecordTypes
        let desired = item.options.desiredKeys ?? defaults.desiredKeys
        let records = page.map(\.element).filter { types?.contains($0.type) ?? true }.map {
            change -> RecordResult in
            guard let record = zone.records[change.name] else {
                return tombstone(change.name, type: change.type, in: name, caller)
            }
            return .record(wire(record, in: name, caller, desired: desired))
        }
        return .page(caller.zoneID(name), records, moreComing: moreComing)
    }

    /// Takes in what a token of the service stands for: one text never means two things.
    private mutating func learn(_ text: String?, _ meaning: Token) {
        guard let text else { return }
        if let before = tokens[text], before != meaning { contradictions.append("\(before) and \(meaning)") }
        tokens[text] = meaning
    }

    // MARK: What an operator does

    mutating func prune(_ zone: String, of owner: String) {
        guard let found = databases[owner]?.zones[zone], found.isThere else { return }
        databases[owner]?.zones[zone]?.floor = found.history.count
    }

    mutating func reset(_ zone: String, of owner: String) {
        guard databases[owner]?.zones[zone]?.isThere == true else { return }
        let life = newLife()
        databases[owner]?.zones[zone]?.life = life
        databases[owner]?.history.append(zone)
    }
}
