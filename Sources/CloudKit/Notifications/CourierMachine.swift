internal import CloudWire
import Foundation
internal import System

/// What a device that listens learns.
package enum NotificationEvent: Sendable {
    /// From now on what others change is told; what they changed before may not be. The server had forgotten the
    /// device, and perhaps its subscriptions, when `wasForgotten`.
    case listening(wasForgotten: Bool)
    /// Nothing is heard until the next `listening`.
    case interrupted(CKError)
    /// Another device changed something.
    case notification(CKNotification)
    /// The server ended a wait without a notification: nothing happened until then.
    case waitEnded
}

/// Decides what a device that waits for notifications asks next: it registers, then it waits in one request that the
/// server holds open, and begins the next when that is answered. Does no I/O.
///
/// The notification that it got last is acknowledged with the next wait, so that one which is lost on the way comes
/// again. After a failure it pauses and registers anew: the answer proves that the server is there again.
struct CourierMachine: Sendable {
    enum Event: Sendable {
        case begin
        /// The request was answered, so many milliseconds after it was sent.
        case answered(Result<WireResponse, CKError>, afterMilliseconds: Int64)
        case pauseIsOver
        /// Another user is signed in, or nobody any more; nothing is under way.
        case userChanged
    }

    enum Action: Sendable {
        case send(WireRequest, timeoutSeconds: Double)
        /// Ask at a whole address: a server's that isn't the one of the configuration.
        case ask(url: String, timeoutSeconds: Double)
        case pause(milliseconds: Int64)
        case tell(NotificationEvent)
    }

    /// The server answers a wait after 25 seconds or so, with nothing if nothing happened.
    static let waitTimeoutSeconds = 60.0
    static let registrationTimeoutSeconds = 30.0
    /// A wait that ends sooner than this without news is no wait: the next comes after a pause.
    static let waitMillisecondsMin: Int64 = 1000

    private enum Step {
        case idle
        case registering
        case waiting
        case pausing(thenRegisters: Bool)
    }

    /// Where a device waits.
    private enum Courier {
        case ours(WireRequest)
        case apples(String)
    }

    private let containerIdentifier: String
    private let environment: String
    private let clientID: String?
    private let serverKind: ServerKind
    private let random: any RandomSource
    private var step = Step.idle
    private var token: String?
    private var courier: Courier?
    /// The notification to acknowledge.
    private var unacknowledgedID: String?
    private var lastToldID: String?
    /// Whether what the next wait brings stands for all that waited: what can't be read and has no name that could be
    /// acknowledged goes with it.
    private var takesAll = false
    private var wasForgotten = false
    private var isInterruptionTold = false
    /// Failures, or waits that were none, in a row.
    private var failures = 0

    init(
        containerIdentifier: String, environment: String, clientID: String?, random: any RandomSource,
        serverKind: ServerKind = .yap
    ) {
        self.serverKind = serverKind
        self.containerIdentifier = containerIdentifier
        self.environment = environment
        self.clientID = clientID
        self.random = random
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch (event, step) {
        case (.begin, .idle), (.pauseIsOver, .pausing(thenRegisters: true)): register()
        case (.pauseIsOver, .pausing(thenRegisters: false)): wait()
        case (.userChanged, _): registerForAnotherUser()
        case (.answered(let reply, _), .registering): registered(reply)
        case (.answered(let reply, let milliseconds), .waiting): waited(reply, milliseconds)
        default: []
        }
    }

    // MARK: Registering

    private mutating func register() -> [Action] {
        let apns = PushEnvironment(rawValue: environment) ?? .development
        do {
            let (endpoint, body) =
                if let token {
                    (
                        "register",
                        try TokensRegisterRequest(apnsEnvironment: apns, apnsToken: token, clientID: clientID)
                            .json()
                    )
                } else {
                    (
                        "create", try TokensCreateRequest(apnsEnvironment: apns, clientID: clientID).json()
                    )
                }
            step = .registering
            let request = WireRequest(
                path: "/device/1/\(containerIdentifier)/\(environment)/tokens/\(endpoint)",
                headers: [("Content-Type", "application/json")]
                    + (serverKind == .yap ? [(WireHeader.client, "1")] : []), body: body)
            return [.send(request, timeoutSeconds: Self.registrationTimeoutSeconds)]
        } catch {
            return failed(CKError(.invalidArguments, "The request can't be written as JSON: \(error)"))
        }
    }

    private mutating func registered(_ reply: Result<WireResponse, CKError>) -> [Action] {
        do throws(CKError) {
            let response = try ResponseDecoder.decode(TokensResponse.self, from: reply)
            guard let courier = courier(response.webcourierURL) else {
                throw CKError.unreadable("the address to wait at: \(response.webcourierURL.prefix(200))")
            }
            self.courier = courier
            token = response.apnsToken
            isInterruptionTold = false
            defer { wasForgotten = false }
            return [.tell(.listening(wasForgotten: wasForgotten))] + wait()
        } catch let error where error.isOfTheToken && token != nil {
            forgetToken()
            return register()
        } catch {
            return failed(error)
        }
    }

    private func courier(_ url: String) -> Courier? {
        switch serverKind {
        case .yap: WireRequest(courierURL: url).map { .ours($0) }
        // Apple's waits are at another server than the requests.
        case .apple: CloudConfiguration.isAddress(url) ? .apples(url) : nil
        }
    }

