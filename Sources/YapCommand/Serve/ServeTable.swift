import CloudServer
import CloudService
import CloudStore
import HTTPServer

/// The table of settings, which `docs/OPERATING.md` shows.
extension ServeSettings {
    /// Every setting, in the order in which they are printed.
    static let all: [Setting] = server + history + rates + choices + limits + fileLimits + groups

    private static let history: [Setting] = [
        Setting(
            "history.requests", option: "history", .choice(\.options.history.requests),
            "whether requests are kept in a history, without the values of fields"),
        Setting(
            "history.bytesMax", .bytes, .longNumber(\.options.history.bytesMax), from: 1 << 20,
            "the file of the request history"),
        Setting(
            "history.daysMax", .count, .number(\.options.history.daysMax), to: 366,
            "days for which a request is kept"),
    ]

    private static let server: [Setting] = [
        Setting("host", option: "host", .text(\.options.http.host), "the address to listen on"),
        Setting(
            "port", option: "port", .none, .number(\.options.http.port), from: 0, to: 65_535,
            "the port to listen on; 0 takes any free one"),
        Setting(
            "publicURL", option: "public-url", .optionalText(\.options.publicURL),
            "the server's URL for clients, if it is behind a proxy"),
        Setting(
            "tlsCertificate", option: "tls-certificate", .optionalText(\.tlsCertificate),
            "the file of the certificate and its issuers (PEM)"),
        Setting("tlsKey", option: "tls-key", .optionalText(\.tlsKey), "the certificate's private key (PEM)"),
        Setting(
            "trustForwardedFor", option: "trust-forwarded-for", .flag(\.options.trustsForwardedFor),
            "take a client's address from X-Forwarded-For's last entry: only behind your own proxy"),
        Setting(
            "development", option: "development", .choice(\.options.development),
            "users of development; auto: everyone where the server listens on loopback without a proxy, "
                + "else developers"),
        Setting(
            "dashboard", option: "dashboard", .choice(\.options.dashboard),
            "where the dashboard is served; auto: where the server listens on loopback without a proxy, elsewhere once "
                + "an administrator has a password"),
        Setting(
            "witness", .optionalText(\.witness),
            "the file with the data folder's progress; null: DIR.witness beside it"),
        Setting("metrics", option: "metrics", .flag(\.options.servesMetrics), "serve GET /metrics"),
        Setting(
            "connectionsMax", .count, .number(\.options.http.connectionsMax), "connections at a time"),
        Setting(
            "connectionsOfAddressMax", .count, .number(\.options.http.connectionsOfAddressMax), from: 0,
            "connections from one address; 0: no limit. This machine's and a trusted proxy's don't count"
        ),
        Setting(
            "bodyBytesOfAllMax", .bytes, .number(\.options.http.bodyBytesOfAllMax),
            "bodies being received, together"),
        Setting(
            "outputBytesOfAllMax", .bytes, .number(\.options.http.outputBytesOfAllMax),
            "responses that clients haven't read yet, together"),
        Setting(
            "environmentsOpenMax", .count, .number(\.options.environmentsOpenMax), to: 10_000,
            "open environments"),
        Setting(
            "signInsWaitingMax", .count, .number(\.options.signInsWaitingMax), "queued sign-ins"),
        Setting(
            "signInMilliseconds", .milliseconds, .longNumber(\.signInLengths.longestMilliseconds),
            to: 3_650 * 86_400_000, "how long a device stays signed in"),
        Setting(
            "signInUnusedMilliseconds", .milliseconds, .longNumber(\.signInLengths.unusedMilliseconds),
            to: 3_650 * 86_400_000, "the same from its last use on"),
        Setting(
            "courierPollsMax", .count, .number(\.options.courierPollsMax), "long polls of devices"),
        Setting(
            "courierHoldMilliseconds", .milliseconds, .longNumber(\.options.courierHoldMilliseconds),
            to: 50_000, "how long a device's long poll is held"),
        Setting(
            "graceMilliseconds", .milliseconds, .number(\.options.graceMilliseconds), from: 0, to: 3_600_000,
            "how long requests in flight may take when the server stops"),
        Setting(
            "logLinesMax", .count, .number(\.options.logLinesMax), "queued log lines"),
        Setting("uploadsMax", .count, .number(\.options.assets.uploadsMax), "concurrent uploads"),
        Setting(
            "downloadsMax", .count, .number(\.options.assets.downloadsMax), "concurrent downloads"),
        Setting(
            "uploadMillisecondsMax", .milliseconds, .longNumber(\.options.assets.uploadMillisecondsMax),
            "maximum time of an upload, from its first byte"),
        Setting(
            "downloadMillisecondsMax", .milliseconds, .longNumber(\.options.assets.downloadMillisecondsMax),
            "maximum time of a download"),
    ]
}
