import CloudService
import CloudWire
import Testing

@testable import CloudServer

@Suite struct RouteTests {
    private static let container = CloudService.Container(identifier: "iCloud.x", environment: "development")

    @Test func requestsAreLedToTheirContainer() throws {
        let prefix = "iCloud.x/development"
        guard case .service(let write) = Route(path: "/database/1/\(prefix)/private/records/modify"),
            case .service(let token) = Route(path: "/device/1/\(prefix)/tokens/create"),
            case .courier(let poll) = Route(path: "/device/1/\(prefix)/courier")
        else { throw Failure("led elsewhere") }
        for path in [write, token, poll] { #expect(CloudService.Container(path) == Self.container) }
        #expect(write.database == "private" && write.endpoint == "records/modify")
        #expect(token.database.isEmpty && token.endpoint == "tokens/create")
        #expect(Route(path: "/yap/1/sign-in") == .signIn)
        #expect(Route(path: "/yap/1/health") == .health)
        #expect(Route(path: "/") == .root)
        #expect(Route(path: "/dashboard/account") == .dashboard)
        #expect(Route(path: "/operator/1/nothing") == .operators)
    }

    @Test(arguments: [
        "", "//", "/yap", "/dashboards", "/operator", "/operator/2/session", "/yap/1/health/",
        "/YAP/1/health", "*", "/database",
        "/database/1/c/development",
        "/database/2/c/development/private/records/modify", "/database/1//development/private/records/modify",
        "/database/1/c/test/private/records/modify", "database/1/c/development/private/records/modify",
        "/device/1/c/development/courier/x", "/device/1/c/development/tokens", "/device/1/c/development/x/y",
        "/../../etc/passwd",
    ])
    func everythingElseLeadsNowhere(path: String) {
        #expect(Route(path: path) == .nowhere)
    }

    @Test func noCacheKeepsAnAnswerAndNoBrowserTakesItForAPage() async throws {
        let prefix = "/database/1/\(RawDevice.container)/development/public"
        try await withServer { server in
            let connection = try RawConnection(port: server.port)
            for (target, status) in [
                ("\(prefix)/users/caller?ckWebAuthToken=ada", 200), ("\(prefix)/users/caller", 421),
                ("\(prefix)/users/nothing", 404), ("/nowhere", 404), ("/health", 200),
                ("/asset/1/\(RawDevice.container)/development/file/a/b?t=c", 404),
            ] {
                let response = try connection.exchange("GET", target)
                #expect(response.status == status, "\(target)")
                #expect(response.header("Cache-Control") == "no-store", "\(target)")
                #expect(response.header("X-Content-Type-Options") == "nosniff", "\(target)")
            }
        }
    }
}
