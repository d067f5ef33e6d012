public import CloudService
public import HTTPServer
import System

/// How a server listens, what it keeps open, and what it does with its log.
public struct CloudServerOptions: Sendable {
    /// Address, port, TLS, and the limits on connections.
    public var http = HTTPServerOptions()
    /// What clients call the server, as `https://cloud.example.com`, when a proxy stands in front. Without it, it is
    /// what the request's `Host` says.
    public var publicURL: String?
    /// Take the client's address from the last entry of `X-Forwarded-For`: right only behind a proxy of your own.
    public var trustsForwardedFor = false

    /// Which accounts may use the environment `development`.
    public var development = DevelopmentAccess.auto

    /// Where the dashboard is served.
    public var dashboard = DashboardAccess.auto
    /// The version of the program, which the dashboard shows.
    public var version = ""

    /// A device that waits for a push gets an empty answer after this time, and asks again.
    public var courierHoldMilliseconds: Int64 = 25_000
    /// So many devices may wait for pushes at a time; the next is told to wait.
    public var courierPollsMax = 20_000
    /// So many environments of containers are open at a time, each with a file and its threads.
    public var environmentsOpenMax = 64
    /// So many sign-ins wait for their turn, since each takes the time of a password's hash.
    public var signInsWaitingMax = 32
    /// How many files are sent and fetched at a time.
    public var assets = AssetTransferOptions()
    /// What each service lets a request ask for.
    public var limits = ServiceLimits()
    /// How much waits in a service, and goes to the disk together.
    public var groupLimits = GroupLimits()
    /// What each service does where Apple's documents leave a choice.
    public var settings = ServiceSettings()
    /// How long requests in flight may take when the server stops.
    public var graceMilliseconds = 10_000

    /// Where the log goes, a line of JSON a request; nil for nowhere.
    public var log: (any LogSink)?
    /// So many lines wait for the log; more are dropped, and the log says how many.
    public var logLinesMax = 16_384
    /// What is kept of the requests that were answered.
    public var history = HistoryOptions()
    /// True to serve `GET /metrics` to any client.
    public var servesMetrics = false

    /// How many requests a second may come to an environment of a container.
    public var rates = ServiceRates()

    /// The time of day.
    public var clock: any TimeSource = SystemTimeSource()
    /// The clock that times what is held.
    public var monotonicClock: any MonotonicSource = SystemMonotonicSource()
    /// Where names and epochs of the stores come from.
    public var random: any RandomSource = SystemRandomSource()

    /// Loopback, any free port, no log.
    public init() {}
}

/// How many files are sent and fetched at a time.
public struct AssetTransferOptions: Sendable {
    /// So many files are being sent at a time, each with a piece of it in memory; the next is told to try again.
    public var uploadsMax = 256
    /// So many files are being fetched at a time.
    public var downloadsMax = 1_024
    /// A file must be here so long after its first byte.
    public var uploadMillisecondsMax: Int64 = 3_600_000
    /// A file must be there so long after it was asked for; what is missing can be asked for by itself.
    public var downloadMillisecondsMax: Int64 = 3_600_000

    /// What measured well.
    public init() {}
}
