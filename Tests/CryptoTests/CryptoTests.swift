import Foundation
import System
import Testing

@testable import Crypto

/// The published vectors, and what becomes of input that isn't right.
@Suite struct CryptoTests {
    @Test func sha256IsThatOfThePublishedVectors() throws {
        // FIPS 180-4's examples (NIST CSRC), and no bytes at all.
        let vectors = [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ]
        for (text, digest) in vectors { #expect(Hex.text(try SHA256.hash(text)) == digest) }
        let million = [UInt8](repeating: 0x61, count: 1_000_000)
        let digest = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        #expect(Hex.text(try SHA256.hash(million)) == digest)
        var hash = try SHA256()
        for piece in stride(from: 0, to: million.count, by: 777) {
            try hash.update(Array(million[piece..<min(piece + 777, million.count)]))
        }
        try hash.update([])
        #expect(Hex.text(try hash.finish()) == digest)
    }

    @Test(arguments: 1...20)
    func aProgramMayEndWhileItsThreadsHash(_ attempt: Int) async {
        await #expect(processExitsWith: .success) {
            let (hashes, hashed) = AsyncStream.makeStream(of: Void.self)
            for _ in 0..<4 {
                Thread.detachNewThread {
                    while (try? SHA256.hash("abc")) != nil { hashed.yield() }
                }
            }
            for await _ in hashes.prefix(1_000) {}
            exit(EXIT_SUCCESS)
        }
    }

    @Test func hmacIsThatOfThePublishedVectors() throws {
        // RFC 4231, cases 1, 2, 3 and 6, and an empty key.
        #expect(
            Hex.text(try HMACSHA256.code(of: "Hi There", key: [UInt8](repeating: 0x0B, count: 20)))
                == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        #expect(
            Hex.text(try HMACSHA256.code(of: "what do ya want for nothing?", key: Array("Jefe".utf8)))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        let data = [UInt8](repeating: 0xDD, count: 50)
        #expect(
            Hex.text(try HMACSHA256.code(of: data, key: [UInt8](repeating: 0xAA, count: 20)))
                == "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe")
        #expect(
            Hex.text(
                try HMACSHA256.code(
                    of: "Test Using Larger Than Block-Size Key - Hash Key First",
                    key: [UInt8](repeating: 0xAA, count: 131)))
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
        #expect(
            Hex.text(try HMACSHA256.code(of: "", key: []))
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test func scryptIsThatOfThePublishedVectors() throws {
        // RFC 7914, section 12, cases 2 and 3.
        let second = try PasswordHash.derive(
            Array("password".utf8), salt: Array("NaCl".utf8),
            cost: .init(costLog2: 10, blockSize: 8, parallelism: 16), bytes: 64)
        #expect(
            Hex.text(second)
                == "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640")
        let third = try PasswordHash.derive(
            Array("pleaseletmein".utf8), salt: Array("SodiumChloride".utf8),
            cost: .init(costLog2: 14, blockSize: 8, parallelism: 1), bytes: 64)
        #expect(
            Hex.text(third)
                == "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887")
    }

    @Test func aPasswordMatchesItsOwnHashOnly() throws {
        let cost = PasswordHash.Cost(costLog2: 4, blockSize: 8, parallelism: 1)
        let made = try PasswordHash(hashing: "correct horse", cost: cost)
        let again = try PasswordHash(hashing: "correct horse", cost: cost)
        #expect(made.text != again.text, "each has its own salt")
        #expect(made.text.hasPrefix("$scrypt$ln=4,r=8,p=1$"))
        let read = try PasswordHash(stored: made.text)
        #expect(try read.matches("correct horse"))
        #expect(try !read.matches("correct horsf"))
        #expect(try !read.matches(""))
        #expect(try !read.matches(String(repeating: "x", count: PasswordHash.passwordBytesMax + 1)))
        #expect(throws: CryptoError.passwordTooLong(bytesMax: PasswordHash.passwordBytesMax)) {
            try PasswordHash(hashing: String(repeating: "x", count: PasswordHash.passwordBytesMax + 1))
        }
        #expect(try PasswordHash(hashing: "", cost: cost).matches(""))
    }

    @Test(arguments: [
        "", "plain", "$scrypt$COST$SALT", "$scrypt$ln=15,r=8$SALT$HASH", "$scrypt$COST,x=1$SALT$HASH",
        "$scrypt$ln=99,r=8,p=1$SALT$HASH", "$scrypt$ln=20,r=32,p=16$SALT$HASH",
        "$scrypt$ln=-1,r=8,p=1$SALT$HASH", "$scrypt$ln=4,r=0,p=1$SALT$HASH", "$scrypt$COST$c2Fs!A$HASH",
        "$scrypt$COST$SALT$AAAA", "$argon2$COST$SALT$HASH",
    ])
    func aDamagedPasswordHashIsAnError(_ pattern: String) throws {
        func text(_ pattern: String) -> String {
            pattern.split(separator: "$", omittingEmptySubsequences: false).map { part -> String in
                let words = ["COST": "ln=4,r=8,p=1", "SALT": "c2FsdA", "HASH": "AAAAAAAAAAAAAAAAAAAAAA"]
                return words[String(part)] ?? String(part.replacing("COST", with: "ln=4,r=8,p=1"))
            }.joined(separator: "$")
        }
        #expect(throws: Never.self) { try PasswordHash(stored: text("$scrypt$COST$SALT$HASH")) }
        #expect(throws: CryptoError.damagedPasswordHash) { try PasswordHash(stored: text(pattern)) }
    }

    @Test func randomBytesAreManyAndDiffer() throws {
        #expect(try RandomBytes.make(count: 0).isEmpty)
        let made = try (0..<100).map { _ in try RandomBytes.make(count: 32) }
        #expect(Set(made).count == 100)
        #expect(made.allSatisfy { $0.count == 32 })
    }

    @Test func equalityIsThatOfTheBytes() {
        #expect(ConstantTime.equal([], []))
        #expect(ConstantTime.equal([1, 2, 3], [1, 2, 3]))
        #expect(!ConstantTime.equal([1, 2, 3], [1, 2, 4]))
        #expect(!ConstantTime.equal([1, 2, 3], [1, 2]))
    }

    @Test func textOfBytesReadsBack() throws {
        #expect(Hex.text([0, 0x0F, 0xA5, 0xFF]) == "000fa5ff")
        #expect(Hex.bytes("000FA5ff") == [0, 0x0F, 0xA5, 0xFF])
        #expect(Hex.bytes("") == [])
        for wrong in ["0", "0g", "+1", "é", " 0"] { #expect(Hex.bytes(wrong) == nil) }
        // RFC 4648, section 10, without the padding.
        let vectors = ["", "Zg", "Zm8", "Zm9v", "Zm9vYg", "Zm9vYmE", "Zm9vYmFy"]
        for (count, text) in vectors.enumerated() {
            let bytes = Array("foobar".utf8.prefix(count))
            #expect(Base64.unpadded(bytes) == text)
            #expect(Base64.decoded(unpadded: text) == bytes)
        }
        for wrong in ["Z", "Zh", "Zm9vY", "Zg==", "Zm-v"] { #expect(Base64.decoded(unpadded: wrong) == nil) }
    }
}
