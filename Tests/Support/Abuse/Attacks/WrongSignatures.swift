import Crypto
import Foundation

/// Requests in the name of a server's key that another key has signed.
struct WrongSignatures: Attack {
    let name = "signatures"

    func begin(_ abuser: Abuser) -> [Flood] {
        let date = Date().formatted(.iso8601)
        let target = "/database/1/\(Requests.container)/development/public/records/query"
        let body = Array(#"{"query":{"recordType":"Hog"}}"#.utf8)
        guard let key = try? P256PrivateKey(), let hash = try? SHA256.hash(body),
            let signature = try? key.signature(
                of: Array("\(date):\(SignedRequest.base64(hash)):\(target)".utf8))
        else { return [] }
        let fields =
            "X-Apple-CloudKit-Request-KeyID: \(abuser.server.keyID)\r\n"
            + "X-Apple-CloudKit-Request-ISO8601Date: \(date)\r\n"
            + "X-Apple-CloudKit-Request-SignatureV1: \(SignedRequest.base64(signature))\r\n"
        let request = Requests.whole("POST", target, fields, body, from: abuser.stranger)
        return [Flood(abuser, connections: 16) { request }]
    }
}
