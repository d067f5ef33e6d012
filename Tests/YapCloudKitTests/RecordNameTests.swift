import CloudKit
import CloudKitTesting
import System
import TestSeed
import Testing
import Yap

@testable import YapCloudKit

/// Keys that can't be names of records: they are encoded, or refused at once; none waits for ever.
@Suite struct RecordNameTests {
    typealias Device = CloudModelTests.Device

    struct Bookmark: CloudModel, Equatable {
        var title = ""
        static let recordType = "bookmark"
        static let fields = CloudFields<Bookmark> { $0.field(\.title) }
    }

    let cloud = TestCloud()
    private static let keys = [
        "https://example.com/café", "https://example.com/caf%C3%A9", "100%", "%", "%zz", "%41", "line\nbreak",
        "日本", "_draft", "__", "%5Fdraft", "a_b",
        "https://example.com/?q=a b&c=d",
    ]

    private func device() throws -> Device {
        try Device(cloud, .model(Bookmark.self, collection: "items")) {
            $0.register(Bookmark.self, inCollection: "items")
        }
    }

    private func set(_ key: String, _ device: Device) throws {
        try device.write { try $0.setObject(Bookmark(title: key), forKey: key, inCollection: "items") }
    }

    private func keys(_ device: Device) throws -> [String] {
        try device.database.newConnection().blocking.read { try Array($0.keys(inCollection: "items")) }
            .sorted()
    }

    @Test func aKeyOfAnyTextIsTheSameKeyOnEachDeviceAndItsDeletionArrives() throws {
        let (phone, laptop) = (try device(), try device())
        for key in Self.keys { try set(key, phone) }
        #expect(phone.sync.syncNowInline().state == .idle)
        #expect(laptop.sync.syncNowInline().state == .idle)
        #expect(try keys(laptop) == Self.keys.sorted())
        for key in Self.keys {
            try laptop.write { try $0.removeObject(forKey: key, inCollection: "items") }
        }
        #expect(laptop.sync.syncNowInline().state == .idle)
        #expect(phone.sync.syncNowInline().state == .idle)
        #expect(try keys(phone).isEmpty)
    }

    @Test func differentKeysHaveDifferentNamesAndEachNameLeadsBack() {
        #expect(Set(Self.keys.map(RecordNames.name(forKey:))).count == Self.keys.count)
        for key in Self.keys { #expect(RecordNames.key(forName: RecordNames.name(forKey: key)) == key) }
        #expect(RecordNames.name(forKey: "https://example.com/café") == "https://example.com/caf%C3%A9")
        #expect(
            RecordNames.name(forKey: "https://example.com/caf%C3%A9") == "https://example.com/caf%25C3%25A9")
        #expect(RecordNames.name(forKey: "100%") == "100%")
        #expect(RecordNames.name(forKey: "_a_b") == "%5Fa_b", "no server takes a new record named _a_b")
    }

    @Test func aNameOfAnotherClientIsItsOwnKey() {
        // Not encoded as a key would be, and not UTF-8.
        for name in ["%41", "%ff", "%FF", "a%C3", "%c3%a9"] {
            #expect(RecordNames.key(forName: name) == name)
        }
    }

    @Test func randomKeysLeadBack() {
        let random = SeededRandomSource(seed: TestSeed.value)
        let pieces = [
            "%", "4", "1", "C", "3", "A", "9", "é", "\u{1F600}", " ", "\u{7F}", "\0", "z", "%C3", "%25",
            "_", "%5F",
        ]
        for _ in 0..<5_000 {
            let key = (0..<random.next(in: 1..<9)).map { _ in pieces[random.next(in: 0..<pieces.count)] }
                .joined()
            let name = RecordNames.name(forKey: key)
            #expect(throws: Never.self) { try RecordNames.check(name) }
            #expect(RecordNames.key(forName: name) == key, "seed \(random.seed): \(Array(key.utf8))")
        }
    }

    @Test(arguments: [String(repeating: "x", count: 256), String(repeating: "é", count: 43), ""])
    func aKeyThatIsTooLongIsRefusedAtOnceWithTheRuleAndLeavesNothing(_ key: String) throws {
        let phone = try device()
        let error = #expect(throws: YapDatabaseCloudKitError.self) { try set(key, phone) }
        #expect(error?.description.contains("1 to 255 printable ASCII characters") == true)
        #expect(try keys(phone).isEmpty)
        #expect(phone.sync.syncNowInline().state == .idle)
        try set("short", phone)
        #expect(phone.sync.syncNowInline().state == .idle)
    }

    @Test("the deletion of a record whose name no server takes leaves the queue", arguments: forms)
    func theDeletionOfARecordThatTheServerNeverHadLeavesTheQueue(_ form: QueueStorage) throws {
        let device = try HandledDevice(cloud, suspended: true, storage: form)
        let record = CKRecord(recordType: "todo", recordID: device.id("café"))
        try device.write { transaction, ext in
            // As of a file in which such a name was queued.
            try ext.attachRecord(
                record, databaseIdentifier: nil, forKey: "café", inCollection: "todos",
                shouldUploadRecord: false)
            try transaction.setObject(Todo(title: "r"), forKey: "café", inCollection: "todos")
        }
        try device.remove("café")
        #expect(try !device.queue().isEmpty)
        #expect(device.upload().state == .idle)
        #expect(try device.queue().isEmpty)
    }

    @Test("a name that a handler gives is refused as a key is", arguments: forms)
    func aNameThatAHandlerGivesIsRefusedAsAKeyIs(_ form: QueueStorage) throws {
        let device = try HandledDevice(cloud, suspended: true, storage: form)
        #expect(throws: YapDatabaseCloudKitError.self) { try device.set(Todo(title: "r"), "café") }
        #expect(try device.queue().isEmpty)
        #expect(device.upload().state == .idle)
    }
}
