import CloudKit
import CloudKitAdditions
import CloudKitTesting
import CloudWire
import Foundation
import System
import Testing

/// What a stream of notifications tells, in a word or two.
func name(_ event: CloudNotificationEvent?) -> String {
    switch event {
    case .listening: "listening"
    case .interrupted(let error): "interrupted \(error.code.rawValue)"
    case .notification(let notification): notification.subscriptionID ?? "?"
    case nil: "end"
    }
}

/// A list that blocks fill from any thread.
final class Collected<Element: Sendable>: Sendable {
    private let list = Lock<[Element]>([])
    var all: [Element] { list.withLock { $0 } }
    func append(_ element: Element) { list.withLock { $0.append(element) } }
}

/// A cloud with a zone `todos` of the user ada, and two devices of hers.
struct TwoDevices {
    let cloud: TestCloud
    let phone: CKDatabase
    let laptop: CKDatabase
    let zoneID = CKRecordZone.ID(zoneName: "todos")

    init(_ cloud: TestCloud = TestCloud()) async throws {
        self.cloud = cloud
        phone = cloud.device(user: "ada").container.privateCloudDatabase
        laptop = cloud.device(user: "ada").container.privateCloudDatabase
        try await phone.save(CKRecordZone(zoneID: zoneID))
    }

    init(_ way: Cloud) async throws { try await self.init(way.cloud()) }

    func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

    func record(_ name: String, title: String? = nil) -> CKRecord {
        let record = CKRecord(recordType: "todo", recordID: id(name))
        if let title { record["title"] = title }
        return record
    }

    /// The body of the last request of `kind`.
    func lastBody(_ kind: RequestKind) throws -> String {
        let request = try #require(cloud.requests.last { $0.kind == kind }?.request)
        return String(decoding: request.body, as: UTF8.self)
    }
}

/// A server of which the test writes every answer.
final class ScriptedTransport: Transport {
    private let answers: Lock<[Result<WireResponse, CKError>]>
    private let log = Collected<WireRequest>()
    var requests: [WireRequest] { log.all }

    init(_ answers: [Result<WireResponse, CKError>]) {
        self.answers = Lock(answers)
    }

    /// Answers that lack the header of our own server.
    convenience init(json: String...) {
        self.init(json.map { .success(WireResponse(status: 200, body: Array($0.utf8))) })
    }

    func send(
        _ request: WireRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        log.append(request)
        let answer = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        completion(answer ?? .failure(CKError(.networkUnavailable)))
        return {}
    }

    var database: CKDatabase { container.privateCloudDatabase }

    var container: CKContainer {
        CKContainer(
            identifier: "iCloud.test",
            connection: CloudConnection(transport: self, execution: .inline, webAuthToken: "t"))
    }
}

/// The code of the error that `body` throws; fails the test when it throws none.
func codeThrown<R>(
    _ body: () async throws -> R, sourceLocation: SourceLocation = #_sourceLocation
) async -> CKError.Code? {
    do {
        _ = try await body()
        Issue.record("nothing was thrown", sourceLocation: sourceLocation)
        return nil
    } catch {
        return (error as? CKError)?.code
    }
}

extension Result where Failure == any Error {
    var code: CKError.Code? {
        if case .failure(let error) = self { (error as? CKError)?.code } else { nil }
    }

    var isSuccess: Bool {
        if case .success = self { true } else { false }
    }
}
