import SQLiteTestSupport
import System
import Testing

@testable import CloudStore

@Suite struct TarTests {
    @Test(
        arguments: [
            ("a", 0), ("control.sqlite", 1), (String(repeating: "n", count: 100), 511),
            (String(repeating: "n", count: 101), 512), ("c/" + String(repeating: "é", count: 150), 1 << 33),
            ("d", (1 << 33) - 1), ("e", 1 << 40),
        ] as [(String, Int64)]) func anEntryIsReadAsItWasWritten(_ name: String, _ bytes: Int64) throws
    {
        let blocks = TarHeader.blocks(of: TarHeader.Entry(name: name, bytes: bytes))
        #expect(blocks.count.isMultiple(of: TarHeader.blockBytes))
        var values: [String: String] = [:]
        var found: TarHeader.Entry?
        var rest = blocks[...]
        while !rest.isEmpty {
            let (entry, type) = try #require(try TarHeader.parse(Array(rest.prefix(512))))
            rest = rest.dropFirst(512)
            if type == 0x78 {
                values = try TarHeader.paxValues(Array(rest.prefix(Int(entry.bytes))))
                rest = rest.dropFirst((Int(entry.bytes) + 511) / 512 * 512)
            } else {
                found = entry
            }
        }
        #expect(values["path"] ?? found?.name == name)
        #expect(values["size"].flatMap { Int64($0) } ?? found?.bytes == bytes)
    }

    @Test(arguments: [
        "", "/control.sqlite", "../control.sqlite", "containers/../development.sqlite",
        "containers/a/development.sqlite/x", "containers/a/test.sqlite", "containers/.a/development.sqlite",
        "containers/a/development.assets/ab/../x", "containers/a/development.assets/a/ab",
        "containers/a/development.assets/ab/AB", "serve.lock", "control.sqlite ", "a/b/development.sqlite",
    ]) func nothingLeadsOutOfTheFolder(_ name: String) {
        #expect(BackupEntry(name) == nil)
    }

    /// A size below zero would lead the reader back to where it was, again and again.
    @Test(arguments: ["-0000001000", "+0000001000", "0000000100x", ""]) func aSizeIsDigitsAndNothingElse(
        _ size: String
    ) throws {
        var block = TarHeader.blocks(of: TarHeader.Entry(name: "a", bytes: 0))
        for place in 0..<12 { block[124 + place] = place < size.utf8.count ? Array(size.utf8)[place] : 0 }
        let sum = block.enumerated().reduce(0) {
            $0 + ((148..<156).contains($1.offset) ? 32 : Int($1.element))
        }
        let digits = Array(String(sum, radix: 8).utf8)
        block.replaceSubrange(148..<154, with: [UInt8](repeating: 0x30, count: 6 - digits.count) + digits)
        #expect(throws: TarError.self) { try TarHeader.parse(block) }
    }

    /// Also in the header's checksum, which doesn't count itself: it has one form.
    @Test func noBitOfAHeaderChangesUnnoticed() throws {
        let block = TarHeader.blocks(of: TarHeader.Entry(name: "control.sqlite", bytes: 4_096))
        var unnoticed: [Int] = []
        for bit in 0..<8 * block.count {
            var changed = block
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            do {
                _ = try TarHeader.parse(changed)
                unnoticed.append(bit)
            } catch is TarError {}
        }
        #expect(unnoticed == [])
    }

    @Test func nothingIsHiddenBehindAnExtendedHeader() throws {
        let folder = try TemporaryFolder()
        let name = String(repeating: "n", count: 101)
        var bytes = TarHeader.blocks(of: TarHeader.Entry(name: name, bytes: 0))
        bytes += [UInt8](repeating: 0, count: 2 * TarHeader.blockBytes)
        for isChanged in [false, true] {
            // The last byte of the block that has the name.
            if isChanged { bytes[2 * TarHeader.blockBytes - 1] = 1 }
            let path = folder.file("\(isChanged).tar")
            let made = try OpenFile(path, .creating(mode: 0o600))
            try made.write(bytes)
            let reader = try TarReader(OpenFile(path, .reading))
            if isChanged {
                #expect(throws: TarError.self) { try reader.next() }
            } else {
                #expect(try reader.next()?.name == name)
            }
        }
    }

    @Test func aLineOfChecksumsHasAnEnd() throws {
        let folder = try TemporaryFolder()
        let sums = [UInt8](repeating: 0x61, count: 5 << 20)
        let file = try OpenFile(folder.file("a.tar"), .creating(mode: 0o600))
        try file.write(TarHeader.blocks(of: TarHeader.Entry(name: "FORMAT", bytes: 0)))
        try file.write(TarHeader.blocks(of: TarHeader.Entry(name: "SHA256SUMS", bytes: Int64(sums.count))))
        try file.write(sums + [UInt8](repeating: 0, count: 1024))
        let reader = try BackupReader(path: folder.file("a.tar"))
        #expect {
            try reader.forEach { _ in }
        } throws: { error in
            (error as? BackupError)?.description.contains("a line of its checksums is too long") ?? false
        }
    }

    @Test(arguments: [
        "FORMAT", "control.sqlite", "yap.json", "SHA256SUMS", "containers/a.b/production.sqlite",
        "containers/a/development.assets/0f/0fab",
    ]) func whatABackupHoldsIsKnownByItsName(_ name: String) {
        #expect(BackupEntry(name)?.name == name)
    }
}
