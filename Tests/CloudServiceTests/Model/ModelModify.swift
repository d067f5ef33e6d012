import CloudWire

/// `records/modify` as it is described: each operation for itself, then all of them together.
extension ModelCloud {
    private enum Verdict {
        case save(Record)
        case delete(Record)
        case nothing
        case fail(WireError)
    }

    private struct Place: Hashable {
        var zone: String
        var name: String
    }

    /// What an operation works on, and what it comes to so far.
    private struct Step {
        var operation: RecordOperation
        var name: String
        /// Nil when there can be no such record.
        var place: Place?
        var verdict: Verdict
        var cascade: [Record] = []
    }

    /// `answer` is the service's, for what only it can know.
    mutating func modify(
        _ request: RecordsModifyRequest, _ caller: ModelCaller, answer: RecordsResponse?
    ) -> ModelAnswer {
        if isTooMany(request.operations.count, caller) { return .refused(.badRequest, 27) }
        var grown = schema
        var steps: [Step] = []
        for (index, operation) in request.operations.enumerated() {
            let answered = answer.flatMap { index < $0.records.count ? $0.records[index] : nil }
            // A name that the service makes is nobody's yet.
            let name = operation.record.recordName ?? answered?.recordName ?? "?"
            var step = Step(operation: operation, name: name, place: nil, verdict: .nothing)
            if !namesAreGood(operation.record) {
                step.verdict = .fail(WireError(.badRequest, ckErrorCode: 12))
            } else if let zone = caller.zoneName(operation.record.zoneID ?? request.zoneID) {
                step.place = Place(zone: zone, name: name)
                if steps.contains(where: { $0.place == step.place }) { return .refused(.badRequest, 12) }
                let tag = answered?.record?.recordChangeTag
                var tried = grown
                step.verdict = alone(operation, step.place, caller, &tried, tag: tag)
                // What is refused by itself adds nothing that the next could stumble over.
                if case .save = step.verdict { grown = tried }
            } else {
                step.verdict = .fail(WireError(.zoneNotFound, ckErrorCode: 26))
            }
            steps.append(step)
        }
        settle(&steps, caller)
        failAtomicZones(&steps, request.atomic)
        let before = schema
        for step in steps {
            if case .save(let record) = step.verdict {
                schema.add(step.operation.record, record.type, from: grown)
            }
        }
        let counts = recordCounts()
        let results = write(steps, request, caller)
        noteNewFields(since: before, counts)
        return .records(results)
    }

    private func namesAreGood(_ record: WireRecord) -> Bool {
        let names = [record.recordName, record.recordType, record.parent?.recordName].compactMap { $0 }
        return (names + record.fields.keys).allSatisfy { name in
            !name.isEmpty && name.utf8.count <= 255 && name.utf8.allSatisfy { $0 >= 32 && $0 < 127 }
        }
    }

    // MARK: Each for itself

    private func alone(
        _ operation: RecordOperation, _ place: Place?, _ caller: ModelCaller, _ grown: inout ModelSchema,
        tag: String?
    ) -> Verdict {
        guard let place, let zone = zone(place.zone, caller) else {
            return .fail(WireError(.zoneNotFound, ckErrorCode: 26))
        }
        let old = zone.records[place.name]
        func conflict() -> Verdict {
            let server = old.map { wire($0, in: place.zone, caller) }
            return .fail(
                WireError(.conflict, ckErrorCode: 14, serverRecord: may(.read, old, caller) ? server : nil))
        }
        if let refusal = refusal(operation, old, caller) { return .fail(refusal) }
        let sent = operation.record.recordChangeTag
        switch operation.operationType {
        case .create:
            if old != nil { return conflict() }
        case .update, .replace:
            guard let old else { return .fail(WireError(.notFound, ckErrorCode: 11)) }
            if old.tag != sent { return conflict() }
        case .forceUpdate, .forceReplace:
            break
        case .delete:
            guard let old else { return .fail(WireError(.notFound, ckErrorCode: 11)) }
            return sent == nil || sent == old.tag ? .delete(old) : conflict()
        case .forceDelete:
            return old.map { .delete($0) } ?? .nothing
        }
        return saved(operation, over: old, place, caller, &grown, tag: tag)
    }

    /// Who may not change what they can't read learns nothing of it.
    private func refusal(_ operation: RecordOperation, _ old: Record?, _ caller: ModelCaller) -> WireError? {
        let denied = WireError(.accessDenied, ckErrorCode: 10)
        switch (operation.operationType, old) {
        case (.create, nil), (.forceUpdate, nil), (.forceReplace, nil):
            guard let type = operation.record.recordType else { return nil }
            return schema.permissions(type, creator: caller.user, caller).contains(.create) ? nil : denied
        case (.create, _), (_, nil): return nil
        case _ where may(.write, old, caller): return nil
        case (.update, _), (.replace, _), (.delete, _):
            return may(.read, old, caller) ? denied : WireError(.notFound, ckErrorCode: 11)
        default: return denied
        }
    }

