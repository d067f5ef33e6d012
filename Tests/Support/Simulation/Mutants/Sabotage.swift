import CloudWire
import Foundation
import SQLite

/// A mutant at work in a run.
package final class Sabotage {
    private static let leaksMax = 3

    package let kind: Mutant
    package private(set) var firings = 0
    private var tags = [String: String]()
    private var deleted = Set<String>()

    package init(_ kind: Mutant) {
        self.kind = kind
    }

    /// Spoils the tables of a device: before it opens its file, and after it has registered the extension.
    package func spoil(_ path: String, registeredName: String, isOpen: Bool) throws {
        guard let statement = isOpen ? kind.triggers : kind.atRelaunch,
            FileManager.default.fileExists(atPath: path)
        else { return }
        let connection = try Connection(path: path)
        try connection.execute(statement.replacing("$", with: registeredName))
        try connection.close()
    }

    package func dropsWrite(_ endpoint: String) -> Bool {
        guard kind == .acknowledgedWriteDropped, endpoint == "records/modify", firings < 1 else {
            return false
        }
        firings += 1
        return true
    }

    package func dropsFile() -> Bool {
        guard kind == .acknowledgedFileDropped, firings < 1 else { return false }
        firings += 1
        return true
    }

    package func request(_ request: WireRequest, _ endpoint: String, _ device: Int) throws -> WireRequest {
        if kind == .savedWithoutItsFiles, endpoint == "records/modify" { return try withoutFiles(request) }
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

    private func withoutFiles(_ request: WireRequest) throws -> WireRequest {
        var request = request
        var message = try RecordsModifyRequest(json: request.body)
        for index in message.operations.indices where firings < Self.leaksMax {
            let files = message.operations[index].record.fields.filter { $0.value.value?.filesText != nil }
            guard !files.isEmpty else { continue }
            for name in files.keys { message.operations[index].record.fields[name] = nil }
            firings += 1
        }
        request.body = try message.json()
        return request
    }

    package func response(_ response: WireResponse, _ endpoint: String, _ device: Int) throws -> WireResponse
    {
        let kinds: [Mutant] = [.tokenWithoutItsPage, .remoteDeletionHidden, .lastRecordOfAPageHidden]
        guard kinds.contains(kind), endpoint == "changes/zone", device == 0, response.status == 200 else {
            return response
        }
        var message = try ChangesZoneResponse(json: response.body)
        for index in message.zones.indices {
            guard case .changes(var changes) = message.zones[index] else { continue }
            let count = changes.records.count
            switch kind {
            case .tokenWithoutItsPage: changes.records = []
            case .lastRecordOfAPageHidden: changes.records = changes.records.dropLast()
            default:
                changes.records.removeAll { result in
                    switch result {
                    case .record(let record): record.deleted == true
                    case .tombstone: true
                    case .error: false
                    }
                }
            }
            if changes.records.count < count { firings += 1 }
            message.zones[index] = .changes(changes)
        }
        var response = response
        response.body = try message.json()
        return response
    }
}
