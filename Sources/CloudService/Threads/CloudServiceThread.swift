import CloudWire

/// The shell around a service for callers that must not wait: a writer's thread, on which all writes that have
/// come in while it was busy share one write to the disk, and as many readers' threads as there are processors.
///
/// A reader's thread reads a request, asks who it is from, answers it from a snapshot of its own when it only
/// reads, and encodes every answer, so that the writer does nothing but write.
public final class CloudServiceThread: Sendable {
    let crew: ServiceCrew

    /// Starts the threads: one that writes, and `readerCount` that read (nil: one a processor).
    ///
    /// When the system has no threads left, each `send` tries again to start them, and until then is answered
    /// with TRY_AGAIN_LATER.
    public convenience init(_ service: CloudService, readerCount: Int? = nil) {
        self.init(service, readerCount: readerCount, startThread: DetachedThread.start)
    }

    init(
        _ service: CloudService, readerCount: Int?,
        startThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool
    ) {
        crew = ServiceCrew(
            service, readerCount: max(1, readerCount ?? DetachedThread.processorCount),
            startThread: startThread)
        _ = crew.start()
    }

    deinit { crew.askToEnd() }

    /// Hands a request in; costs the caller no more than that. `completion` is called once, on a reader's
    /// thread, when what was written is on disk.
    ///
    /// After `stop`, and while as many requests wait as may, the answer is TRY_AGAIN_LATER, and it comes on the
    /// calling thread.
    public func send(_ request: WireRequest, completion: @escaping @Sendable (WireResponse) -> Void) {
        let service = crew.service
        let isTaken = crew.take(
            ServiceJob(
                bytes: request.body.count, owner: service.owner(of: request),
                begin: { service.prepare(request) },
                finish: { completion(service.response(to: $0, answer: $1, groupRequests: $2)) }))
        guard !isTaken else { return }
        let refused = PreparedRequest(
            work: .answer(.error(ServiceCrew.refusal)), bytes: 0, wantsExtras: request.wantsExtras,
            requestID: request.requestID)
        completion(service.response(to: refused, answer: .error(ServiceCrew.refusal)))
    }

    /// Looks for a push that waits for a device, and deletes the one before that it has got; nil when none waits. As
    /// `CloudService.takePush`, but `completion` is called as that of `send`.
    ///
    /// - Parameter asker: the address of the client that asks, which is counted: to the device's user, or to the
    ///   address when there is no such device. Nil: nobody is.
    public func takePush(
        apnsToken: String, acknowledging notificationID: String? = nil, taking: PushTaking = .each,
        asker: String? = nil, completion: @escaping @Sendable (Result<CourierPush?, WireError>) -> Void
    ) {
        take(
            apnsToken: apnsToken, acknowledging: notificationID.map { .one($0) }, taking: taking,
            asker: asker, completion: completion)
    }

    /// Deletes what waited for a device when it got `push` as the newest. What is not deleted comes again.
    public func acknowledgePushes(apnsToken: String, through push: CourierPush) {
        take(apnsToken: apnsToken, acknowledging: .through(push.number), taking: .newest, asker: nil) { _ in }
    }

    private func take(
        apnsToken: String, acknowledging acknowledgement: CloudService.Acknowledgement?, taking: PushTaking,
        asker: String?, completion: @escaping @Sendable (Result<CourierPush?, WireError>) -> Void
    ) {
        let crew = crew
        let isTaken = crew.take(
            ServiceJob(
                bytes: 0, owner: crew.service.owner(ofDevice: apnsToken, asker: asker),
                begin: {
                    crew.service.prepareTake(
                        apnsToken: apnsToken, acknowledging: acknowledgement, taking: taking, asker: asker)
                },
                finish: { _, answer, _ in
                    completion(CloudService.push(from: answer))
                    crew.noticeUpkeep()
                }))
        if !isTaken { completion(.failure(ServiceCrew.refusal)) }
    }

    /// Answers what has come in, ends the threads, and returns when they have ended. Must not be called in a
    /// completion.
    public func stop() {
        crew.askToEnd()
        crew.waitForEnd()
    }
}
