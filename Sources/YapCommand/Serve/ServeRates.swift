import CloudServer
import CloudService

/// The rates as numbers in a settings file. 0 for no limit.
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
        rate(
            "userPerSecond", \.options.rates.userPerSecond,
            "requests of a user, each 16 KB of an answer as one; 0: as many as they like"),
        stroke("userBurst", \.options.rates.userBurst, "a user's requests at a stroke, after a pause"),
        rate(
            "addressPerSecond", \.options.rates.addressPerSecond,
            "requests from an address without a user; 0: as many as come"),
        stroke("addressBurst", \.options.rates.addressBurst, "those at a stroke"),
        rate(
            "containerPerSecond", \.options.rates.containerPerSecond,
            "requests to an environment of a container; 0: as many as come"),
        stroke("containerBurst", \.options.rates.containerBurst, "those at a stroke"),
    ]

    private static func rate(
        _ name: String, _ path: any WritableKeyPath<ServeSettings, Int> & Sendable, _ what: String
    ) -> Setting {
        Setting("rates.\(name)", .perSecond, .number(path), from: 0, what)
    }

    private static func stroke(
        _ name: String, _ path: any WritableKeyPath<ServeSettings, Int> & Sendable, _ what: String
    ) -> Setting {
        Setting("rates.\(name)", .count, .number(path), from: 0, what)
    }
}
