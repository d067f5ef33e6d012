/// Which thread runs operations and calls their blocks.
package enum Execution: Sendable {
    /// An operation queue starts them, and each calls its blocks on a serial queue of its own.
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
    /// What proves who the user is; nil when nobody is signed in.
    package var webAuthToken: String?

    /// Makes a connection over `transport`.
    package init(
        transport: any Transport, execution: Execution, environment: String = "development",
        webAuthToken: String?
    ) {
        self.transport = transport
        self.execution = execution
        self.environment = environment
        self.webAuthToken = webAuthToken
    }
}
