import CloudKitTesting
import Foundation
import System
import Testing
import Yap

@testable import YapCloudKit

/// Two values are equal when they are written in the same bytes. Swift's `==` takes "é" and "e" with a combining accent
/// for one text, and zero and minus zero for one number.
@Suite struct SameBytesTests {
    typealias Device = CloudModelTests.Device

    struct Word: CloudModel, Equatable {
        var text = ""
        var forms: [String] = []
        var weight = 1.0
        var tags: [String] = []
        var steps: [String] = []
        var weights: [Double] = []
        static let recordType = "word"
        static let fields = CloudFields<Word> {
            $0.field(\.text)
            $0.field(\.forms)
            $0.field(\.weight)
            $0.field(\.tags).mergedAsSet()
            $0.field(\.steps).mergedInOrder()
            $0.field(\.weights).mergedAsSet()
        }

        /// What is written of it.
        var bits: [[UInt8]] {
            [Array(text.utf8)] + forms.map { Array($0.utf8) } + [Array("\(weight.bitPattern)".utf8)]
                + (tags + steps).map { Array($0.utf8) }
                + weights.map { Array("\($0.bitPattern)".utf8) }
        }
    }

    static let composed = "caf\u{e9}", decomposed = "cafe\u{301}"

    let cloud = TestCloud()

    private func device() throws -> Device {
        try Device(cloud, .model(Word.self, collection: "items")) {
            $0.register(Word.self, inCollection: "items")
        }
    }

    private func set(_ word: Word, _ device: Device) throws {
        try device.write { try $0.setObject(word, forKey: "1", inCollection: "items") }
    }

    private func bits(_ device: Device) throws -> [[UInt8]]? { try device.object(Word.self, "1")?.bits }

    private func sync(_ devices: Device...) throws {
        for device in devices { #expect(device.sync.syncNowInline().state == .idle) }
        for device in devices {
            let count = try device.database.newConnection().blocking.read {
                try $0.ext("cloudKit", as: YapDatabaseCloudKit.self).tables.checksums.differencesCount()
            }
            #expect(count == 0)
        }
    }

    @Test(arguments: [
        (Word(text: composed), Word(text: decomposed)), (Word(forms: [composed]), Word(forms: [decomposed])),
        (Word(weight: 0), Word(weight: -0.0)), (Word(tags: [composed]), Word(tags: [decomposed])),
    ])
    func aChangeOfBytesAloneReachesTheOtherDeviceBothWays(_ one: Word, _ other: Word) throws {
        #expect(one == other && one.bits != other.bits)
        let (phone, laptop) = (try device(), try device())
        try set(one, phone)
        try sync(phone, laptop)
        try set(other, phone)
        #expect(try phone.queue().count == 1)
        try sync(phone, laptop)
        #expect(try bits(laptop) == other.bits)
        try set(one, laptop)
        try sync(laptop, phone)
        #expect(try bits(phone) == one.bits)
    }

    @Test func oneWordThatTwoDevicesWriteInTwoFormsEndsInOne() throws {
        let (phone, laptop) = (try device(), try device())
        try set(Word(text: "coffee"), phone)
        try sync(phone, laptop)
        try set(Word(text: Self.composed, tags: [Self.composed]), phone)
        try set(Word(text: Self.decomposed, tags: [Self.decomposed, "x"]), laptop)
        try sync(laptop, phone, laptop, phone)
        #expect(try bits(phone) == bits(laptop))
        let words = [Self.composed, Self.decomposed, "x"].map { Array($0.utf8) }
        #expect(try Set(phone.object(Word.self, "1")?.tags.map { Array($0.utf8) } ?? []) == Set(words))
    }

    @Test func anElementsFormThatOneDeviceChangesStandsBesideWhatTheOtherAdds() throws {
        let (phone, laptop) = (try device(), try device())
        try set(Word(tags: ["a", Self.composed], steps: ["a", Self.composed], weights: [0, 1]), phone)
        try sync(phone, laptop)
        try set(
            Word(tags: ["a", Self.decomposed], steps: ["a", Self.decomposed], weights: [-0.0, 1]), phone)
        try set(
            Word(tags: ["a", Self.composed, "x"], steps: ["a", Self.composed, "x"], weights: [0, 1, 2]),
            laptop)
        try sync(laptop, phone, laptop, phone)
        #expect(try bits(phone) == bits(laptop))
        #expect(
            try bits(phone)
                == Word(
                    tags: ["a", "x", Self.decomposed], steps: ["a", Self.decomposed, "x"],
                    weights: [1, 2, -0.0]
                ).bits)
    }

    @Test func elementsAreEqualWhenTheirBytesAre() {
        struct Raw: Hashable, RawRepresentable { var rawValue: String }
        struct Own: Hashable { var text: String }
        func count<Element: Hashable>(_ elements: Element...) -> Int {
            Set(elements.map { ExactElement($0) }).count
        }
        #expect(count(Self.composed, Self.decomposed, Self.composed) == 2)
        #expect(count(0.0, -0.0, 0.0) == 2)
        #expect(count(Raw(rawValue: Self.composed), Raw(rawValue: Self.decomposed)) == 2)
        #expect(count(Date(timeIntervalSince1970: 1), Date(timeIntervalSince1970: 1)) == 1)
        #expect(count(Data([1]), Data([1]), Data([2])) == 2)
        // A type of the app's own says itself what is equal.
        #expect(count(Own(text: Self.composed), Own(text: Self.decomposed)) == 1)
        #expect(count(Double.infinity, Double.infinity, 1) == 2)
    }

    @Test func aRowThatWasThereBeforeTheFirstSyncIsTakenOver() throws {
        let phone = try device()
        try set(Word(text: Self.composed), phone)
        try sync(phone)
        let path = NSTemporaryDirectory() + "yap-bytes-" + UUID().uuidString + ".db"
        defer {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }
        let database = try YapDatabase(path: path) { $0.register(Word.self, inCollection: "items") }
        defer { try? database.blocking.close() }
        try database.newConnection().blocking.readWrite {
            try $0.setObject(Word(text: Self.decomposed), forKey: "1", inCollection: "items")
        }
        let laptop = try CloudSync(
            database, container: cloud.device(user: "ada").container,
            models: [.model(Word.self, collection: "items")], zone: "items",
            scheduler: ManualScheduler(clock: cloud.clock), clock: cloud.clock,
            random: SeededRandomSource(seed: 6))
        #expect(laptop.syncNowInline().state == .idle)
        try sync(phone)
        #expect(laptop.syncNowInline().state == .idle)
        let here = try database.newConnection().blocking.read {
            try $0.object(Word.self, forKey: "1", inCollection: "items")
        }
        #expect(try here?.bits == bits(phone))
    }
}
