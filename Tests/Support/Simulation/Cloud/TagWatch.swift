import CloudWire

/// Watches the wire for a change tag that outlived its record: a device whose deletion was acknowledged must not send
/// the tag of the deleted record with what it makes under the same name afterwards.
package struct TagWatch {
    package init() {}

    private var deletionCounters = [String: [Int64]]()
    /// By device and record: how many deletions there were when the device first sent one of its own.
    private var deletionsBefore = [Int: [String: Int]]()
    /// By device and record: the counter of the deletion that the device was told has happened.
    private var known = [Int: [String: Int64]]()
    /// By device and record: the tags that a page showed while a deletion by the device was under way. The answer to a
    /// deletion has no version, so nobody can tell whether such a version is from before it or after it.
    private var shownMeanwhile = [Int: [String: Set<ChangeTag>]]()

    package mutating func deleted(record: String, at counter: Int64) {
        deletionCounters[record, default: []].append(counter)
    }

    /// - Returns: What is wrong with the request.
    package mutating func see(_ request: WireRequest, from device: Int) throws -> [String] {
        let operations = try RecordsModifyRequest(json: request.body).operations
        for operation in operations {
            guard let name = request.key(of: operation) else { continue }
            if !operation.operationType.isDeletion {
                // A deletion from before it is no longer sent again.
                deletionsBefore[device]?[name] = nil
            } else if deletionsBefore[device]?[name] == nil {
                deletionsBefore[device, default: [:]][name] = deletionCounters[name, default: []].count
                shownMeanwhile[device]?[name] = nil
            }
        }
        return operations.compactMap { operation in
            guard !operation.operationType.isDeletion, let name = request.key(of: operation),
                let tag = operation.record.recordChangeTag.flatMap(ChangeTag.init),
                let deletion = known[device]?[name], tag.counter < deletion,
                shownMeanwhile[device]?[name]?.contains(tag) != true
            else { return nil }
            return
                "device \(device) saves \(name) with the tag \(tag.counter), and knows its deletion \(deletion)"
        }
    }

    mutating func see(page response: WireResponse, to request: WireRequest, device: Int) throws {
        guard response.status == 200,
            deletionsBefore[device]?.isEmpty == false || known[device]?.isEmpty == false
        else { return }
        for case .changes(let changes) in try ChangesZoneResponse(json: response.body).zones {
            for case .record(let record) in changes.records where record.deleted != true {
                guard let name = record.recordName.map(request.key) else { continue }
                // A page that was under way longer than the deletion shows an app that fetches by itself the record
                // once more.
                known[device]?[name] = nil
                guard deletionsBefore[device]?[name] != nil,
                    let tag = record.recordChangeTag.flatMap(ChangeTag.init)
                else { continue }
                shownMeanwhile[device, default: [:]][name, default: []].insert(tag)
            }
        }
    }

    package mutating func see(_ response: WireResponse, to request: WireRequest, device: Int) throws {
        let deletions = try RecordsModifyRequest(json: request.body).operations.filter {
            $0.operationType.isDeletion
        }
        guard (200..<300).contains(response.status), !deletions.isEmpty else { return }
        for case .error(let error) in try RecordsModifyResponse(json: response.body).records {
            // A batch with an error counts for nothing here: which deletions happened is then not certain.
            _ = error
            return
        }
        for deletion in deletions {
            guard let name = request.key(of: deletion) else { continue }
            // The first one since the request was sent: the answer may be late, and a later life be deleted too.
            let counters = deletionCounters[name, default: []]
            let before = deletionsBefore[device]?.removeValue(forKey: name) ?? counters.count
            known[device, default: [:]][name] = before < counters.count ? counters[before] : counters.last
        }
    }
}

extension WireRequest {
    /// The record of an operation, as the run names it.
    fileprivate func key(of operation: RecordOperation) -> String? {
        operation.record.recordName.map(key)
    }

    fileprivate func key(of recordName: String) -> String {
        let token = queryItem(WireHeader.webAuthTokenItem)
        let user = SimulatedService.users.indices.first { SimulatedService.token($0) == token }
        return World.ledgerKey(recordName, user: user ?? 0)
    }
}

extension RecordOperation.Kind {
    fileprivate var isDeletion: Bool { self == .delete || self == .forceDelete }
}
