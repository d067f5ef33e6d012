/// One thread with its epoll, listening socket and connections.
final class EventLoop: Sendable {
    func post(_ message: LoopMessage) {}
}
