import CloudKit
import CloudKitAdditions
import CloudWire
import Foundation
import System
import Testing

@testable import CloudKit

/// Files and notifications at Apple's servers, which come from other hosts than the records.
@Suite struct AppleFileTests {
    /// Answers requests as the test says, and gives out bytes at whole addresses.
    private final class Elsewhere: Transport {
        let requests = Collected<WireRequest>()
        let addresses = Collected<String>()
        private let answers: Lock<[String]>
        private let bytes: Lock<[[UInt8]]>

        init(json: [String], bytes: [[UInt8]]) {
            answers = Lock(json)
            self.bytes = Lock(bytes)
        }

        func send(
            _ request: WireRequest, timeouts: RequestTimeouts,
            completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
        ) -> TransportCancel {
            requests.append(request)
            guard let json = answers.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return {} }
            completion(.success(WireResponse(status: 200, body: Array(json.utf8))))
            return {}
        }

        func carry(
            _ file: FileRequest, timeouts: RequestTimeouts,
            completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
        ) -> TransportCancel {
            addresses.append(file.url)
            guard let next = bytes.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return {} }
            let written: Void? = try? next.withUnsafeBytes { try file.sink?.write($0) }
            completion(
                written == nil ? .failure(CKError(.internalError)) : .success(WireResponse(status: 200)))
            return {}
        }
    }

    @Test func aFileIsTakenWhoseChecksumIsOfApplesKind() async throws {
        let folder = try Folder()
        let bytes = Array("a photo".utf8)
        let checksum = Data([1] + (0..<20).map { UInt8($0) }).base64EncodedString()
        let transport = Elsewhere(
            json: [
                """
                {"records": [{"recordName": "1", "recordType": "todo", "recordChangeTag": "a", "fields": {"photo":
                {"type": "ASSETID", "value": {"fileChecksum": "\(checksum)", "size": \(bytes.count),
                "downloadURL": "https://cvws.icloud-content.test/B/x/${f}?o=1"}}}}]}
                """
            ], bytes: [bytes])
        var connection = CloudConnection(
            transport: transport, execution: .inline,
            account: FixedAccount(CloudCredential(webAuthToken: "t")))
        connection.serverKind = .apple
        connection.assetCache = AssetCache(folder: URL(fileURLWithPath: folder.path + "/cache"))
        let database = CKContainer(identifier: "iCloud.a", connection: connection).privateCloudDatabase
        let record = try await database.record(for: CKRecord.ID(recordName: "1"))
        let asset = try #require(record["photo"] as? CKAsset)
        #expect(try Data(contentsOf: try #require(asset.fileURL)) == Data(bytes))
        #expect(transport.addresses.all == ["https://cvws.icloud-content.test/B/x/file?o=1"])
    }

    @Test func notificationsAreWaitedForAtTheAddressThatAppleNames() throws {
        let payload =
            #"{"aps":{"content-available":1},"ck":{"ce":2,"cid":"iCloud.a","nid":"n1","met":{"dbs":2,"sid":"s"}}}"#
        let url = "https://webcourier.push.test:443/aps?tok=a%2Bb&ttl=43200"
        let transport = Elsewhere(
            json: [#"{"apnsEnvironment":"development","apnsToken":"k","webcourierURL":"\#(url)"}"#],
            bytes: [Array(payload.utf8), Array(payload.replacingOccurrences(of: "n1", with: "n2").utf8)])
        let line = Line()
        let container = appleContainer(
            transport, identifier: "iCloud.a",
            account: FixedAccount(CloudCredential(webAuthToken: "t", deviceID: "d")), timers: line.timers)
        let heard = Collected<String>()
        let stop = container.observeNotifications { event in
            if case .notification(let notification) = event {
                heard.append(notification.notificationID?.value ?? "?")
            }
        }
        #expect(heard.all == ["n1", "n2"])
        // Nothing is acknowledged: Apple's servers know of no such thing.
        #expect(transport.addresses.all == [url, url, url])
        let request = try #require(transport.requests.all.first)
        #expect(
            request.path == "/device/1/iCloud.a/development/tokens/create"
                && transport.requests.all.count == 1)
        #expect(request.headers.map(\.name) == ["Content-Type"])
        #expect(Set(try request.json().keys).isSubset(of: ["apnsEnvironment", "clientId"]))
        stop()
    }
}
