import CloudServer
import CloudService
import Testing

@testable import YapCommand

@Suite struct RateSettingTests {
    @Test func ratesAreSettingsAndZeroIsNone() throws {
        var settings = ServeSettings()
        #expect(try settings.serverOptions().rates == ServiceRates())
        let file = #"{"rates": {"userPerSecond": 5, "userBurst": 50, "addressPerSecond": 0}}"#
        try settings.read(file: "yap.json", Array(file.utf8))
        var line = Invocation()
        line.add("rates.containerBurst=7", to: "set")
        try settings.read(line)
        let rates = try settings.serverOptions().rates
        #expect(rates.user == .init(perSecond: 5, burst: 50) && rates.address == nil)
        #expect(rates.container == .init(perSecond: 10_000, burst: 7))
        #expect(throws: Failure.self) {
            try settings.read(file: "yap.json", Array(#"{"rates": {"userBurst": -1}}"#.utf8))
        }
    }
}
