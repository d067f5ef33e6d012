import CloudWire
import System

/// Runs a service on threads of its own, for callers that must not block: one writer thread, which commits all pending
/// writes in one transaction, and reader threads, two per processor and at least four.
///
/// A reader thread decodes and authenticates a request, answers it from its own snapshot if it only reads, and encodes
/// every response. The writer thread only writes.
public final class CloudServiceThread: Sendable {
    let threads: ServiceThreads

    /// Starts the threads: one writer and `readerCount` readers. Nil means two per processor, so that long
    /// queries leave some idle, and at least four.
    ///
    /// If the system can't create threads, each `send` tries again, and until then the response is
    /// TRY_AGAIN_LATER.
    public convenience init(_ service: CloudService, readerCount: Int? = nil) {
        self.init(service, readerCount: readerCount, source: .system)
    }

    init(_ service: CloudService, readerCount: Int?, source: ThreadSource) {
        threads = ServiceThreads(
            service, readerCount: max(1, readerCount ?? max(4, 2 * SystemThread.processorCount)),
            source: source)
        _ = threads.start()
    }

    deinit { threads.askToEnd() }

    /// Submits a request without blocking. `completion` is called once, on a reader's thread, after the
    /// writes are durable.
    ///
    /// After `stop`, or if the maximum of requests is pending, the response is TRY_AGAIN_LATER, on the
    /// calling thread.
    ///
    /// - Parameter cancellation: cancels the request while its work has not begun. `completion` is called in
    ///   any case.
    package func send(
        _ request: WireRequest, cancellation: ServiceCancellation = ServiceCancellation(),
        completion: @escaping @Sendable (WireResponse) -> Void
    ) {
        let service = threads.service
        send(
            bytes: RequestWeight.bytes(of: request.body), owner: service.rates.owner(of: request),
            wantsExtras: request.wantsExtras, requestID: request.requestID, cancellation,
            begin: { service.prepare(request) }, completion)
    }

    /// Submits the request that `begin` prepares, in the queue of `owner`.
    func send(
        bytes: Int, owner: String, wantsExtras: Bool, requestID: String?,
        _ cancellation: ServiceCancellation, begin: @escaping @Sendable () -> PreparedRequest,
        _ completion: @escaping @Sendable (WireResponse) -> Void
    ) {
        let service = threads.service
        threads.take(
            ServiceJob(
                bytes: bytes, owner: owner, cancellation: cancellation, begin: begin,
                finish: { completion(service.responses.response(to: $0, answer: $1, groupRequests: $2)) },
                refuse: {
                    let refused = PreparedRequest(
                        work: .answer(.error(ServiceThreads.refusal)), bytes: 0, wantsExtras: wantsExtras,
                        requestID: requestID)
                    completion(
                        service.responses.response(to: refused, answer: .error(ServiceThreads.refusal)))
                }))
    }

    /// Finds a pending push of a device, and deletes the previous one, which it has received. Nil if none is
    /// pending. As `CloudService.takePush`, but `completion` is called as that of `send`.
    ///
    /// - Parameter asker: the address of the client. The request is charged to the device's user, or to the
    ///   address if the device doesn't exist. Nil: it isn't charged.
    package func takePush(
        apnsToken: String, acknowledging notificationID: String? = nil, taking: PushTaking = .each,
        asker: String? = nil, completion: @escaping @Sendable (Result<CourierPush?, WireError>) -> Void
    ) {
        take(
            apnsToken: apnsToken, acknowledging: notificationID.map { .one($0) }, taking: taking,
            asker: asker, completion: completion)
    }

    /// Deletes the pending pushes of a device up to `push`. Pushes that aren't deleted are delivered again.
    public func acknowledgePushes(apnsToken: String, through push: CourierPush) {
        take(apnsToken: apnsToken, acknowledging: .through(push.number), taking: .newest, asker: nil) { _ in }
    }

    /// Deletes the tokens of a user's devices, or of the one with this name, with their pending pushes.
    /// `completion` is called with true on success, on the thread of `send`'s completion.
    public func forgetDevices(
        of user: String, named device: String?, completion: @escaping @Sendable (Bool) -> Void
    ) {
        let service = threads.service
        threads.take(
            ServiceJob(
                bytes: 0, owner: KnownCallers.owner(user),
                begin: { service.tokens.prepareForgetting(devicesOf: user, named: device) },
                finish: { _, answer, _ in
                    if case .error = answer { completion(false) } else { completion(true) }
                },
                refuse: { completion(false) }))
    }

    private func take(
        apnsToken: String, acknowledging acknowledgement: DevicePushes.Acknowledgement?, taking: PushTaking,
        asker: String?, completion: @escaping @Sendable (Result<CourierPush?, WireError>) -> Void
    ) {
        let threads = threads
        threads.take(
            ServiceJob(
                bytes: 0, owner: threads.service.rates.owner(ofDevice: apnsToken, asker: asker),
                begin: {
                    threads.service.devicePushes.prepareTake(
                        apnsToken: apnsToken, acknowledging: acknowledgement, taking: taking, asker: asker)
                },
                finish: { _, answer, _ in
                    completion(DevicePushes.push(from: answer))
                    threads.noticeUpkeep()
                },
                refuse: { completion(.failure(ServiceThreads.refusal)) }))
    }

    /// Completes the pending requests, ends the threads, and waits until they have ended. Must not be called
    /// in a completion.
    public func stop() {
        threads.askToEnd()
        threads.waitForEnd()
    }
}
