import CloudServer
import CloudService

/// The rates as numbers that a file can set: 0 for none.
extension ServiceRates {
    var userPerSecond: Int {
        get { user?.perSecond ?? 0 }
        set { Self.set(&user, perSecond: newValue) }
    }

    var userBurst: Int {
        get { user?.burst ?? 0 }
        set { Self.set(&user, burst: newValue) }
    }

    var addressPerSecond: Int {
        get { address?.perSecond ?? 0 }
        set { Self.set(&address, perSecond: newValue) }
    }

    var addressBurst: Int {
        get { address?.burst ?? 0 }
        set { Self.set(&address, burst: newValue) }
    }

    var containerPerSecond: Int {
        get { container?.perSecond ?? 0 }
        set { Self.set(&container, perSecond: newValue) }
    }

    var containerBurst: Int {
        get { container?.burst ?? 0 }
        set { Self.set(&container, burst: newValue) }
    }

    private static func set(_ rate: inout Rate?, perSecond: Int) {
        rate = perSecond == 0 ? nil : Rate(perSecond: perSecond, burst: rate?.burst ?? perSecond)
    }

    private static func set(_ rate: inout Rate?, burst: Int) {
        rate = burst == 0 ? nil : Rate(perSecond: rate?.perSecond ?? burst, burst: burst)
    }
}

extension ServeSettings {
    static let rates: [Setting] = [
        rate("userPerSecond", \.options.rates.userPerSecond), rate("userBurst", \.options.rates.userBurst),
        rate("addressPerSecond", \.options.rates.addressPerSecond),
        rate("addressBurst", \.options.rates.addressBurst),
        rate("containerPerSecond", \.options.rates.containerPerSecond),
        rate("containerBurst", \.options.rates.containerBurst),
    ]

    private static func rate(
        _ name: String, _ path: any WritableKeyPath<ServeSettings, Int> & Sendable
    ) -> Setting {
        Setting(name: "rates.\(name)", place: .number(path), range: 0...1_000_000)
    }
}
