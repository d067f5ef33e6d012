import CloudKit
import CloudWire
import Foundation
import Testing

@testable import YapCloudKit

/// Field maps, and the merge of one record.
@Suite struct FieldsTests {
    enum Colour: String, CloudFieldValue { case red, green }

    struct Everything: Sendable, Equatable {
        var text = "t"
        var flag = true
        var whole = 7
        var fraction = 1.5
        var date = Date(timeIntervalSince1970: 1000)
        var data = Data([1, 2])
        var id = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        var colour = Colour.green
        var tags = ["a", "b"]
        var missing: String?
        var seconds = 90.0
        var secret = "stays"
    }

    static let map = CloudFields<Everything> {
        $0.field(\.text)
        $0.field(\.flag, as: "isFlagged")
        $0.field(\.whole)
        $0.field(\.fraction)
        $0.field(\.date)
        $0.field(\.data)
        $0.field(\.id)
        $0.field(\.colour)
        $0.field(\.tags)
        $0.field(\.missing)
        $0.field(
            \.seconds, as: "minutes", toCloud: { $0 / 60 }, fromCloud: { ($0 as? Double).map { $0 * 60 } })
    }

    @Test func everyTypeOfPropertyComesBackFromItsField() throws {
        let object = Everything()
        let fields = try Self.map.fields(of: object)
        #expect(fields["isFlagged"]?.value == .int64(1))
        #expect(fields["colour"]?.value == .string("green"))
        #expect(fields["minutes"]?.value == .double(1.5))
        #expect(fields["missing"] == .cleared)
        #expect(fields["secret"] == nil)
        var other = Everything(
            text: "", flag: false, whole: 0, fraction: 0, date: Date(timeIntervalSince1970: 0), data: Data(),
            id: nil,
            colour: .red, tags: [], missing: "x", seconds: 0, secret: "stays")
        for entry in Self.map.entries { entry.write(&other, fields[entry.name], Everything()) }
        #expect(other == object)
    }

    @Test func aValueOfAnotherTypeLeavesThePropertyAsItIs() throws {
        var object = Everything()
        for entry in Self.map.entries where ["whole", "colour", "date"].contains(entry.name) {
            entry.write(&object, Field(.string("no such thing")), Everything(whole: 9))
        }
        #expect(object == Everything())
    }

    @Test func whatAnotherDeviceRemovedIsNoneOrTheDefault() {
        var object = Everything(whole: 8, colour: .red, tags: ["c"], missing: "x", secret: "s")
        for entry in Self.map.entries where ["whole", "colour", "tags", "missing"].contains(entry.name) {
            entry.write(&object, .cleared, Everything())
        }
        #expect(object == Everything(tags: [], secret: "s"))
    }

    @Test func aMapWithoutUsableNamesIsRefusedWhenItIsBuilt() async {
        await #expect(processExitsWith: .failure) {
            _ = CloudFields<Everything> {
                $0.field(\.text)
                $0.field(\.secret, as: "text")
            }
        }
        await #expect(processExitsWith: .failure) {
            _ = CloudFields<Everything> { $0.field(\.text.first4) }
        }
    }

    private func merge(
        local: [String: Field], pending: [String: Field] = [:], originals: [String: Field] = [:],
        remote: [String: Field], defaults: [String: Field] = [:],
        rule: (String, Field?, Field, Field?) -> Field? = { _, _, _, _ in nil }
    ) -> FieldMerge {
        FieldMerge(
            names: ["a", "b"], local: local, pending: pending, originals: originals, remote: remote,
            defaults: { defaults }, merge: { rule($0, $1, $2, $3).map { MergedField(field: $0) } })
    }

    private func number(_ value: Int64) -> Field { Field(.int64(value)) }

    @Test func whatOnlyTheServerChangedIsTakenOver() {
        let merge = merge(local: ["a": number(1), "b": number(2)], remote: ["a": number(5), "b": number(2)])
        #expect(merge.toStore == ["a": number(5)])
        #expect(merge.toUpload.isEmpty)
    }

    @Test func whatTheServerRemovedIsRemoved() {
        let merge = merge(local: ["a": number(1), "b": number(2)], remote: ["b": number(2)])
        #expect(merge.toStore == ["a": .cleared])
    }

    @Test func whatOnlyThisDeviceChangedIsUploaded() {
        let merge = merge(
            local: ["a": number(3)], pending: ["a": number(3)], originals: ["a": number(1)],
            remote: ["a": number(1)])
        #expect(merge.toStore.isEmpty)
        #expect(merge.toUpload == ["a": number(3)])
    }

    @Test func ofTwoChangesTheRemoteOneWins() {
        let merge = merge(
            local: ["a": number(3)], pending: ["a": number(3)], originals: ["a": number(1)],
            remote: ["a": number(2)])
        #expect(merge.toStore == ["a": number(2)])
        #expect(merge.toUpload.isEmpty)
    }

    @Test func aFieldThatWasNeverSetIsNoConflict() {
        let merge = merge(
            local: ["a": number(3)], pending: ["a": number(3)], originals: ["a": number(0)], remote: [:],
            defaults: ["a": number(0)])
        #expect(merge.toStore.isEmpty)
        #expect(merge.toUpload == ["a": number(3)])
    }

    @Test func aValueThatTheServerClearedIsAConflict() {
        let merge = merge(
            local: ["a": number(3)], pending: ["a": number(3)], originals: ["a": number(1)], remote: [:],
            defaults: ["a": number(0)])
        #expect(merge.toStore == ["a": .cleared])
        #expect(merge.toUpload.isEmpty)
    }

    @Test func twoEqualChangesAreNoConflict() {
        let merge = merge(
            local: ["a": number(3)], pending: ["a": number(3)], originals: ["a": number(1)],
            remote: ["a": number(3)])
        #expect(merge.toStore.isEmpty)
        #expect(merge.toUpload.isEmpty)
    }

    @Test func aFieldsOwnRuleGetsBaseLocalAndRemote() {
        let merge = merge(
            local: ["a": number(3)], pending: ["a": number(3)], originals: ["a": number(1)],
            remote: ["a": number(2)]
        ) { _, base, local, remote in
            guard
                case (.int64(let base)?, .int64(let local)?, .int64(let remote)?) =
                    (base?.value, local.value, remote?.value)
            else { return nil }
            return Field(.int64(local + remote - base))
        }
        #expect(merge.toStore == ["a": number(4)])
        #expect(merge.toUpload == ["a": number(4)])
    }
}

extension String {
    /// A property that no key path can name.
    fileprivate var first4: String {
        get { String(prefix(4)) }
        set { self = newValue }
    }
}