    func may(_ permission: ModelSchema.Permission, _ record: Record?, _ caller: ModelCaller) -> Bool {
        guard let record else { return true }
        return schema.permissions(record.type, creator: record.created.userRecordName, caller).contains(
            permission)
    }

    private func saved(
        _ operation: RecordOperation, over old: Record?, _ place: Place, _ caller: ModelCaller,
        _ grown: inout ModelSchema, tag: String?
    ) -> Verdict {
        var sent = operation.record
        guard let type = sent.recordType ?? old?.type, old == nil || old?.type == type,
            let taken = grown.take(sent.fields, of: type)
        else {
            return .fail(WireError(.badRequest, ckErrorCode: 12))
        }
        sent.fields = taken
        let all = sent.fields.values.flatMap { references(in: $0.value) } + [sent.parent].compactMap { $0 }
        if all.contains(where: { $0.zoneID != nil && caller.zoneName($0.zoneID) != place.zone }) {
            return .fail(WireError(.badRequest, ckErrorCode: 12))
        }
        let startsEmpty = [.replace, .forceReplace].contains(operation.operationType)
        var record =
            old
            ?? Record(
                name: place.name, type: type, fields: [:], tag: "", created: caller.stamp,
                modified: caller.stamp)
        if startsEmpty {
            record.fields = [:]
            record.parent = nil
        }
        for (name, field) in sent.fields {
            record.fields[name] = field.value.map { Field($0, isEncrypted: field.isEncrypted) }
        }
        if let parent = sent.parent { record.parent = parent.recordName }
        record.modified = caller.stamp
        record.tag = tag ?? "?"
        return .save(record)
    }

    private func references(in value: FieldValue?) -> [Reference] {
        switch value {
        case .reference(let reference)?: return [reference]
        case .list(_, let values)?: return values.flatMap { references(in: $0) }
        default: return []
        }
    }

    private func bindingReferences(in value: FieldValue?) -> [Reference] {
        references(in: value).filter { $0.action == .validate || $0.action == .deleteSelf }
    }

    // MARK: Together

    /// Names that `record` holds on to, so that they can't go (`VALIDATE`, the parent), or with which it goes.
    private func targets(of record: Record, goingAlong: Bool) -> Set<String> {
        let references = record.fields.values.flatMap { bindingReferences(in: $0.value) }
            .filter { ($0.action == .deleteSelf) == goingAlong }
        return Set(references.map(\.recordName) + (goingAlong ? [] : [record.parent].compactMap { $0 }))
    }

    /// All records as they would be after `steps`; who goes along is put down beside the deletion.
    private func after(_ steps: inout [Step], _ caller: ModelCaller) -> [Place: Record] {
        var all: [Place: Record] = [:]
        for (name, zone) in caller.database.flatMap({ databases[$0] })?.zones ?? [:] {
            for record in zone.records.values { all[Place(zone: name, name: record.name)] = record }
        }
        var written = Set<Place>()
        for step in steps {
            guard let place = step.place else { continue }
            switch step.verdict {
            case .save(let record): all[place] = record
            case .delete: all[place] = nil
            case .nothing, .fail: continue
            }
            written.insert(place)
        }
        for index in steps.indices {
            steps[index].cascade = []
            guard case .delete = steps[index].verdict, let place = steps[index].place else { continue }
            var waiting = [place.name]
            while let target = waiting.popLast() {
                let going = all.filter { source, record in
                    source.zone == place.zone && !written.contains(source)
                        && targets(of: record, goingAlong: true).contains(target)
                }
                for (source, record) in going.sorted(by: { $0.key.name < $1.key.name }) {
                    all[source] = nil
                    steps[index].cascade.append(record)
                    waiting.append(record.name)
                }
            }
        }
        return all
    }

    /// Fails what the references forbid, until nothing more fails.
    private func settle(_ steps: inout [Step], _ caller: ModelCaller) {
        var hasFailed = true
        while hasFailed {
            hasFailed = false
            let all = after(&steps, caller)
            let isTooMuch = steps.reduce(0) { $0 + $1.cascade.count } > limits.cascade
            let before = steps
            for (index, step) in before.enumerated() {
                guard let place = step.place else { continue }
                var error: WireError?
                switch step.verdict {
                case .save(let record):
                    error = targetError(of: record, at: place, all, before, caller)
                case .delete:
                    let going = Set([place.name] + step.cascade.map(\.name))
                    let isHeld = all.contains { source, record in
                        source.zone == place.zone
                            && !targets(of: record, goingAlong: false).isDisjoint(with: going)
                    }
                    if isTooMuch && !step.cascade.isEmpty {
                        error = WireError(.badRequest, ckErrorCode: 27)
                    } else if isHeld {
                        error = WireError(.validatingReferenceError, ckErrorCode: 31)
                    }
                case .nothing, .fail: continue
                }
                if let error {
                    steps[index].verdict = .fail(error)
                    hasFailed = true
                }
            }
            guard !hasFailed else { continue }
            for (index, step) in before.enumerated() {
                guard case .save(let record) = step.verdict, let place = step.place,
                    closesCircle(record, at: place, all, caller)
                else { continue }
                steps[index].verdict = .fail(WireError(.badRequest, ckErrorCode: 12))
                hasFailed = true
            }
        }
    }

