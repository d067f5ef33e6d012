public import CloudService
public import HTTPServer
import System

/// Options of a server: addresses, limits, logging and clocks.
public struct CloudServerOptions: Sendable {
    /// Address, port, TLS, and the limits on connections.
    public var http = HTTPServerOptions()
    /// The server's URL for clients, such as `https://cloud.example.com`, if it is behind a proxy. Nil uses
    /// the request's `Host`.
    public var publicURL: String?
    /// True to take the client's address from the last entry of `X-Forwarded-For`. Only safe behind your own proxy.
    public var trustsForwardedFor = false

    /// The accounts that may use the environment `development`.
    public var development = DevelopmentAccess.auto

    /// The addresses that serve the dashboard.
    public var dashboard = DashboardAccess.auto
    /// The version of the program, which the dashboard shows.
    public var version = ""

    /// Milliseconds after which a device's long poll gets an empty response.
    public var courierHoldMilliseconds: Int64 = 25_000
    /// Maximum long polls of devices at a time. Further ones are rejected with `THROTTLED`.
    public var courierPollsMax = 20_000
    /// Maximum open environments, each with a file and its threads.
    public var environmentsOpenMax = 64
    /// Maximum queued sign-ins. Each takes the time of a password hash.
    public var signInsWaitingMax = 32
    /// Limits of concurrent uploads and downloads.
    public var assets = AssetTransferOptions()
    /// Limits of each service's requests.
    public var limits = ServiceLimits()
    /// Limits of each service's pending requests and transactions.
    public var groupLimits = GroupLimits()
    /// Behaviour that Apple's documents leave open.
    public var settings = ServiceSettings()
    /// Maximum milliseconds for requests in progress when the server stops.
    public var graceMilliseconds = 10_000

    /// Receives the log, one line of JSON per request. Nil for no log.
    public var log: (any LogSink)?
    /// Maximum queued log lines. Further ones are dropped and counted in the log.
    public var logLinesMax = 16_384
    /// Options of the request history.
    public var history = HistoryOptions()
    /// True to serve `GET /metrics` to any client.
    public var servesMetrics = false

    /// Maximum rates of requests to an environment of a container.
    public var rates = ServiceRates()

    /// The time of day.
    public var clock: any TimeSource = SystemTimeSource()
    /// The clock for timeouts.
    public var monotonicClock: any MonotonicSource = SystemMonotonicSource()
    /// The source of names and epochs of the stores.
    public var random: any RandomSource = SystemRandomSource()

    /// The source of the server's threads.
    package var threads: ThreadSource = .system

    /// Makes options for loopback, any free port and no log.
    public init() {}
}

/// Limits of concurrent uploads and downloads.
public struct AssetTransferOptions: Sendable {
    /// Maximum concurrent uploads, each with a piece of the file in memory. Further ones are rejected with
    /// `TRY_AGAIN_LATER`.
    public var uploadsMax = 256
    /// Maximum concurrent downloads.
    public var downloadsMax = 1_024
    /// Maximum milliseconds of an upload, from its first byte.
    public var uploadMillisecondsMax: Int64 = 3_600_000
    /// Maximum milliseconds of a download. The client can request the missing range afterwards.
    public var downloadMillisecondsMax: Int64 = 3_600_000

    /// Makes the default limits.
    public init() {}
}
