import CloudServer
import CloudService

/// Behaviour that Apple's documents leave open. `docs/PROTOCOL.md` explains the defaults.
extension ServeSettings {
    static let choices: [Setting] = [
        Setting(
            "protocol.atomicDefault", .choice(\.options.settings.atomicDefault),
            "which requests are all or nothing when they don't say"),
        Setting(
            "protocol.atomicFailureIsError", .flag(\.options.settings.atomicFailureIsError),
            "a failed request that is all or nothing is a 400 as a whole, for clients that are not ours"),
        Setting(
            "protocol.existingZone", .choice(\.options.settings.existingZone),
            "what a zone that is made again is answered with: the zone, or EXISTS"),
        Setting(
            "protocol.deletesNeedTag", .flag(\.options.settings.deletesNeedTag),
            "delete must name the record's change tag"),
        Setting(
            "protocol.databaseNumbers", .choice(\.options.settings.databaseNumbers),
            "how a push numbers the databases: 0, 2, 3, or 1, 2, 3"),
    ]
}
