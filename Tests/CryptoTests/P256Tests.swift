import Testing

@testable import Crypto

/// Keys on P-256, and what a server signs with one.
@Suite struct P256Tests {
    /// Made with `openssl ecparam -name prime256v1 -genkey`, `openssl ec -pubout` and `openssl dgst -sha256 -sign`.
    static let opensslKey = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEJuxECYo8RRx+Y4Me5YxfRxYJLqB1
        nxAcffemgpE3bhjIrSsKzt2usTjN5QOPEk+G+//8Fecc+7Hgtn4XDWC3Ow==
        -----END PUBLIC KEY-----
        """
    static let opensslDate = "2016-01-25T22:15:43Z"
    static let opensslTarget =
        "/database/1/iCloud.com.example.todo/development/public/users/caller?ckjsVersion=2.6.4"
    static let opensslSignature =
        "MEYCIQDM0bA2xtk0BnFGp4YEVBH3w8QqJfdy+F5IXASvE8et6gIhAIro3Nt/tN+CsQPK+TVM0mckmlPFwCtPTREUZ3oBe7k4"

    @Test func aSignatureOfTheOpensslCommandFitsItsMessageAndNoOther() throws {
        let key = try P256PublicKey(pem: Self.opensslKey)
        let signed = try #require(SignedRequest(date: Self.opensslDate, signature: Self.opensslSignature))
        let messages = try signed.messages(target: Self.opensslTarget, body: [])
        #expect(messages.count == 2)
        #expect(try key.verifies(signature: signed.signature, of: messages[0]))
        #expect(try !key.verifies(signature: signed.signature, of: messages[1]))
        for (target, body) in [
            (Self.opensslTarget + "&x=1", []), ("/database/1/", []), (Self.opensslTarget, [0x7B, 0x7D]),
        ] as [(String, [UInt8])] {
            for message in try signed.messages(target: target, body: body) {
                #expect(try !key.verifies(signature: signed.signature, of: message))
            }
        }
        let other = try P256PrivateKey().publicKey
        #expect(try !other.verifies(signature: signed.signature, of: messages[0]))
    }

    @Test func noChangedByteOfASignatureFits() throws {
        let key = try P256PublicKey(pem: Self.opensslKey)
        let signed = try #require(SignedRequest(date: Self.opensslDate, signature: Self.opensslSignature))
        let message = try signed.messages(target: Self.opensslTarget, body: [])[0]
        for index in signed.signature.indices {
            for bit in [0x01, 0x80] as [UInt8] {
                var changed = signed.signature
                changed[index] ^= bit
                #expect(try !key.verifies(signature: changed, of: message))
            }
            #expect(try !key.verifies(signature: Array(signed.signature[..<index]), of: message))
        }
        #expect(try !key.verifies(signature: signed.signature + [0], of: message))
    }

    @Test func aKeyThatWasMadeSignsAndComesBackFromItsTexts() throws {
        let key = try P256PrivateKey()
        #expect(key.pem.hasPrefix("-----BEGIN EC PRIVATE KEY-----\n"))
        let message = Array("message".utf8)
        let read = try P256PrivateKey(pem: key.pem)
        #expect(read.publicKey == key.publicKey)
        #expect(try P256PublicKey(der: key.publicKey.der) == key.publicKey)
        #expect(try key.publicKey.verifies(signature: try read.signature(of: message), of: message))
        #expect(try P256PrivateKey().publicKey != key.publicKey)
    }

    @Test func aKeyIsReadOnceHoweverOftenItSignsAndChecks() throws {
        let text = try P256PrivateKey().pem
        let counter = P256KeyReads()
        try P256KeyReads.$counter.withValue(counter) {
            let key = try P256PrivateKey(pem: text)
            let count = counter.count
            #expect(count > 0)
            for number in 0..<10 {
                let message: [UInt8] = [UInt8(number)]
                let signature = try key.signature(of: message)
                #expect(try key.publicKey.verifies(signature: signature, of: message))
                #expect(try !key.publicKey.verifies(signature: signature, of: [99]))
            }
            #expect(counter.count == count)
        }
    }

    @Test(arguments: [
        "", "key", "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----",
        // secp384r1, RSA and secp256k1.
        """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEDiqhw6kK4A9B3Eoins8n2ss2OPlBhRUK
        9v0nMA7l6qyY3Tm/zM42XpKML5FGz/1FocR9+4U8KJL/mAx/08HQnQPPIVNGD4/Q
        nPAXN0hjpwmVoPBvIHF/ShL6Jw1omTrn
        -----END PUBLIC KEY-----
        """,
        """
        -----BEGIN PUBLIC KEY-----
        MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDC9sZdCkw8R2fv5La4uSdi0/9T
        YcT6s/Ofpxl5DvJwFs4djDJMpykgV0aXXskxjF1Trzo5QAAHD7Q3wi/G0JNLJyln
        WTWXxVUSM+DaFsmZ5D66alXFHUdsrCt2MYK9cZ8cg9teh3bh3KS7JGycXfnrx0+M
        6bulFhDbSv79NFIuTwIDAQAB
        -----END PUBLIC KEY-----
        """,
        """
        -----BEGIN PUBLIC KEY-----
        MFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAElfKa+zoiJNhJ8eM0jEaBziEH3ao89Ndq
        Or4FwgCF1HndNidNGdbEbDlxVI00cHveJ7v1DekOZWz2M1luNrpurQ==
        -----END PUBLIC KEY-----
        """,
        // A point beside the curve.
        """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEJuxECYo8RRx+Y4Me5YxfRxYJLqB1
        nxAcffemgpE3bhjIrSsKzt2usTjN5QOPEk+G+//8Fecc+7Hgtn4XDWC3Ou==
        -----END PUBLIC KEY-----
        """,
    ])
    func whatIsNoPublicKeyOfTheCurveIsRefused(text: String) throws {
        #expect(throws: CryptoError.notAPublicKey) { try P256PublicKey(pem: text) }
        #expect(throws: CryptoError.notAPrivateKey) { try P256PrivateKey(pem: text) }
        #expect(throws: CryptoError.notAPublicKey) { try P256PublicKey(der: Array(text.utf8)) }
    }

    @Test func aStoredKeyWithBytesBehindItIsNone() throws {
        let der = try P256PrivateKey().publicKey.der
        #expect(throws: CryptoError.notAPublicKey) { try P256PublicKey(der: der + [0]) }
        for count in 0..<der.count {
            #expect(throws: CryptoError.notAPublicKey) { try P256PublicKey(der: Array(der[..<count])) }
        }
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2016-01-25T22:15:43Z", 1_453_760_143_000),
        ("2000-02-29T23:59:59.5Z", 951_868_799_500), ("2026-12-31T23:59:60Z", 1_798_761_600_000),
        ("2026-03-01T00:00:00.123456Z", 1_772_323_200_123),
    ])
    func aDateIsRead(text: String, milliseconds: Int64) {
        #expect(SignedRequest.milliseconds(of: text) == milliseconds)
    }

    @Test(arguments: [
        "", "2016-01-25", "2016-01-25T22:15:43", "2016-01-25T22:15:43+00:00", "2016-13-25T22:15:43Z",
        "2016-02-30T22:15:43Z", "2015-02-29T22:15:43Z", "2016-01-25T24:15:43Z", "2016-01-25T22:60:43Z",
        "2016-01-25 22:15:43Z", "2016-01-25T22:15:43.Z", "2016-01-25T22:15:43.1234567890123Z",
        "-016-01-25T22:15:43Z", "1969-12-31T23:59:59Z", "2016-01-25T22:15:43z", "２016-01-25T22:15:43Z",
    ])
    func whatIsNoDateIsRefused(text: String) {
        #expect(SignedRequest.milliseconds(of: text) == nil)
        #expect(SignedRequest(date: text, signature: Self.opensslSignature) == nil)
    }

    @Test(arguments: ["", "=", "====", "MEYC*", "MEYC\n", "M", String(repeating: "A", count: 132)])
    func whatIsNoBase64IsNoSignature(text: String) {
        #expect(SignedRequest(date: Self.opensslDate, signature: text) == nil)
    }

    @Test func theSignedPathIsThatOfTheTargetAsItCame() {
        #expect(SignedRequest.path(ofTarget: "/a%2Fb?c=%2B") == "/a%2Fb?c=%2B")
        #expect(SignedRequest.path(ofTarget: "https://example.com:8080/a?b") == "/a?b")
        #expect(SignedRequest.path(ofTarget: "http://example.com") == "/")
        #expect(SignedRequest.base64(Array("abc".utf8)) == "YWJj")
        #expect(SignedRequest.base64(Array("a".utf8)) == "YQ==")
    }
}
