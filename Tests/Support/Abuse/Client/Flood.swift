/// Requests on many connections without a pause, until it is told to end.
package final class Flood {
    /// What came back, by status; 0: the connection ended.
    package private(set) var answers: [Int: Int] = [:]
    package private(set) var answerBytes = 0
    private let loop: ClientLoop
    private let port: Int
    private let pace: ClientConnection.Pace
    private let request: () -> [UInt8]
    private var connections: [ClientConnection?] = []
    private var isEnding = false

    /// Begins at once.
    ///
    /// - Parameter request: the next request.
    package init(
        _ loop: ClientLoop, port: Int, connections count: Int, pace: ClientConnection.Pace = .full,
        request: @escaping () -> [UInt8]
    ) {
        self.loop = loop
        self.port = port
        self.pace = pace
        self.request = request
        connections = Array(repeating: nil, count: count)
        for index in 0..<count { open(index) }
    }

    private func open(_ index: Int) {
        guard !isEnding else { return }
        connections[index] = try? ClientConnection(loop, port: port, pace: pace, keepsBody: false)
        next(index)
    }

    private func next(_ index: Int) {
        guard !isEnding else { return }
        guard let connection = connections[index], connection.isOpen else {
            // Not at once: who is refused each connection would do nothing else.
            return loop.after(milliseconds: 20) { [weak self] in self?.open(index) }
        }
        connection.send(request()) { [weak self] answer in
            guard let self else { return }
            answers[answer.status, default: 0] += 1
            answerBytes += answer.bodyBytes
            // A timer, so that answers which come at once don't pile up calls.
            if answer.status == 0 { return loop.after(milliseconds: 20) { [weak self] in self?.open(index) } }
            loop.after(milliseconds: 0) { [weak self] in self?.next(index) }
        }
    }

    /// Closes all connections.
    package func end() {
        isEnding = true
        for connection in connections { connection?.close() }
        connections = []
    }
}
