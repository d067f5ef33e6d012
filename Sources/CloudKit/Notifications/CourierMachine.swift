internal import CloudWire
import Foundation
internal import System

/// An event of a device that listens.
package enum NotificationEvent: Sendable {
    /// From now on, changes of others are reported; earlier ones may be missing. With `wasForgotten`, the server had
    /// removed the device, and perhaps its subscriptions.
    case listening(wasForgotten: Bool)
    /// No changes are reported until the next `listening`.
    case interrupted(CKError)
    /// Another device changed something.
    case notification(CKNotification)
    /// The server ended a wait without a notification: there were none until then.
    case waitEnded
}

/// Decides the next request of a device that waits for notifications: it registers, then it sends a request that the
/// server holds open, and sends the next one after its response. Does no I/O.
///
/// The next wait acknowledges the last notification, so a notification that is lost in the network is sent again. After
/// a failure the machine pauses and registers again, because a successful registration proves that the server works.
struct CourierMachine: Sendable {
    enum Event: Sendable {
        case begin
        /// A response or an error has arrived, after this time since the request was sent.
        case answered(Result<WireResponse, CKError>, afterMilliseconds: Int64)
        case pauseIsOver
        /// The user has changed or signed out. No request is in flight.
        case userChanged
    }

    enum Action: Sendable {
        case send(WireRequest, timeoutSeconds: Double)
        /// Sends a GET request to a URL of a server other than the configured one.
        case ask(url: String, timeoutSeconds: Double)
        case pause(milliseconds: Int64)
        case tell(NotificationEvent)
    }

    /// Timeout of a wait. The server ends it after about 25 seconds.
    static let waitTimeoutSeconds = 60.0
    static let registrationTimeoutSeconds = 30.0
    /// A wait that ends sooner without a notification counts as a failure, so that a pause follows.
    static let waitMillisecondsMin: Int64 = 1000

    private enum Step {
        case idle
        case registering
        case waiting
        case pausing(thenRegisters: Bool)
    }

    /// The endpoint of the waits.
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
    /// True if the next notification stands for all pending ones. Used after a notification that can't be read and has
    /// no ID to acknowledge.
    private var takesAll = false
    private var wasForgotten = false
    private var isInterruptionTold = false
    /// Number of failures in a row, including waits that ended too soon.
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
        // Apple's waits use another server than the requests.
        case .apple: CloudConfiguration.isAddress(url) ? .apples(url) : nil
        }
    }

    /// The token belongs to the previous user.
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
            // For a client that can't acknowledge, the server removes all pending notifications with the newest.
            if takesAll { request.headers.removeAll { $0.name == WireHeader.client } }
            if let unacknowledgedID { request.query.append((WireHeader.afterItem, unacknowledgedID)) }
            return [.send(request, timeoutSeconds: Self.waitTimeoutSeconds)]
        }
    }

    private mutating func waited(_ reply: Result<WireResponse, CKError>, _ milliseconds: Int64) -> [Action] {
        do throws(CKError) {
            let response = try reply.get()
            guard (200..<300).contains(response.status) else { throw ResponseDecoder.refusal(response) }
            // The server has processed the acknowledgement of this wait.
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
        // The other notifications were removed, so the app must fetch.
        let fetchAll = takesAll ? [Action.tell(.listening(wasForgotten: false))] : []
        takesAll = false
        // A repeated notification was acknowledged too late, or the server doesn't support acknowledgements.
        if let id, id == lastToldID { return pauseBeforeWait() }
        lastToldID = id
        let news = CKNotification.of(payload).map { [Action.tell(.notification($0))] } ?? []
        return fetchAll + news + waitAgain()
    }

    /// Skips a notification that can't be read, damaged or of a later version, because it would be sent again forever.
    /// Its content is unknown, so the listeners must fetch.
    /// - Throws: `error` if even the notification's ID can't be read.
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

    /// Returns the ID of a notification that can't be read otherwise.
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
    /// True if the server has permanently rejected the token.
    fileprivate var isOfTheToken: Bool {
        [.unknownItem, .invalidArguments, .permissionFailure, .serverRejectedRequest].contains(code)
    }
}

extension WireRequest {
    /// The wait at the path and query of `courierURL`. The host is always the configured one, because the server may
    /// know itself under another name.
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
