import CloudService
import CloudStore
import CloudWire
import Crypto
import Testing
import UseCounter

@testable import CloudServer

/// What the server answers itself keeps the bounds of its routes too.
@Suite struct RouteBoundsTests {
    @Test func theServersOwnAnswersKeepTheirBounds() async throws {
        try await withGuardedServer(configure: { $0.servesMetrics = true }) { guarded in
            let connection = try RawConnection(port: guarded.server.port)
            let long = String(repeating: "x", count: 4_000)
            let container = "/device/1/\(RawDevice.container)/development"
            let asset = "/asset/1/\(RawDevice.container)/development"
            for (method, path) in [
                ("GET", "/health"), ("GET", "/health/live"), ("GET", "/metrics"), ("GET", "/\(long)"),
                ("GET", "\(Route.signInPath)?ticket=\(long)"), ("POST", Route.signInFormPath),
                ("POST", "\(Route.signOutPath)?ckWebAuthToken=\(long)"),
                ("GET", "\(container)/courier?token=\(long)"), ("POST", "\(asset)/upload?t=\(long)"),
                ("GET", "\(asset)/file/x/y?t=\(long)"),
            ] {
                let route = Route(path: String(path.prefix { $0 != "?" }))
                let bounds = try #require(route.bounds(CloudServerOptions()), "\(path)")
                let response = try connection.exchange(method, path)
                #expect(response.body.count <= bounds.answerBytes, "\(path): \(response.body.count)")
            }
        }
    }

    /// On the service's thread, where it can be counted.
    @Test func aPollOfTheCourierKeepsItsBounds() throws {
        let cloud = try WalkedCloud()
        let token = try cloud.makeDevice("polled")
        try cloud.notify(cloud.limits.subscriptionsMax)
        var options = CloudServerOptions()
        options.limits = cloud.limits
        let route = Route(path: "/device/1/\(RawDevice.container)/development/courier")
        let bounds = try #require(route.bounds(options))
        let first = try #require(try cloud.service.takePush(apnsToken: token))
        let (push, use) = try cloud.counting {
            try cloud.service.takePush(apnsToken: token, acknowledging: first.notificationID, taking: .newest)
        }
        #expect(use.rowsRead > 0 && use.rowsWritten > 0 && use.rowsRead <= bounds.rowsRead)
        #expect(use.rowsWritten <= bounds.rowsWritten && use.steps <= bounds.steps)
        #expect(use.diskBytes > 0 && use.diskBytes <= bounds.diskBytes)
        #expect(use.memoryBytes <= bounds.memoryBytes)
        #expect(max(first.payload.count, push?.payload.count ?? 0) <= bounds.answerBytes)
    }

    /// A password's hash is most of it.
    @Test func aSignInKeepsItsBounds() throws {
        let cloud = try WalkedCloud()
        let hash = try PasswordHash(hashing: "bob's password")
        _ = try cloud.control.accounts.add(name: "bob", passwordHash: hash.text)
        let check = try SignInCheck(cloud.control, isDevelopmentForEveryone: true)
        let app = try cloud.control.tokens.make(container: RawDevice.container, name: "sign-in")
        let request = SignInRequest(
            account: "bob", password: "bob's password", container: RawDevice.container,
            environment: "development", apiToken: app)
        let bounds = try #require(Route.signIn.bounds(CloudServerOptions()))
        let (answer, use) = cloud.counting { check.signIn(request, peer: "192.0.2.1") }
        guard case .signedIn = answer else { throw Failure("\(answer)") }
        if UseCounter.countsMemory {
            #expect(use.memoryBytes <= bounds.memoryBytes && use.memoryBytes >= bounds.memoryBytes / 2)
        }
        #expect(use.rowsRead > 0 && use.rowsRead <= bounds.rowsRead)
        #expect(use.rowsWritten > 0 && use.rowsWritten <= bounds.rowsWritten && use.steps <= bounds.steps)
    }
}
