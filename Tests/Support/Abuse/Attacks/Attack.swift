/// Something that one caller can do to a server.
package protocol Attack: Sendable {
    var name: String { get }
    /// Saves what it needs, before anything is measured.
    func prepare(_ abuser: Abuser) throws
    /// Begins, on the abuser's thread.
    func begin(_ abuser: Abuser) -> [Flood]
}

extension Attack {
    package func prepare(_ abuser: Abuser) throws {}
}

/// All of them.
package enum Attacks {
    package static let all: [any Attack] = [
        HugeAnswers(), KeptAnswers(), RowsWithoutFields(), ReaderHogs(), WriterHogs(), ParallelWrites(),
        UnknownKeys(), SignInFlood(), ManyConnections(), WrongSignatures(),
    ]
}

extension Flood {
    /// With connections of the abuser.
    convenience init(
        _ abuser: Abuser, connections: Int, pace: ClientConnection.Pace = .full,
        request: @escaping () -> [UInt8]
    ) {
        self.init(
            abuser.loop, port: abuser.server.port, connections: connections, pace: pace, request: request)
    }
}
