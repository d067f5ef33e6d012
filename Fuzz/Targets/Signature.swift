import Crypto
import System

@testable import CloudStore

/// What tells who asks: a signed request's headers and target, keys, web auth tokens and the tickets of sign-in pages.
///
/// An input is lines: date, signature, target, body, then a key's text. As a whole it is read as the others too.
@Sendable func fuzzSignature(_ bytes: [UInt8]) throws {
    let whole = String(decoding: bytes, as: UTF8.self)
    let lines = bytes.split(separator: 0x0A, maxSplits: 4, omittingEmptySubsequences: false).map {
        String(decoding: $0, as: UTF8.self)
    }
    let key = lines.count > 4 ? (try? P256PublicKey(pem: lines[4])) ?? (try? P256PublicKey(der: bytes)) : nil
    if let key { try expect(try P256PublicKey(der: key.der) == key, "a key is another when it was stored") }
    if lines.count > 3, let signed = SignedRequest(date: lines[0], signature: lines[1]) {
        try expect(signed.milliseconds >= 0, "a date before 1970")
        let path = SignedRequest.path(ofTarget: lines[2])
        let body = Array(lines[3].utf8)
        for message in try signed.messages(target: path, body: body) {
            let fits = try key?.verifies(signature: signed.signature, of: message) ?? false
            guard fits, let key else { continue }
            try expect(
                try !key.verifies(signature: signed.signature, of: message + [0]),
                "a signature fits two messages")
        }
    }
    if let token = SessionToken(whole) { try expect(token.text == whole, "a token has two texts") }
    if let ticket = SignInTicket(words: whole) { try expect(ticket.words == whole, "a ticket has two texts") }
    if let (words, code) = SignInTicket.split(whole) {
        try expect("\(words).\(code)" == whole, "a ticket loses bytes")
        if let bytes = Hex.bytes(String(code)) {
            try expect(Hex.text(bytes) == code.lowercased(), "digits have two meanings")
        }
    }
}
