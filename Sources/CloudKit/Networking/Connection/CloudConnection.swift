package import System

/// Which thread runs operations and calls their blocks.
package enum Execution: Sendable {
    /// Each runs, and calls its blocks, on a serial queue of its own.
    case threads
    /// The thread that adds an operation runs it to its end, blocks included: for tests and simulations,
    /// where the order of events has to be the same in every run.
    case inline
}

/// Where a container's cloud is and as whom it is asked.
package struct CloudConnection: Sendable {
    /// What carries the requests.
    package var transport: any Transport
    /// Which thread runs operations.
    package var execution: Execution
    /// `development` or `production`.
    package var environment: String
    /// Who asks.
    package var account: any CloudAccount
    /// Deadlines, and the pauses before a request is sent again.
    package var timers: any TimerSource
    /// The names of writes, and how the pauses differ.
    package var random: any RandomSource
    /// Whose servers these are.
    package var serverKind = ServerKind.yap
    /// The dates of requests that are signed.
    package var clock: any TimeSource = SystemTimeSource()
    /// What the server asked to wait with; nil when the timers stand still, and no wait would ever be over.
    var throttled: ThrottledRequests?
    /// In whose order requests go whose token is good for one only.
    package var tokenGate = TokenGate()
    /// Where fetched files are; with nil an asset is fetched without its file.
    package var assetCache: AssetCache?
    /// Where operations are kept that outlive their process; with nil none is.
    package var operationStore: LongLivedOperationStore?

    /// Makes a connection over `transport`.
    /// - Parameter timers: nil takes the machine's, and for `inline` ones that never run out.
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
