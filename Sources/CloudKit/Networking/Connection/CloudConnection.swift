package import System

/// The thread that runs operations and calls their blocks.
package enum Execution: Sendable {
    /// Each operation has a serial queue of its own.
    case threads
    /// The thread that adds an operation runs it to its end, and calls its blocks: for tests and simulations with a
    /// reproducible order of events.
    case inline
}

/// A container's server and account, and state shared by its requests.
package struct CloudConnection: Sendable {
    /// Sends the requests.
    package var transport: any Transport
    /// The thread that runs operations.
    package var execution: Execution
    /// `development` or `production`.
    package var environment: String
    /// The source of the credential.
    package var account: any CloudAccount
    /// Timers for deadlines and for the pauses between attempts.
    package var timers: any TimerSource
    /// Randomness for the idempotency keys of writes, and for pauses.
    package var random: any RandomSource
    /// The kind of server.
    package var serverKind = ServerKind.yap
    /// The clock for the dates of signed requests.
    package var clock: any TimeSource = SystemTimeSource()
    /// The kinds of requests that the server has throttled. Nil if the timers stand still, so that a delay would never
    /// end.
    var throttled: ThrottledRequests?
    /// Orders requests with tokens that are valid for one request only.
    package var tokenGate = TokenGate()
    /// The cache of fetched files. With nil, assets are fetched without their files.
    package var assetCache: AssetCache?
    /// The store of long-lived operations. With nil, none is kept.
    package var operationStore: LongLivedOperationStore?

    /// Makes a connection over `transport`.
    /// - Parameter timers: nil takes the system's timers; for `inline`, timers that never fire.
    package init(
        transport: any Transport, execution: Execution, environment: String = "development",
        account: any CloudAccount, timers: (any TimerSource)? = nil,
        random: any RandomSource = SystemRandomSource()
    ) {
        self.transport = transport
        self.execution = execution
        self.environment = environment
        self.account = account
        switch execution {
        case .threads: self.timers = timers ?? DispatchTimerSource.shared
        case .inline: self.timers = timers ?? ManualTimerSource(clock: ManualTimeSource())
        }
        self.random = random
        if case .inline = execution, timers == nil {
            throttled = nil
        } else {
            throttled = ThrottledRequests()
        }
    }

    /// Makes a connection over `transport` for the user of `webAuthToken`.
    package init(
        transport: any Transport, execution: Execution, environment: String = "development",
        webAuthToken: String?, timers: (any TimerSource)? = nil
    ) {
        self.init(
            transport: transport, execution: execution, environment: environment,
            account: FixedAccount(CloudCredential(webAuthToken: webAuthToken)), timers: timers)
    }
}