    /// The token tells of the former user's changes.
    private mutating func registerForAnotherUser() -> [Action] {
        forgetToken()
        lastToldID = nil
        courier = nil
        return register()
    }

    private mutating func forgetToken() {
        token = nil
        unacknowledgedID = nil
        takesAll = false
        wasForgotten = true
    }

    // MARK: Waiting

    private mutating func wait() -> [Action] {
        switch courier {
        case nil: return register()
        case .apples(let url):
            step = .waiting
            return [.ask(url: url, timeoutSeconds: Self.waitTimeoutSeconds)]
        case .ours(var request):
            step = .waiting
            // From a client that can't acknowledge the server takes the newest as all that waited.
            if takesAll { request.headers.removeAll { $0.name == WireHeader.client } }
            if let unacknowledgedID { request.query.append((WireHeader.afterItem, unacknowledgedID)) }
            return [.send(request, timeoutSeconds: Self.waitTimeoutSeconds)]
        }
    }

    private mutating func waited(_ reply: Result<WireResponse, CKError>, _ milliseconds: Int64) -> [Action] {
        do throws(CKError) {
            let response = try reply.get()
            guard (200..<300).contains(response.status) else { throw ResponseDecoder.refusal(response) }
            // The server has seen what was acknowledged with this wait.
            unacknowledgedID = nil
            guard !response.body.isEmpty else {
                takesAll = false
                return [.tell(.waitEnded)]
                    + (milliseconds < Self.waitMillisecondsMin ? pauseBeforeWait() : waitAgain())
            }
            return try delivered(response.body)
        } catch {
            if error.isOfTheToken { forgetToken() }
            return failed(error)
        }
    }

    private mutating func delivered(_ body: [UInt8]) throws(CKError) -> [Action] {
        let payload: PushPayload
        do {
            payload = try PushPayload(json: body)
        } catch {
            return try passOver(body, .unreadable("\(error)"))
        }
        let id = payload.ck.notificationID
        unacknowledgedID = id
        // What else there was isn't told any more.
        let fetchAll = takesAll ? [Action.tell(.listening(wasForgotten: false))] : []
        takesAll = false
        // One that comes again was acknowledged too late, or the server doesn't understand acknowledging.
        if let id, id == lastToldID { return pauseBeforeWait() }
        lastToldID = id
        let news = CKNotification.of(payload).map { [Action.tell(.notification($0))] } ?? []
        return fetchAll + news + waitAgain()
    }

    /// Goes on behind a notification that can't be read, whether it is damaged or of a later kind: it would come again
    /// and again. Its content is unknown, so the listeners are told to fetch.
    /// - Throws: `error` when not even the notification's name can be read.
    private mutating func passOver(_ body: [UInt8], _ error: CKError) throws(CKError) -> [Action] {
        guard let id = Self.notificationID(in: body) else {
            takesAll = true
            throw error
        }
        takesAll = false
        unacknowledgedID = id
        if id == lastToldID { return pauseBeforeWait() }
        lastToldID = id
        return [.tell(.interrupted(error)), .tell(.listening(wasForgotten: false))] + waitAgain()
    }

    /// The name of a notification of which the rest can't be read.
    private static func notificationID(in body: [UInt8]) -> String? {
        guard case .object(let members)? = try? JSONValue(json: body),
            case .object(let part)? = members["ck"], case .string(let id)? = part["nid"], !id.isEmpty
        else { return nil }
        return id
    }

    private mutating func waitAgain() -> [Action] {
        failures = 0
        return wait()
    }

    // MARK: Pausing

    private mutating func pauseBeforeWait() -> [Action] {
        pause(thenRegisters: false, retryAfterSeconds: nil)
    }

    private mutating func failed(_ error: CKError) -> [Action] {
        let news = isInterruptionTold ? [] : [Action.tell(.interrupted(error))]
        isInterruptionTold = true
        return news + pause(thenRegisters: true, retryAfterSeconds: error.retryAfterSeconds)
    }

    private mutating func pause(thenRegisters: Bool, retryAfterSeconds: Double?) -> [Action] {
        failures += 1
        let own = RequestRules.pauseMilliseconds(
            afterAttempt: failures, unitInterval: random.nextUnitInterval())
        let asked = Int64(min(max(0, retryAfterSeconds ?? 0), 86_400) * 1000)
        step = .pausing(thenRegisters: thenRegisters)
        return [.pause(milliseconds: max(own, asked))]
    }
}

extension CKError {
    /// Whether the server refuses what it was shown, and not for a while only: it doesn't know the token.
    fileprivate var isOfTheToken: Bool {
        [.unknownItem, .invalidArguments, .permissionFailure, .serverRejectedRequest].contains(code)
    }
}

extension WireRequest {
    /// The wait at `courierURL`, of which path and query count: the server that is asked is always the one that the
    /// container's configuration names, and not the name by which it knows itself.
    fileprivate init?(courierURL: String) {
        guard let start = courierURL.range(of: "/device/1/") else { return nil }
        let target = courierURL[start.lowerBound...]
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = String(parts[0]).removingPercentEncoding else { return nil }
        var query: [(name: String, value: String)] = []
        for item in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = String(pair[0]).removingPercentEncoding,
                let value = pair.count > 1 ? String(pair[1]).removingPercentEncoding : ""
            else { return nil }
            query.append((name, value))
        }
        self.init(method: "GET", path: path, query: query, headers: [(WireHeader.client, "1")])
    }
}
