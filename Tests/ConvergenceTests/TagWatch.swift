import CloudWire

/// Watches the wire for a change tag that outlived its record: a device whose deletion was acknowledged must not send
/// the tag of the deleted record with what it makes under the same name afterwards.
struct TagWatch {
    private var deletionCounters = [String: Int64]()
    /// By device and record: the counter of the deletion that the device was told has happened.
    private var known = [Int: [String: Int64]]()
    private var pendingDeletions = [Int: [String]]()

    mutating func deleted(record: String, at counter: Int64) {
        deletionCounters[record] = counter
    }

    /// - Returns: What is wrong with the request.
    mutating func see(_ request: WireRequest, from device: Int) throws -> [String] {
        let operations = try RecordsModifyRequest(json: request.body).operations
        pendingDeletions[device] = operations.filter { $0.operationType.isDeletion }.compactMap(
            \.record.recordName)
        return operations.compactMap { operation in
            guard !operation.operationType.isDeletion, let name = operation.record.recordName,
                let tag = operation.record.recordChangeTag.flatMap(ChangeTag.init),
                let deletion = known[device]?[name], tag.counter < deletion
            else { return nil }
            return
                "device \(device) saves \(name) with the tag \(tag.counter), and knows its deletion \(deletion)"
        }
    }

    mutating func see(_ response: WireResponse, to device: Int) throws {
        let names = pendingDeletions.removeValue(forKey: device) ?? []
        guard (200..<300).contains(response.status), !names.isEmpty else { return }
        for case .error(let error) in try RecordsModifyResponse(json: response.body).records {
            // A batch with an error counts for nothing here: which deletions happened is then not certain.
            _ = error
            return
        }
        for name in names { known[device, default: [:]][name] = deletionCounters[name] }
    }
}

extension RecordOperation.Kind {
    fileprivate var isDeletion: Bool { self == .delete || self == .forceDelete }
}
