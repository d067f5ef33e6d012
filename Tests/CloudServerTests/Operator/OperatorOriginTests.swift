import CloudStore
import CloudWire
import HTTPServer
import Testing

@testable import CloudServer

@Suite struct OperatorOriginTests {
    private func isTaken(
        _ headers: [(name: String, value: String)], method: String = "POST", publicURL: String? = nil
    ) -> Bool {
        let head = HTTPRequestHead(
            method: method, target: "/operator/1/session", path: "/operator/1/session",
            headers: (method == "POST" ? [("Content-Type", "application/json; charset=utf-8")] : []) + headers
        )
        return (try? OperatorOrigin(publicURL: publicURL).check(head)) != nil
    }

    @Test(arguments: ["localhost:8080", "127.0.0.1", "[::1]:8080", "192.0.2.7:8080", "yap.localhost:80"])
    func anAddressThatCannotBeMadeToLeadElsewhereIsTaken(host: String) {
        #expect(isTaken([("Host", host)]))
    }

    @Test(arguments: [
        "evil.example.com", "127.0.0.1.evil.example.com", "localhost.evil.example.com:8080", "",
    ])
    func aNameThatAnybodyCanLeadHereIsRefused(host: String) {
        #expect(!isTaken([("Host", host)]))
        #expect(!isTaken([("Host", host)], method: "GET"))
        #expect(!isTaken([]))
    }

    @Test func theNameOfThePublicURLIsTaken() {
        #expect(isTaken([("Host", "cloud.example.com")], publicURL: "https://cloud.example.com:8443/x"))
        #expect(!isTaken([("Host", "other.example.com")], publicURL: "https://cloud.example.com"))
    }

    @Test func aPageOfAnotherSiteChangesNothing() {
        let host = ("Host", "localhost:8080")
        #expect(isTaken([host, ("Sec-Fetch-Site", "same-origin"), ("Origin", "http://localhost:8080")]))
        #expect(isTaken([host, ("Origin", "http://localhost:8080")]))
        #expect(!isTaken([host, ("Sec-Fetch-Site", "same-site"), ("Origin", "http://localhost:8080")]))
        #expect(!isTaken([host, ("Sec-Fetch-Site", "cross-site")]))
        #expect(!isTaken([host, ("Sec-Fetch-Site", "none")]))
        #expect(!isTaken([host, ("Origin", "http://localhost:9090")]))
        #expect(!isTaken([host, ("Origin", "null")]))
    }

    @Test(arguments: ["text/plain", "application/x-www-form-urlencoded", ""])
    func aFormIsNoRequest(type: String) async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            let response = try client.post(
                "session/end", headers: type.isEmpty ? [] : [("Content-Type", type)])
            #expect(response.status == 400)
            #expect(try client.get("session").status == 200)
        }
    }
}