    /// Whether a record that gets another parent than it had would hang on itself.
    private func closesCircle(
        _ record: Record, at place: Place, _ all: [Place: Record], _ caller: ModelCaller
    ) -> Bool {
        let old = zone(place.zone, caller)?.records[place.name]
        guard record.parent != nil, record.parent != old?.parent else { return false }
        var (next, passed) = (record.parent, Set<String>())
        while let name = next, name != place.name, passed.insert(name).inserted {
            next = all[Place(zone: place.zone, name: name)]?.parent
        }
        return next == place.name
    }

    /// A record can't be saved without what it must refer to; nor when it now hangs on a record that was to be saved in
    /// the same request and failed.
    private func targetError(
        of record: Record, at place: Place, _ all: [Place: Record], _ steps: [Step], _ caller: ModelCaller
    ) -> WireError? {
        let failed = steps.filter { step in
            guard case .fail = step.verdict else { return false }
            return step.place?.zone == place.zone
                && ![.delete, .forceDelete].contains(step.operation.operationType)
        }
        let old = zone(place.zone, caller)?.records[place.name]
        let held = targets(of: record, goingAlong: false)
        let owners = targets(of: record, goingAlong: true)
        for name in held.union(owners).sorted() {
            let isThere = all[Place(zone: place.zone, name: name)] != nil
            let hasFailed = failed.contains { $0.place?.name == name }
            if !isThere, hasFailed || held.contains(name) {
                return WireError(.validatingReferenceError, ckErrorCode: 31)
            }
            guard hasFailed, let old else {
                if hasFailed { return WireError(.validatingReferenceError, ckErrorCode: 22) }
                continue
            }
            if !references(of: record, to: name).isSubset(of: references(of: old, to: name)) {
                return WireError(.validatingReferenceError, ckErrorCode: 22)
            }
        }
        return nil
    }

    /// The ways in which `record` is bound to the one of that name.
    private func references(of record: Record, to name: String) -> Set<String> {
        var ways = Set<String>()
        if record.parent == name { ways.insert("parent") }
        for reference in record.fields.values.flatMap({ bindingReferences(in: $0.value) })
        where reference.recordName == name {
            ways.insert(reference.action == .deleteSelf ? "deleteSelf" : "validate")
        }
        return ways
    }

    private func failAtomicZones(_ steps: inout [Step], _ atomic: Bool?) {
        guard atomic ?? true else { return }
        let failed = steps.filter { if case .fail = $0.verdict { true } else { false } }
        let failsAll = failed.contains { $0.place == nil }
        for index in steps.indices {
            if case .fail = steps[index].verdict { continue }
            guard let zone = steps[index].place?.zone, zone != "_defaultZone" else { continue }
            if failsAll || failed.contains(where: { $0.place?.zone == zone }) {
                steps[index].verdict = .fail(WireError(.atomicError, ckErrorCode: 22))
            }
        }
    }

    // MARK: Writing

    private mutating func write(
        _ steps: [Step], _ request: RecordsModifyRequest, _ caller: ModelCaller
    ) -> [RecordResult] {
        var changed = Set<String>()
        var results: [RecordResult] = []
        for step in steps {
            let zone = step.place?.zone
            switch step.verdict {
            case .save(let record):
                let isNew = usedTags.insert(record.tag).inserted
                put(record, in: zone ?? "", caller)
                changed.insert(zone ?? "")
                let desired = step.operation.desiredKeys ?? request.desiredKeys
                var answer = wire(record, in: zone ?? "", caller, desired: desired)
                if !may(.read, record, caller) {
                    answer.fields = answer.fields.filter { step.operation.record.fields[$0.key] != nil }
                }
                if !isNew || record.tag == "?" { answer.recordChangeTag = "a new one" }
                results.append(.record(answer))
            case .delete(let record):
                for going in [record] + step.cascade { remove(going, from: zone ?? "", caller) }
                changed.insert(zone ?? "")
                results.append(tombstone(step.name, type: record.type, in: zone, caller))
            case .nothing:
                results.append(tombstone(step.name, type: nil, in: zone, caller))
            case .fail(var error):
                error.recordName = ModelCloud.repeated(step.name)
                results.append(.error(error))
            }
        }
        for zone in changed.sorted() where zone != "_defaultZone" {
            databases[caller.database ?? "", default: Database()].history.append(zone)
        }
        return results
    }

    private mutating func put(_ record: Record, in zone: String, _ caller: ModelCaller) {
        change(zone, caller) {
            $0.records[record.name] = record
            $0.history.append(Change(name: record.name, type: record.type, isDeleted: false))
        }
    }

    private mutating func remove(_ record: Record, from zone: String, _ caller: ModelCaller) {
        change(zone, caller) {
            $0.records[record.name] = nil
            $0.history.append(Change(name: record.name, type: record.type, isDeleted: true))
        }
    }

    private mutating func change(_ zone: String, _ caller: ModelCaller, _ body: (inout Zone) -> Void) {
        body(&databases[caller.database ?? "", default: Database()].zones[zone, default: Zone(life: 0)])
    }
}
