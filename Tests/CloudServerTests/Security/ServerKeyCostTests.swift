import CloudService
import CloudStore
import CloudWire
import Crypto
import Foundation
import SQLiteTestSupport
import System
import Testing

@testable import CloudServer

/// What a program's signed request costs: reading and checking a key is several times as dear as a signature's check.
@Suite struct ServerKeyCostTests {
    private static let container = "iCloud.com.example.todo"
    private static let target = "/database/1/\(container)/development/public/records/lookup"

    private let folder: TemporaryFolder
    private let control: ControlStore
    private let clock = ManualTimeSource(milliseconds: 1_453_760_143_000)
    private let privateKey: P256PrivateKey
    private let key: ControlServerKey
    private let service: CloudService

    init() throws {
        folder = try TemporaryFolder()
        try ControlStore.make(path: folder.file("control.sqlite"))
        control = try ControlStore(path: folder.file("control.sqlite"), clock: clock)
        privateKey = try P256PrivateKey()
        key = try control.serverKeys.add(
            container: Self.container, environment: "development", name: "jobs",
            publicKey: privateKey.publicKey.der)
        service = CloudService(
            store: MemoryCloudStore(), clock: clock, random: SeededRandomSource(seed: 1),
            container: CloudService.Container(identifier: Self.container, environment: "development"),
            accounts: ControlAccounts(control, isDevelopmentForEveryone: true))
    }

    private func status(keyID: String? = nil, signedBy key: P256PrivateKey? = nil) throws -> Int {
        let body = Array(#"{"records":[{"recordName":"a"}]}"#.utf8)
        let date = "2016-01-25T22:15:43Z"
        let message = Array("\(date):\(SignedRequest.base64(try SHA256.hash(body))):\(Self.target)".utf8)
        let signature = try (key ?? privateKey).signature(of: message)
        let request = WireRequest(
            method: "POST", path: Self.target,
            headers: [
                (WireHeader.keyID, keyID ?? self.key.id), (WireHeader.signedDate, date),
                (WireHeader.signature, SignedRequest.base64(signature)),
            ], body: body, rawTarget: Self.target)
        return service.respond(to: request).status
    }

    /// How often a key is read while `body` runs.
    private func reads(_ body: () throws -> Void) throws -> Int {
        let counter = P256KeyReads()
        try P256KeyReads.$counter.withValue(counter) { try body() }
        return counter.count
    }

    @Test func aKeyIsReadAtItsFirstRequestAlone() throws {
        let first = try reads {
            let statuses = try (0..<5).map { _ in try status() }
            #expect(statuses == [200, 200, 200, 200, 200])
        }
        #expect(first == 1)
        // A write to the control file ends what its look-ups remember.
        let later = try reads {
            _ = try control.containers.add("iCloud.com.example.notes")
            #expect(try status() == 200)
        }
        #expect(later == 0)
    }

    @Test func aWrongSignatureCostsNoMoreReadsThanARightOne() throws {
        let stranger = try P256PrivateKey()
        #expect(try status() == 200)
        // Of a name that isn't there the signature is checked all the same, with a key that is made once.
        #expect(try status(keyID: "nobody's") == 401)
        let wrong = try reads {
            for number in 0..<5 {
                let statuses = [try status(signedBy: stranger), try status(keyID: "nobody's \(number)")]
                #expect(statuses == [401, 401])
            }
        }
        #expect(wrong == 0)
    }

    @Test func aRevokedKeyIsRefused() throws {
        #expect(try status() == 200)
        #expect(
            try control.serverKeys.revoke(container: Self.container, environment: "development", name: "jobs")
        )
        #expect(try status() == 401)
    }

    @Test func readKeysAreBoundedAndDropped() throws {
        let keys = PublicKeyCache()
        let (der, other) = (privateKey.publicKey.der, try P256PrivateKey().publicKey)
        for number in 0..<PublicKeyCache.keysMax { _ = try keys.key(id: "\(number)", der: der) }
        #expect(keys.count == PublicKeyCache.keysMax)
        _ = try keys.key(id: "next", der: der)
        #expect(keys.count == 1)
        #expect(try keys.key(id: "next", der: other.der) == other)
        keys.drop(id: "next")
        #expect(keys.count == 0)
    }
}
