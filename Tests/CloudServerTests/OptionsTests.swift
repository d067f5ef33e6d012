import CloudService
import Testing

@testable import CloudServer

/// What an operator may write into the settings.
@Suite struct OptionsTests {
    @Test func uncountableNumbersStopNoServer() async throws {
        #expect(DescriptorLimit.makeRoom(connectionsMax: .max, environmentsOpenMax: .max) > 0)
        var polls = CourierPolls<Int>(pollsMax: .max, holdMilliseconds: .max)
        let device = CourierPolls<Int>.Device(environment: 0, apnsToken: "a")
        guard case .held = polls.arrive(device, 1, nowMilliseconds: 1_000) else {
            throw Failure("not held")
        }
        var limits = ServiceLimits()
        limits.assets.fileBytesMax = .max
        let all = limits
        try await withAssetServer(
            limits: all,
            configure: {
                $0.assets.uploadsMax = .max
                $0.assets.downloadsMax = .max
            }
        ) { server, _ in
            let client = try AssetClient(port: server.port)
            _ = try client.upload([1, 2, 3])
        }
    }
}
