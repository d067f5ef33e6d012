import Testing

@testable import CloudWire

@Suite struct ZoneChecksumWireTests {
    /// From the hash's own reference.
    @Test func theHashIsXXH64() {
        #expect(FastHash.hash("", seed: 0) == 0xEF46_DB37_51D8_E999)
        #expect(FastHash.hash("a", seed: 0) == 0xD24E_C4F1_A98C_6E5B)
        #expect(FastHash.hash("abc", seed: 0) == 0x44BC_2CF5_AD77_0999)
        #expect(
            FastHash.hash("Nobody inspects the spammish repetition", seed: 0) == 0xFBCE_A83C_8A37_8BF1)
    }

    @Test func aTextIsReadBack() {
        let sums = [
            ZoneChecksum(), ZoneChecksum(identities: 1, contents: .max),
            ZoneChecksum(identities: 0xAB << 60, contents: 7),
        ]
        for sum in sums {
            #expect(sum.text.utf8.count == 32)
            #expect(ZoneChecksum(sum.text) == sum)
        }
        for text in [
            "", "0", String(repeating: "g", count: 32), String(repeating: "A", count: 32),
            "+" + sums[0].text.dropLast(),
        ] {
            #expect(ZoneChecksum(text) == nil, "\(text)")
        }
    }

    @Test func partsAddUpInAnyOrderAndAreTakenOff() {
        let parts = (0..<5).map { number in
            ZoneChecksum(
                recordName: "r\(number)", recordType: "todo", changeTag: "\(number).1",
                content: ZoneChecksum.content(
                    recordName: "r\(number)", fields: ["n": Field(.int64(Int64(number)))]))
        }
        var sum = ZoneChecksum()
        for part in parts { sum += part }
        var other = ZoneChecksum()
        for part in parts.reversed() { other += part }
        #expect(sum == other)
        for part in parts { sum -= part }
        #expect(sum == ZoneChecksum())
        #expect(Set(parts).count == 5)
    }

    @Test func ofAFileOnlyChecksumAndSizeCount() {
        func content(_ asset: Asset) -> [UInt64] {
            [["f": Field(.asset(asset))], ["f": Field(.list(.assetList, [.asset(asset)]))]].map {
                ZoneChecksum.content(recordName: "a", fields: $0)
            }
        }
        let file = Asset(fileChecksum: "sum", size: 3)
        var told = file
        told.downloadURL = "https://example.com/1"
        told.wrappingKey = "key"
        told.receipt = "receipt"
        #expect(content(file) == content(told))
        #expect(content(file) != content(Asset(fileChecksum: "sum", size: 4)))
        #expect(content(file) != content(Asset(fileChecksum: "other", size: 3)))
    }

    @Test func whatIsSaidOfARecordCounts() {
        let fields: [String: Field] = ["n": Field(.int64(1)), "m": Field(.double(1))]
        let contents = [
            ZoneChecksum.content(recordName: "a", fields: fields),
            ZoneChecksum.content(recordName: "b", fields: fields),
            ZoneChecksum.content(recordName: "a", fields: ["n": Field(.int64(1))]),
            ZoneChecksum.content(recordName: "a", fields: ["n": Field(.double(1)), "m": Field(.double(1))]),
            ZoneChecksum.content(
                recordName: "a", fields: fields.mapValues { Field($0.value ?? .int64(0), isEncrypted: true) }),
        ]
        #expect(Set(contents).count == contents.count)
        let identities = [
            ("a", "t", "1"), ("b", "t", "1"), ("a", "u", "1"), ("a", "t", "2"), ("at", "", "1"),
        ]
        .map { ZoneChecksum.identity(recordName: $0, recordType: $1, changeTag: $2) }
        #expect(Set(identities).count == identities.count)
    }
}
