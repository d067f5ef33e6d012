import CloudWire

/// A fault that no system may have, put between a device and the service to prove that the checker sees it.
final class Sabotage {
    enum Kind: CaseIterable {
        /// The service acknowledges a write and doesn't keep it.
        case acknowledgedWriteDropped
        /// The device keeps the token of a page whose records it lost: a token stored outside the transaction.
        case tokenWithoutItsPage
        /// What is made again after a deletion carries the deleted record's tag.
        case tagLeakedOverADeletion
    }

    private static let leaksMax = 3

    let kind: Kind
    private(set) var firings = 0
    private var tags = [String: String]()
    private var deleted = Set<String>()

    init(_ kind: Kind) {
        self.kind = kind
    }

    func dropsWrite(_ endpoint: String) -> Bool {
        guard kind == .acknowledgedWriteDropped, endpoint == "records/modify", firings < 1 else {
            return false
        }
        firings += 1
        return true
    }

    func request(_ request: WireRequest, _ endpoint: String, _ device: Int) throws -> WireRequest {
        guard kind == .tagLeakedOverADeletion, endpoint == "records/modify" else { return request }
        var request = request
        var message = try RecordsModifyRequest(json: request.body)
        for index in message.operations.indices {
            let operation = message.operations[index]
            guard let name = operation.record.recordName else { continue }
            let life = "\(device) \(name)"
            switch operation.operationType {
            case .delete, .forceDelete:
                deleted.insert(life)
            case .create where deleted.contains(life) && firings < Self.leaksMax:
                guard let tag = tags[life] else { continue }
                message.operations[index].operationType = .update
                message.operations[index].record.recordChangeTag = tag
                firings += 1
            default:
                if let tag = operation.record.recordChangeTag { tags[life] = tag }
            }
        }
        request.body = try message.json()
        return request
    }

    func response(_ response: WireResponse, _ endpoint: String, _ device: Int) throws -> WireResponse {
        guard kind == .tokenWithoutItsPage, endpoint == "changes/zone", device == 0, response.status == 200
        else {
            return response
        }
        var message = try ChangesZoneResponse(json: response.body)
        for index in message.zones.indices {
            guard case .changes(var changes) = message.zones[index], !changes.records.isEmpty else {
                continue
            }
            changes.records = []
            message.zones[index] = .changes(changes)
            firings += 1
        }
        var response = response
        response.body = try message.json()
        return response
    }
}
